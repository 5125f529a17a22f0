import { MailboxError } from '../../base/errors.ts'
import { inSpan } from '../../base/trace.ts'
import { checkSend } from '../../command/check-send.ts'
import { decideResend } from '../../command/resend.ts'
import { decideSend, looksAtMessages, type Sent } from '../../command/send.ts'
import { decideWithdraw } from '../../command/withdraw.ts'
import { checkPayload } from '../../conversation/payload.ts'
import { systemAgent } from '../../model/agent.ts'
import type { SendInput } from '../../model/fields.ts'
import { checkId } from '../../model/id.ts'
import type { StoredMessage } from '../../query/message.ts'
import type { Decided, SpaceCore } from '../core.ts'
import { runDue } from '../due.ts'
import type { ReplyInput, SentMessage } from './api.ts'
import { type Holder, messageOf } from './looking.ts'
import { traceOf } from './trace.ts'

export async function send({ core, name }: Holder, input: SendInput): Promise<SentMessage> {
  checkSend(input, core.settings['limits.messageBytes'])
  checkPayload(input.type, input.payload, input.replyTo !== undefined)
  const to = typeof input.to === 'string' ? input.to : input.to.join(', ')
  const span = { name: `send ${to}`, kind: 'producer', attributes: traceOf('send', name, to) } as const
  return inSpan(span, async (traceparent) => {
    const stamped = traceparent === undefined ? input : { traceparent, ...input }
    try {
      return await sendOnce(core, name, stamped)
    } catch (error) {
      // A box may be full of mail that has expired. Do what is due before refusing.
      const isFull = error instanceof MailboxError && error.code === 'over_limit'
      if (!isFull || (await runDue(core)) === 0) throw error
      return sendOnce(core, name, stamped)
    }
  })
}

async function sendOnce(core: SpaceCore, from: string, input: SendInput): Promise<SentMessage> {
  const parent = input.replyTo === undefined ? undefined : await messageOf(core, input.replyTo)
  const on = looksAtMessages(input) ? 'index' : 'directory'
  return toSent(await core.decide(on, (view, context) => decideSend(view, { from, input, parent }, context)))
}

function toSent({ result: { message, warnings }, placed }: Decided<Sent>): SentMessage {
  const seq = placed[0]?.entry.seq ?? message.seq
  if (seq === undefined) throw new MailboxError('internal', 'nothing was sent')
  return { seq, ...message, warnings } as SentMessage
}

export async function reply(holder: Holder, id: string, input: ReplyInput): Promise<SentMessage> {
  const original = await messageOf(holder.core, id)
  if (original.from === systemAgent && input.to === undefined) {
    throw new MailboxError('not_permitted', 'the system does not read mail', {
      hint: 'name a recipient: --to',
    })
  }
  const subject = /^re:/i.test(original.subject) ? original.subject : `Re: ${original.subject}`
  const defaults = {
    to: original.from === holder.name ? original.to : original.from,
    subject: subject.slice(0, 500),
    type: 'response',
    priority: original.priority,
  }
  return send(holder, { ...defaults, ...input, replyTo: original.id })
}

export async function withdraw({ core, name }: Holder, id: string): Promise<StoredMessage> {
  checkId(id)
  await core.record('index', (view) => decideWithdraw(view, name, id))
  return messageOf(core, id)
}

export async function resend(holder: Holder, id: string, to: SendInput['to']): Promise<SentMessage> {
  checkId(id)
  const { core, name: agent } = holder
  // Expired mail is listed as dead before anybody has recorded it.
  await runDue(core)
  return toSent(await core.decide('index', (view, context) => decideResend(view, { agent, id, to }, context)))
}
