import * as z from 'zod/mini'
import { content, id, replyTo } from './inputs.ts'
import { operation } from './operation.ts'
import * as s from './schemas.ts'

export const sendingOperations = {
  send: operation({
    summary: 'Send a message',
    input: z.strictObject({ to: z.exactOptional(s.addresses), replyTo, ...content }),
    output: s.sentMessage,
    run: (mailbox, input) => mailbox.send(input),
  }),
  reply: operation({
    summary: 'Reply to a message: to its sender, in its thread',
    input: z.strictObject({ ...id, to: z.exactOptional(s.addresses), ...content }),
    output: s.sentMessage,
    run: (mailbox, { id, ...input }) => mailbox.reply(id, input),
  }),
  broadcast: operation({
    summary: 'Send to everyone, or to everyone in a swarm',
    input: z.strictObject({ replyTo, ...content }),
    output: s.sentMessage,
    run: (mailbox, input) => mailbox.broadcast(input),
  }),
  withdraw: operation({
    summary: 'Withdraw a message that nobody has read yet',
    input: z.strictObject(id),
    output: s.storedMessage,
    run: (mailbox, { id }) => mailbox.withdraw(id),
  }),
  resend: operation({
    summary: 'Send a dead letter to another address',
    input: z.strictObject({ ...id, to: s.addresses }),
    output: s.sentMessage,
    run: (mailbox, { id, to }) => mailbox.resend(id, to),
  }),
}
