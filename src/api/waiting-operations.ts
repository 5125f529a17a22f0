import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import type { WaitForMessagesOptions } from '../delivery/watch.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { filter, id, ids, repliesTo } from './inputs.ts'
import { type Served, servedOperation } from './operation.ts'
import * as s from './schemas.ts'

/** A longer wait takes several requests: proxies cut connections that are silent for long. */
export const waitAtMostMs = 60_000
const wanted = { type: filter.type, from: filter.from, ...repliesTo }
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
    input: z.strictObject({ ...wanted, timeoutMs }),
    output: s.maybeMessage,
    run: async (on, input) => ({ message: (await waitFor(on, { ...input, count: 1 }))[0] ?? null }),
  }),
  waitForMessages: servedOperation({
    summary:
      'Wait for several messages, up to a minute; marks them as shown. `count` of them, or a reply to each message of a list in `replyTo`, or whatever is there. Returns what came when the time is up',
    holds: true,
    input: z.strictObject({
      ...wanted,
      count: z.exactOptional(z.int().check(z.minimum(1), z.maximum(1_000))),
      timeoutMs,
    }),
    output: s.messages,
    run: async (on, input) => ({ messages: await waitFor(on, input) }),
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
  waitUntilSettled: servedOperation({
    summary: 'Wait until nothing that messages asked for is open, up to a minute; says what became of it',
    holds: true,
    reads: true,
    input: z.strictObject({ ...ids, timeoutMs }),
    output: s.settled,
    run: ({ mailbox, signal }, { ids, ...options }) =>
      unlessAborted({ settled: false, matters: [] }, () =>
        mailbox.waitUntilSettled(ids, { timeoutMs: waitAtMostMs, ...options, signal }),
      ),
  }),
}

/** Waits for mail. What was taken for a client that has gone, or whose token has ended, is unread again. */
async function waitFor(
  { mailbox, signal, follow, isStillGood = () => true }: Served,
  options: WaitForMessagesOptions,
): Promise<InboxMessage[]> {
  const messages = await unlessAborted([], () =>
    mailbox.waitAlong({ timeoutMs: waitAtMostMs, ...options, signal }, follow),
  )
  if (signal.aborted || !isStillGood())
    for (const { id, claimNumber } of messages) await mailbox.release(id, given({ claimNumber }))
  return messages
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
