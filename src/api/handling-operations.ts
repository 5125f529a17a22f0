import * as z from 'zod/mini'
import type { Handled } from '../space/mailbox/api.ts'
import { claimNumber, id, ids, note, word, words } from './inputs.ts'
import { operation } from './operation.ts'
import * as s from './schemas.ts'

const done = s.object('Done', { result: z.null() })
const ttlMs = z.exactOptional(z.number().check(z.positive()))

/** A step on a message that takes nothing but its id, and the claim it is taken with. */
const step = (summary: string, method: 'start' | 'release' | 'retry' | 'archive') =>
  operation({
    summary,
    input: z.strictObject({ ...id, ...claimNumber }),
    output: s.handled,
    run: (mailbox, { id, ...options }): Promise<Handled> => mailbox[method](id, options),
  })

/** What became of mail, and of the agent itself. */
export const handlingOperations = {
  notified: operation({
    summary: 'Record that the agent was notified of mail without being shown it',
    input: z.strictObject(ids),
    output: done,
    run: (mailbox, { ids }) => mailbox.notified(ids).then(() => ({ result: null })),
  }),
  ack: operation({
    summary: 'Acknowledge a message',
    input: z.strictObject({ ...id, ...note, ...claimNumber }),
    output: s.handled,
    run: (mailbox, { id, ...options }) => mailbox.ack(id, options),
  }),
  claim: operation({
    summary: 'Claim mail to a role, so that nobody else takes it',
    input: z.strictObject({ ...id, ttlMs, ...claimNumber }),
    output: s.claimed,
    run: (mailbox, { id, ...options }) => mailbox.claim(id, options),
  }),
  claimNext: operation({
    summary: 'Claim the next mail of a role: the oldest of the most urgent',
    input: z.strictObject({ role: word, ttlMs }),
    output: s.object('MaybeClaimed', { result: z.nullable(s.claimed) }),
    run: async (mailbox, { role, ...options }) => ({ result: await mailbox.claimNext(role, options) }),
  }),
  start: step('Mark a message as in progress', 'start'),
  done: operation({
    summary: 'Mark a message as done; archives it unless `archive` is false',
    input: z.strictObject({ ...id, ...note, ...claimNumber, archive: z.exactOptional(z.boolean()) }),
    output: s.handled,
    run: (mailbox, { id, ...options }) => mailbox.done(id, options),
  }),
  fail: operation({
    summary: 'Mark a message as failed, with the reason',
    input: z.strictObject({ ...id, ...claimNumber, reason: z.string().check(z.minLength(1)) }),
    output: s.handled,
    run: (mailbox, { id, ...options }) => mailbox.fail(id, options),
  }),
  release: step('Give a message back unread', 'release'),
  retry: step('Mark a failed message as unread again', 'retry'),
  archive: step('Archive a message', 'archive'),
  comeIn: operation({
    summary: 'Record that the agent is active, and run what is due',
    input: z.strictObject({}),
    output: done,
    run: (mailbox) => mailbox.touch().then(() => ({ result: null })),
  }),
  update: operation({
    summary: "Change the agent's roles, tags, state or note",
    input: z.strictObject({
      ...{ addRoles: z.exactOptional(words), removeRoles: z.exactOptional(words) },
      ...{ addTags: z.exactOptional(words), removeTags: z.exactOptional(words) },
      state: z.exactOptional(z.enum(['alive', 'idle', 'waiting'])),
      ...note,
    }),
    output: s.agent,
    run: (mailbox, input) => mailbox.update(input),
  }),
  heartbeat: operation({
    summary: 'Record that the agent is still running',
    input: z.strictObject({}),
    output: s.agent,
    run: (mailbox) => mailbox.heartbeat(),
  }),
  leave: operation({
    summary: 'Leave the roster, for good or frozen',
    input: z.strictObject({ frozen: z.exactOptional(z.boolean()) }),
    output: s.agent,
    run: (mailbox, options) => mailbox.leave(options),
  }),
}
