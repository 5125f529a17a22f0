import { MailboxError } from '../base/errors.ts'
import { reportOf } from '../conversation/matter.ts'
import type { ScheduledHere, View } from '../conversation/view.ts'
import { systemAgent } from '../model/agent.ts'
import type { Draft, MessageDraft, ScheduledDraft } from '../model/entry.ts'
import { fields } from '../model/fields.ts'
import { isoTime, maxLifeMs, readFuture } from '../model/time.ts'
import { invalid } from './check-send.ts'
import type { Context } from './context.ts'
import { isTalk } from './conversation-check.ts'
import { followUp } from './follow-up.ts'
import { notice } from './notice.ts'

/** The time of a message that is to be sent later, in ms. */
export function timeOf(at: string, now: number): number {
  const time = readFuture(at, now)
  if (time === undefined || time <= now || time - now > maxLifeMs)
    invalid(`at must be in the future, at most 10 years from now, not ${at}`, fields.at.hint)
  return time
}

/** A message that waits for its time: it is as it will be sent, and nobody has it yet. */
export const scheduled = ({
  kind: _,
  scheduledAt: __,
  signer: ___,
  ...draft
}: MessageDraft): ScheduledDraft => ({
  kind: 'scheduled',
  ...draft,
})

/** How much is sent at once. What is left is still due. */
const atOnce = 500

/**
 * Sends what was scheduled until now. What answers something settles it as it is then, so it is decided on alone: what
 * the next one meets is not known before.
 */
export function sendScheduled(view: View, context: Context): Draft[] {
  const due = view.scheduledUntil(context.endsBy ?? context.now, atOnce)
  const [first] = due
  if (first === undefined) return []
  const plain = due.filter(({ entry: { message } }) => !isTalk(message) && reportOf(message) === undefined)
  return plain.length > 0
    ? plain.flatMap((one) => sendNow(view, one, context))
    : sendNow(view, first, context)
}

function sendNow(view: View, { entry, isStale }: ScheduledHere, context: Context): Draft[] {
  const { seq: _, at, kind: __, originalAt, message, ...rest } = entry
  const origin = originalAt === undefined ? {} : { originalAt: isoTime(context.now) }
  const draft: MessageDraft = { kind: 'message', ...origin, scheduledAt: at, message, ...rest }
  try {
    if (isStale)
      throw new MailboxError('not_permitted', `the key of ${message.from} has changed since it was written`)
    return [draft, ...followUp(view, message, context).drafts]
  } catch (error) {
    if (!(error instanceof MailboxError)) throw error
    return [unscheduled(message.id, systemAgent, error.message), notSent(entry, error, context)]
  }
}

const unscheduled = (id: string, by: string, note?: string): Draft => ({
  kind: 'unscheduled',
  ...{ id, by },
  ...(note === undefined ? {} : { note }),
})

/** Without a word of its sender: whoever reads it takes it for ours. */
const notSent = (
  { message }: ScheduledHere['entry'],
  { message: reason }: MailboxError,
  context: Context,
): Draft =>
  notice(context, {
    ...{ to: [message.from], type: 'error' },
    subject: `Not sent: your message to ${message.to.join(', ')}`,
    body: `Message ${message.id} was scheduled for ${message.createdAt} and could not be sent: ${reason}.`,
    payload: { scheduled: message.id, reason },
  })

/** It is not sent. Only whoever wrote it can say so. */
export function decideUnschedule({ entry: { message } }: ScheduledHere, sender: string): Draft[] {
  if (message.from === sender) return [unscheduled(message.id, sender)]
  throw new MailboxError('not_permitted', `message ${message.id} was not sent by ${sender}`, {
    hint: `it was sent by ${message.from}`,
  })
}
