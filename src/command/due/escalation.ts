import { escalationType } from '../../conversation/escalation.ts'
import type { Letter } from '../../conversation/view.ts'
import { person } from '../../model/agent.ts'
import { priorityRank } from '../../model/message.ts'
import { escalation, type ReceiptChange } from '../../model/receipt.ts'
import { isLead } from '../../model/rules.ts'
import { notice } from '../notice.ts'
import { atOnce, keepTimes, type LetterChanges } from './letter-changes.ts'

/** Urgent mail that nobody reads: the lead is told, then the person. Other mail is only marked as stale. */
export function escalateUnread(letters: LetterChanges): void {
  const { view, context } = letters
  const { now, policy } = context
  const urgent = priorityRank('urgent')
  if (policy.urgentAfterMs > 0) {
    for (const level of [escalation.none, escalation.lead]) {
      const since = now - policy.urgentAfterMs * (level + 1)
      for (const letter of view.unreadSince(since, urgent, level, atOnce)) {
        const next = nextToTell(letters, letter)
        const change = { ...keepTimes(letter), level: next.level }
        escalate(letters, letter, next, change, 'urgent and unread')
      }
    }
  }
  if (policy.staleAfterMs === 0) return
  for (const letter of view.unreadSince(now - policy.staleAfterMs, 0, escalation.none, atOnce)) {
    if (letter.rank < urgent || policy.urgentAfterMs === 0)
      letters.change(letter, 'stale', letter.state, 'unread for a long time', {
        ...keepTimes(letter),
        level: escalation.muted,
      })
  }
}

/** The next one to be told about a letter. */
export interface NextToTell {
  /** Undefined when nobody is left to tell. */
  to: string | undefined
  level: number
}

/** Agent, lead, person: the next in the chain. After the person there is nobody. */
export function nextToTell({ view, context }: LetterChanges, letter: Letter): NextToTell {
  const { directory } = view
  const { leads } = context.policy
  if (letter.owner === person) return { to: undefined, level: escalation.person }
  const recipient = directory.agents.get(letter.owner)
  const isLeads =
    recipient !== undefined ? isLead(recipient, leads) : leads.some((role) => letter.owner === `role:${role}`)
  const lead = leads.find((role) => directory.isHeld(role))
  const isFirst = letter.level === escalation.none || letter.level === escalation.muted
  const to = isFirst && lead !== undefined && !isLeads ? `role:${lead}` : person
  return { to, level: to === person ? escalation.person : escalation.lead }
}

/** Records that a letter was escalated, and tells the next in the chain. */
export function escalate(
  letters: LetterChanges,
  letter: Letter,
  next: NextToTell,
  change: Partial<ReceiptChange>,
  reason: string,
): void {
  const note = `${reason}: ${next.to === undefined ? 'the person has it' : `${next.to} was told`}`
  if (letters.change(letter, 'escalated', letter.state, note, change)) notify(letters, letter, next, reason)
}

/** Tells somebody about a letter of another. */
export function notify(
  letters: LetterChanges,
  letter: Letter,
  { to, level }: NextToTell,
  reason: string,
): void {
  if (to === undefined) return
  const { view, context } = letters
  const about = view.text(letter.seq)
  const minutes = Math.max(1, Math.round((context.now - Date.parse(about.createdAt)) / 60_000))
  letters.notify(
    notice(context, {
      to: [to],
      type: escalationType,
      priority: 'urgent',
      subject: `${letter.owner}, ${reason}: ${about.subject || '(no subject)'}`,
      body: `Message ${about.id} from ${about.from} to ${letter.owner} was sent ${minutes} min ago and is ${letter.state}.\n\nSee it: mailbox show ${about.id}`,
      about,
      payload: { id: about.id, recipient: letter.owner, level, reason },
    }),
  )
}
