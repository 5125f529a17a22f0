import type { Matter } from '../../conversation/matter.ts'
import { person, systemAgent } from '../../model/agent.ts'
import type { Draft } from '../../model/entry.ts'
import { notice } from '../notice.ts'
import { nextToTell, notify } from './escalation.ts'
import { atOnce, keepTimes, type LetterChanges } from './letter-changes.ts'

/** Somebody waits for an answer: the lead is told, then the person; of a missed deadline also whoever set it. */
export function escalateOverdue(letters: LetterChanges): void {
  const { view, context } = letters
  const { now, policy } = context
  const patience = policy.answerAfterMs
  for (const matter of view.overdue(now, patience > 0 ? now - patience : 0, atOnce)) {
    const missed = matter.until !== null && matter.until <= now && matter.level === 0
    if (!missed && (patience === 0 || matter.since > now - patience * (matter.level + 1))) continue
    const receipt = view.receipts(matter.seq).find(({ owner }) => owner === matter.owner)
    if (receipt === undefined) continue
    const reason = missed ? `the ${matter.kind} was not settled in time` : `no answer to a ${matter.kind}`
    const letter = { ...receipt, id: matter.id }
    if (!letters.change(letter, 'overdue', receipt.state, reason, keepTimes(letter))) continue
    if (missed) letters.notify(missedDeadline(letters, matter))
    else {
      const asked = { ...letter, level: matter.level }
      notify(letters, asked, nextToTell(letters, asked), reason)
    }
  }
}

function missedDeadline({ view, context }: LetterChanges, { seq, owner, kind, asker }: Matter): Draft {
  const about = view.text(seq)
  const next =
    kind === 'shutdown'
      ? 'Its deadline has passed: end its process if it must stop now.'
      : 'Ask again, or ask somebody else.'
  return notice(context, {
    to: [asker === systemAgent ? person : asker],
    type: 'notification',
    priority: 'high',
    subject: `${owner} has not settled the ${kind} in time: ${about.subject || '(no subject)'}`,
    body: `${next}\n\nSee it: mailbox show ${about.id}`,
    about,
    payload: { id: about.id, recipient: owner, kind, reason: 'deadline' },
  })
}
