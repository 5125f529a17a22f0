import type { Facts, Letter } from './facts.ts'

/**
 * How mail is handed out: one piece of work for a role at a time, to one who is not its sender, and not again while
 * somebody has it. Returns what is wrong with handing these letters to an agent in one go.
 */
export function findBadHanding(
  facts: Facts,
  letters: readonly Letter[],
  by: string,
  leaseMs: number,
): { letter: Letter; why: string }[] {
  const { team } = facts
  const isWork = ({ kind, role }: Letter) => role !== undefined && kind === 'task'
  const work = letters.filter(isWork)
  const inHand = [...facts.letters.values()].filter(isWork).filter((letter) => {
    const { holder, isSettled } = letter.copies.get(letter.role!)!
    return holder?.name === by && holder.isStarted && !isSettled
  })
  const reasons = (letter: Letter, at: number): string[] => {
    const copy = facts.copyOf(letter, by)
    if (copy === undefined) return []
    const { role, from, kind, requiresAck } = letter
    const { isSettled, isAcked, holder } = copy
    // What a killed process had read may be told to whoever comes after it.
    const crashedAt = team.of(by)?.crashedAt ?? 0
    const readers = copy.readers.filter((one) => one.by !== by || one.at > crashedAt)
    const asksNothing = kind === undefined && !requiresAck
    const isForgotten = asksNothing && readers.length === 0
    const isRoles = copy.owner === role
    const hasOthers = () => team.holdersOf(role!).some(({ name }) => name !== by && team.isPresent(name))
    const run = team.of(by)?.run ?? 0
    const isRead = readers.some((one) => one.by === by && one.run === run)
    return [
      ...(work.indexOf(letter) > 0 ? ['several pieces of work at once'] : []),
      ...(work[0] === letter && inHand.length > 0 && !inHand.includes(letter)
        ? ['work while one piece is in hand']
        : []),
      ...(isRoles && from === by && hasOthers() ? ['given to its own sender'] : []),
      ...(letters.indexOf(letter) < at ? ['twice in one go'] : []),
      ...(isSettled && !isForgotten
        ? [asksNothing && isRoles ? 'text handed out again' : 'settled, and shown as new']
        : isRoles && facts.isInHand(copy, leaseMs)
          ? [holder!.name === by ? 'shown again to whoever has it' : 'taken from whoever has it']
          : !isRoles && isRead && (isAcked || !requiresAck)
            ? ['shown twice']
            : []),
    ]
  }
  return letters.flatMap((letter, at) => reasons(letter, at).map((why) => ({ letter, why })))
}
