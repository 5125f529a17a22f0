import { helpRequest } from '../conversation/help.ts'
import { toPrintableLine } from '../model/text.ts'
import type { Owed } from '../query/owed.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

export interface WaitingReport {
  /** What this report covers; the next one need not repeat it. */
  ids: string[]
  /** Lines for the person watching, when somebody is stuck. Empty when nobody is. */
  notice: string
}

/**
 * Called when an agent, or a subagent of it, has stopped. Tells the lead once about each of its unanswered
 * questions, unless the lead was the one asked. The notice is for the person watching: it names who is stuck, the
 * agent itself or those who asked it for help.
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
    subject: `${mailbox.name} is waiting for an answer: ${subject}`.slice(0, 500),
    body: `${mailbox.name} has stopped while its question to ${by} is unanswered. See it: mailbox show ${id}`,
    payload: { about: id },
    key: `waits-for-${id}`,
  })
}

/** Somebody is blocked and said so. */
const isUrgent = ({ type, priority }: { type: string; priority: string }): boolean =>
  priority === 'urgent' || (type === helpRequest && priority === 'high')

const stuckLine = (agent: string, { id, by }: Owed): string =>
  `${agent} is stuck waiting for ${by === 'user' ? 'you' : by}. See it: mailbox show ${id}. Answer: mailbox reply ${id} --body "..."`
