import { helpRequest } from '../conversation/help.ts'
import { toPrintableLine } from '../model/text.ts'
import type { Owed } from '../query/owed.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

export interface WaitingReport {
  /** What this report is about; the next one need not repeat it. */
  ids: string[]
  /** Lines for whoever looks on, where somebody is stuck. Empty when nobody is. */
  notice: string
}

/**
 * An agent, or one that works for it, has stopped. Whoever leads is told of each question of it that nobody has
 * answered, once, unless the lead is who was asked: it knows. And whoever looks on is told of those who are
 * stuck: the agent itself, and those who have asked it for help.
 */
export async function reportWaiting(mailbox: Mailbox, reported: readonly string[]): Promise<WaitingReport> {
  const open = await mailbox.awaited({ kind: 'question' })
  const asked = open.filter(({ id }) => !reported.includes(id))
  const { messages } = await mailbox.inbox({ unread: true, type: helpRequest })
  const wanted = messages.filter(({ id }) => !reported.includes(id))
  for (const question of asked) await tellLead(mailbox, question)
  const lines = [
    ...asked.filter(isUrgent).map((question) => stuckLine(mailbox.name, question)),
    ...wanted
      .filter(isUrgent)
      .map(({ id, from }) => `${from} asks ${mailbox.name} for help. See it: mailbox show ${id}`),
  ]
  return { ids: [...asked, ...wanted].map(({ id }) => id), notice: lines.map(toPrintableLine).join('\n') }
}

async function tellLead(mailbox: Mailbox, question: Owed): Promise<void> {
  const { id, to, by, subject } = question
  const lead = await mailbox.lead()
  if (lead === to || lead === by) return
  await mailbox.send({
    to: lead,
    type: 'notification',
    priority: isUrgent(question) ? 'urgent' : 'normal',
    subject: `${mailbox.name} waits for an answer: ${subject}`.slice(0, 500),
    body: `${mailbox.name} has stopped with a question to ${by} open. See it with: mailbox show ${id}`,
    payload: { about: id },
    key: `waits-for-${id}`,
  })
}

/** Somebody is blocked and says so. */
const isUrgent = ({ type, priority }: { type: string; priority: string }): boolean =>
  priority === 'urgent' || (type === helpRequest && priority === 'high')

const stuckLine = (agent: string, { id, by }: Owed): string =>
  `${agent} is stuck and waits for ${by === 'user' ? 'you' : by}. See it: mailbox show ${id}. Answer: mailbox reply ${id} --body "..."`
