import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { filter, id, replyTo } from './inputs.ts'
import { servedOperation } from './operation.ts'
import * as s from './schemas.ts'

/** A longer wait takes several requests: proxies cut connections that are silent for long. */
export const waitAtMostMs = 60_000
const timeoutMs = z.exactOptional(z.number().check(z.minimum(0), z.maximum(waitAtMostMs)))

/** Waiting, and the steps that a remote client takes when it waits by itself. */
export const waitingOperations = {
  peek: servedOperation({
    summary: 'Get the message with a sequence number if it is unread for the agent',
    reads: true,
    input: z.strictObject({ seq: s.count }),
    output: s.maybeMessage,
    run: async ({ mailbox }, { seq }) => ({ message: await mailbox.peek(seq) }),
  }),
  take: servedOperation({
    summary: 'Take an unread message as `wait` does; marks it as shown',
    input: z.strictObject(id),
    output: s.maybeMessage,
    run: async ({ mailbox }, { id }) => ({ message: await mailbox.take(id) }),
  }),
  wait: servedOperation({
    summary: 'Wait for a message, up to a minute; marks it as shown. Null when the time is up',
    holds: true,
    input: z.strictObject({ type: filter.type, from: filter.from, replyTo, timeoutMs }),
    output: s.maybeMessage,
    async run({ mailbox, signal, follow }, input) {
      const message = await unlessAborted(null, () =>
        mailbox.waitAlong({ timeoutMs: waitAtMostMs, ...input, signal }, follow),
      )
      // It was taken for a client that has gone: the next one gets it.
      if (message !== null && signal.aborted) {
        const { id, claimNumber } = message
        await mailbox.release(id, given({ claimNumber }))
      }
      return { message }
    },
  }),
  waitForAck: servedOperation({
    summary: 'Wait until a recipient has acknowledged a message, up to a minute',
    holds: true,
    reads: true,
    input: z.strictObject({ ...id, timeoutMs }),
    output: s.object('Acked', { result: z.boolean() }),
    run: async ({ mailbox, signal }, { id, ...options }) => ({
      result: await unlessAborted(false, () =>
        mailbox.waitForAck(id, { timeoutMs: waitAtMostMs, ...options, signal }),
      ),
    }),
  }),
}

/** An interrupted wait has found nothing; a client that is still there asks again. */
async function unlessAborted<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'interrupted') return nothing
    throw error
  }
}
