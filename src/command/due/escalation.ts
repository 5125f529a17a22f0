import type { NoticeKind } from '../../conversation/notice.ts'
import type { Letter } from '../../conversation/view.ts'
import { isAway, person, presentSince } from '../../model/agent.ts'
import type { Directory } from '../../model/directory.ts'
import { priorityRank } from '../../model/message.ts'
import { escalation, type ReceiptChange } from '../../model/receipt.ts'
import { isLead } from '../../model/rules.ts'
import { atOnce, keepTimes, type LetterChanges } from './letter-changes.ts'

/** Urgent mail that nobody reads: the lead is told, then the person. Other mail is only marked as stale. */
export function escalateUnread(letters: LetterChanges): void {
  const { view, context } = letters
  const { now, policy } = context
  const urgent = priorityRank('urgent')
  const away = awayBoxes(view.directory)
  if (policy.urgentAfterMs > 0) {
    for (const level of [escalation.none, escalation.lead]) {
      const patience = policy.urgentAfterMs * (level + 1)
      for (const letter of view.unreadSince(now - patience, urgent, level, away, atOnce)) {
        if (letters.isBeingRead(letter)) continue
        if (now - countedSince(view.directory, letter.owner, letter.since) < patience) continue
        const next = nextToTell(letters, letter)
        escalate(
          letters,
          letter,
          next,
          'unread',
          { ...keepTimes(letter), level: next.level },
          'urgent and unread',
        )
      }
    }
  }
  if (policy.staleAfterMs === 0) return
  for (const letter of view.unreadSince(now - policy.staleAfterMs, 0, escalation.none, away, atOnce)) {
    if (letter.rank < urgent || policy.urgentAfterMs === 0)
      letters.change(letter, 'stale', letter.state, 'unread for a long time', {
        ...keepTimes(letter),
        level: escalation.muted,
      })
  }
}

/** The boxes of agents that are not here: nobody is told that their mail is unread. */
const awayBoxes = ({ frozen, dead }: Directory): string[] => [...frozen.keys(), ...dead.keys()]

/**
 * From when on waiting for a recipient counts: only while it is here. A role is here with the first of its holders;
 * with none, somebody has to know, so that time counts.
 */
export function countedSince(directory: Directory, owner: string, since: number): number {
  const names = owner.startsWith('role:') ? directory.holdersHere(owner.slice('role:'.length)) : [owner]
  const present = names.flatMap((name) => {
    const agent = directory.agents.get(name)
    return agent === undefined || name === person ? [] : presentSince(agent)
  })
  return present.length === 0 ? since : Math.max(since, Math.min(...present))
}

/** Whether an address is that of an agent that is away. */
export function isAwayBox(directory: Directory, owner: string): boolean {
  const agent = directory.agents.get(owner)
  return agent !== undefined && (isAway(agent) || agent.state === 'dead')
}

/** The next one to be told about a letter. */
export interface NextToTell {
  /** Undefined when nobody is left to tell. */
  to: string | undefined
  level: number
}

/**
 * Agent, lead, person: the next in the chain. A lead that is not here is skipped. Nobody is told of mail that they
 * sent or that is their own. After the person there is nobody.
 */
export function nextToTell({ view, context }: LetterChanges, letter: Letter): NextToTell {
  const { directory } = view
  const { leads } = context.policy
  const sender = view.text(letter.seq).from
  const nobody = { to: undefined, level: escalation.person }
  if (letter.owner === person) return nobody
  const recipient = directory.agents.get(letter.owner)
  const isLeads =
    recipient !== undefined ? isLead(recipient, leads) : leads.some((role) => letter.owner === `role:${role}`)
  const isOther = (name: string) => name !== sender && name !== letter.box
  const lead = leads.find((role) => directory.holdersHere(role).some(isOther))
  const isFirst = letter.level === escalation.none || letter.level === escalation.muted
  if (isFirst && lead !== undefined && !isLeads) return { to: `role:${lead}`, level: escalation.lead }
  return sender === person ? nobody : { to: person, level: escalation.person }
}

/**
 * Records that a letter was escalated, and tells the next in the chain, unless it was told of the message before.
 * Outside of its hours the person is told of nothing but urgent mail; the rest waits until they begin.
 */
export function escalate(
  letters: LetterChanges,
  letter: Letter,
  { to }: NextToTell,
  kind: NoticeKind,
  change: Partial<ReceiptChange>,
  reason: string,
): boolean {
  if (!letters.mayTell(to, kind, letter)) return false
  const note = `${reason}: ${to === undefined ? 'nobody is left to tell' : `${to} was told`}`
  if (!letters.change(letter, 'escalated', letter.state, note, change)) return false
  if (to !== undefined) tellOnce(letters, to, kind, letter, reason)
  return true
}

/** Tells somebody of a letter, unless it knows already: nobody is told of one message twice. */
export function tellOnce(
  letters: LetterChanges,
  to: string,
  kind: NoticeKind,
  letter: Letter,
  reason: string,
): void {
  const known = letters.view.noticesAbout(letter.id)
  if (!known.some((one) => one.to === to && one.state !== 'withdrawn')) letters.tell(to, kind, letter, reason)
}
