import type { Mailbox } from '../mailbox.ts'
import type { Owed } from '../query/owed.ts'

/**
 * An agent has stopped, and somebody has not answered it. Tells whoever leads of each such question, once,
 * unless the lead is who was asked: it knows. Returns what was not reported before, the most urgent first.
 */
export async function reportWaiting(mailbox: Mailbox, reported: readonly string[]): Promise<Owed[]> {
  const open = await mailbox.awaited({ kind: 'question' })
  const fresh = open.filter(({ id }) => !reported.includes(id))
  if (fresh.length === 0) return []
  const lead = await mailbox.lead()
  for (const { id, to, by, subject, type, priority } of fresh) {
    if ([to, by].includes(lead) || lead === `role:${to}`) continue
    await mailbox.send({
      to: lead,
      type: 'notification',
      priority: isUrgent({ type, priority }) ? 'urgent' : 'normal',
      subject: `${mailbox.name} waits for an answer: ${subject}`.slice(0, 500),
      body: `${mailbox.name} has stopped with a question to ${by} open. See it with: mailbox show ${id}`,
      payload: { about: id },
      key: `waits-for-${id}`,
    })
  }
  return fresh.sort((a, b) => Number(isUrgent(b)) - Number(isUrgent(a)))
}

/** Somebody is blocked and says so. */
export const isUrgent = ({ type, priority }: Pick<Owed, 'type' | 'priority'>): boolean =>
  priority === 'urgent' || (type === 'help_request' && priority === 'high')

/** A line for the person who looks on. */
export const waitingNotice = (agent: string, { id, by, type }: Owed): string =>
  `${agent} is stuck and waits for ${by === 'user' ? 'you' : by} (${type}). See it: mailbox show ${id}. Answer: mailbox reply ${id} --body "..."`
