import type { Owed } from '../../src/mod.ts'
import type { Copy, Facts, Letter, Matter } from './facts.ts'
import { isGroup } from './facts.ts'
import type { Notice } from './notice.ts'
import type { Member } from './presence.ts'

/** Something that somebody waited for, or should have seen, and will never get. */
export interface Loss {
  what: string
  letter: Letter
  why: string
}

export interface End {
  facts: Facts
  now: number
  notices: readonly Notice[]
  /** What the space says is open. */
  owed: readonly Owed[]
  /** How far a recipient is with a message, as its sender sees it. */
  stateOf(letter: Letter, recipient: string): string | undefined
}

/**
 * After the week everybody has come back and has read all there was. Whoever waited for something has been told of
 * its outcome, or finds it in the list of what is owed.
 */
export function findLosses(end: End): Loss[] {
  const losses: Loss[] = []
  for (const letter of end.facts.letters.values()) {
    if (letter.isWithdrawn) continue
    if (letter.matter !== undefined) losses.push(...lostMatter(end, letter, letter.matter))
    if (letter.requiresAck) losses.push(...lostAcks(end, letter))
    losses.push(...lostMail(end, letter))
  }
  for (const notice of end.notices) {
    if (notice.isDead !== true || notice.readAt !== undefined) continue
    const letter = end.facts.letters.get(notice.about[0]?.id ?? '')
    const what = notice.claim === 'bounce' ? 'bounce' : 'notice'
    if (letter !== undefined)
      losses.push({ what, letter, why: `${notice.label} to ${notice.to} expired unread` })
  }
  return losses
}

const outcomeNames: Readonly<Record<string, string>> = {
  answered: 'answer',
  approved: 'verdict',
  rejected: 'verdict',
  accepted: 'answer to a shutdown',
  done: 'work done',
  failed: 'failure',
  closed: 'end of a request',
}

function lostMatter({ facts, owed, notices }: End, letter: Letter, matter: Matter): Loss[] {
  const { state, asker, via, by, settledAt = 0, told, hasNote = false } = matter
  const bounced = letter.noticed.some(
    (one) => one.by === asker && ['bounce', 'failed', 'ended'].includes(one.claim),
  )
  if (state === 'void') return []
  if (state === 'open' || state === 'deferred') {
    const isListed = owed.some(({ id, kind }) => id === letter.id && kind !== 'ack')
    if (isListed || bounced) return []
    const what = `${matter.kind}${addresseeOf(letter)}`
    return [{ what, letter, why: `it is ${state}, is owed by nobody, and ${asker} was not told` }]
  }
  // It settled its own request, or was told by whoever did: by the message itself or one about it.
  // What is done without a word need not be told to one who had a reply before.
  const isWordless = ['done', 'closed'].includes(state) && !hasNote
  const tells = ({ id, from, at }: Matter['told'][number]) =>
    id === via || (from === by && (isWordless || at >= settledAt))
  if (by === asker || told.some(tells)) return []
  // "Not delivered" is word of a failure, and of nothing else.
  if (bounced && state === 'failed') return []
  // A verdict for a run that has ended reaches nobody; then whoever gave it must know.
  const verdict = via === undefined ? undefined : facts.letters.get(via)
  const hasNewRun = verdict?.run !== undefined && (facts.team.of(asker)?.run ?? verdict.run) > verdict.run
  const isKnown = notices.some(
    ({ about, to }) => to === by && about.some(({ id, claim }) => claim === 'bounce' && id === via),
  )
  if (hasNewRun && isKnown) return []
  return [
    { what: outcomeNames[state] ?? state, letter, why: `${state} by ${by}, and ${asker} was never told` },
  ]
}

const addresseeOf = ({ message: { to } }: Letter): string =>
  to.includes('user') ? ' to the person' : to.some(isGroup) ? ' to a group' : ''

const isAckedState = (state: string | undefined): boolean =>
  state !== undefined && ['acked', 'processing', 'completed', 'failed', 'archived'].includes(state)

/** An ack that was given is seen; one that was not is owed, by each member of a group. */
function lostAcks({ facts, owed, stateOf }: End, letter: Letter): Loss[] {
  const listed = owed.filter(({ id, kind }) => id === letter.id && kind === 'ack')
  const bounced = letter.noticed.some(({ by, claim }) => by === letter.from && claim === 'bounce')
  return [...letter.copies.values()].flatMap((copy): Loss[] => {
    const isNamed = listed.some(({ to, by }) => to === copy.owner || by === copy.owner)
    const isListed = isNamed || (letter.members.length > 0 && listed.length > 0)
    const state = stateOf(letter, copy.owner)
    if (facts.team.of(copy.owner)?.state === 'left') return []
    // Work that went back to its role is to be acked by whoever takes it next.
    if (letter.role !== undefined && letter.matter?.state === 'open') return []
    if (copy.isAcked && isNamed)
      return [{ what: 'ack', letter, why: `${copy.owner} acked; it is still owed` }]
    if (copy.isAcked && !isAckedState(state))
      return [{ what: 'ack', letter, why: `${copy.owner} acked; its state is ${state}` }]
    if (!copy.isAcked && !isListed && !bounced)
      return [{ what: 'ack', letter, why: `${copy.owner} has not acked, and owes nothing` }]
    return []
  })
}

const hasWork = ({ letters }: Facts, name: string): boolean =>
  [...letters.values()].some(({ copies, role, kind }) => {
    const copy = copies.get(role ?? '')
    return kind === 'task' && copy?.holder?.name === name && !copy.isSettled
  })

/** Mail that never came before the eyes of one whom it was for. */
function lostMail(end: End, letter: Letter): Loss[] {
  const { now } = end
  const { team } = end.facts
  const { copies, members, from, noticed, message } = letter
  const bounced = noticed.some(({ by, claim }) => by === from && claim === 'bounce')
  const { expiresAt, createdAt } = message
  const lifeMs =
    expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.parse(createdAt)
  const unread = (copy: Copy) => copy.readers.length === 0 && !copy.isSettled
  return [...copies.values()].filter(unread).flatMap((copy): Loss[] => {
    const why = `${copy.owner} never saw it`
    if (copy.owner === 'user') return [{ what: 'mail to the person', letter, why }]
    if (members.includes(copy.owner)) {
      // Its life counts while its reader is there: one who was there for so long did not want to read it.
      const isOver = team.presentMs(copy.owner, letter.at, now) >= lifeMs
      return isOver ? [] : [{ what: 'mail to a group', letter, why }]
    }
    // Work waits in its queue while everybody has some in hand.
    const isFree = ({ name }: Member) => name !== from && team.isPresent(name) && !hasWork(end.facts, name)
    if (copy.owner === letter.role && letter.kind === 'task' && !team.holdersOf(copy.owner).some(isFree))
      return []
    const isOver = letter.run !== undefined && (team.of(copy.owner)?.run ?? 0) > letter.run
    return bounced || isOver ? [] : [{ what: 'mail', letter, why }]
  })
}
