import type { Letter, View } from '../../conversation/view.ts'
import { isGroupBox } from '../../model/address.ts'
import { type Agent, isAway } from '../../model/agent.ts'
import { isOutdated } from '../../model/reach.ts'
import { classOf, isDeadLetter, type Receipt } from '../../model/receipt.ts'
import { isWaitedFor, type LetterChanges } from './letter-changes.ts'

/** Mail for an earlier run must not reach a successor. What that run has read is over with it. */
export function expireForRun(letters: LetterChanges, letter: Letter): void {
  const { view } = letters
  const agent = view.directory.agents.get(letter.owner)
  const message = view.message(letter.id)
  if (agent === undefined || message === undefined || !isOutdated(agent, message)) return
  const reason = `it was for generation ${message.generation} of ${agent.name}, which is now generation ${agent.session.generation}`
  if (classOf(letter.state) === 'unread') letters.undeliverable(letter, 'dead', reason)
  else if (letters.change(letter, 'archived', 'archived', reason) && isWaitedFor(view, letter))
    letters.tell(letters.senderOf(letter), 'ended', letter, `that run of ${agent.name} has ended`)
}

/** Boxes of agents that are expected back, also of those just found dead: their mail does not expire meanwhile. */
export const waitingBoxes = (view: View, dead: Iterable<Agent>): string[] => [
  ...view.directory.frozen.keys(),
  ...[...view.directory.dead.values(), ...dead].filter(isAway).map(({ name }) => name),
]

/** Group mail that somebody has read has arrived, and what it asked is owed by its readers; of other mail the sender is told. */
export function expire(letters: LetterChanges, letter: Letter): void {
  const read = isGroupBox(letter.owner) && letters.view.receipts(letter.seq).some(wasRead)
  if (read) letters.change(letter, 'expired', 'expired', 'it expired')
  else letters.undeliverable(letter, 'expired', 'it expired before anybody read it')
}

const wasRead = ({ owner, state }: Receipt): boolean =>
  !isGroupBox(owner) && classOf(state) !== 'unread' && !isDeadLetter(state)
