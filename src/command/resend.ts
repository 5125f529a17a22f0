import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import type { View } from '../conversation/view.ts'
import { clockOf, person } from '../model/agent.ts'
import { receiptDrafts } from '../model/entry.ts'
import { inputFields, type SendInput } from '../model/fields.ts'
import type { Message } from '../model/message.ts'
import { isDeadLetter, type Receipt, stateNow } from '../model/receipt.ts'
import { unreadableHint } from '../model/unreadable.ts'
import type { Context, Decision } from './context.ts'
import { requireMessage } from './handle.ts'
import { withdrawFor } from './moot.ts'
import { decideSend, type Sent } from './send.ts'

export interface ResendCommand {
  agent: string
  id: string
  to: NonNullable<SendInput['to']>
}

/** Sends a dead letter to another address as a new message with the same content, and archives the old one. */
export function decideResend(view: View, { agent, id, to }: ResendCommand, context: Context): Decision<Sent> {
  const { seq, sender } = requireMessage(view, id)
  if (sender !== agent && agent !== person) {
    throw new MailboxError('not_permitted', `message ${id} was not sent by ${agent}`, {
      hint: `only ${sender} or the person can resend it`,
    })
  }
  // What expired outside of the person's hours is recorded when they begin.
  const nowOf = (receipt: Receipt) =>
    stateNow(receipt, clockOf(view.directory.agents.get(receipt.owner), context.now))
  const dead = view.receipts(seq).filter((receipt) => isDeadLetter(nowOf(receipt)))
  if (dead.length === 0) {
    throw new MailboxError('conflict', `message ${id} is not a dead letter`, { hint: `mailbox show ${id}` })
  }
  const message = view.text(seq)
  if (message.unreadable !== undefined) {
    throw new MailboxError('damaged', `message ${id} could not be read, so it cannot be sent again`, {
      hint: unreadableHint,
    })
  }
  if (message.locked)
    throw new MailboxError('not_permitted', `message ${id} is encrypted, and there is no key for it here`, {
      hint: `only its sender or one of its recipients can send it again`,
    })
  const input = contentOf(message, to)
  if (message.encrypted === 'recipients') input.encrypt = true
  const command = { from: agent, input, parent: undefined, asAddressed: true }
  const decision = decideSend(view, command, context)
  const changes = dead.map(({ rank, owner, box, state }) => ({
    ...{ id: message.id, seq, rank, owner, box, was: state },
    state: 'archived' as const,
  }))
  const archived = receiptDrafts('archived', agent, changes, `resent as ${decision.result.message.id}`)
  const told = withdrawFor(view, message.id, ({ kind }) => kind === 'undelivered')
  return { ...decision, drafts: [...decision.drafts, ...archived, ...told] }
}

const resentFields = inputFields.filter(({ stored, once }) => stored !== undefined && !once)

/** What was said, without what belonged to that one sending. */
function contentOf(message: Message, to: NonNullable<SendInput['to']>): SendInput {
  const kept = resentFields.map(({ name }) => [name, message[name as keyof Message]])
  return { to, ...given(Object.fromEntries(kept)) }
}
