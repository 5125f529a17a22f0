import * as z from 'zod/mini'
import { messageLimits } from '../model/message.ts'
import * as s from './schemas.ts'

/** Parts that the inputs of several operations share. */
export const word = z.string().check(z.minLength(1), z.maxLength(messageLimits.wordLength))
export const words = z.array(word)
export const id = { id: z.string().check(z.minLength(1)) }
export const ids = { ids: z.array(z.string()).check(z.maxLength(1_000)) }
export const note = { note: z.exactOptional(z.string()) }
export const durationMs = z.number().check(z.positive())

/** What goes beside the addresses of a message. */
export const content = {
  subject: z.exactOptional(z.string().check(z.maxLength(messageLimits.subjectLength))),
  body: z.exactOptional(z.string()),
  type: z.exactOptional(word),
  priority: z.exactOptional(s.priority),
  payload: z.exactOptional(z.unknown()),
  context: z.exactOptional(z.record(z.string(), z.unknown())),
  threadId: z.exactOptional(word),
  ttlMs: z.exactOptional(z.nullable(durationMs)),
  requiresAck: z.exactOptional(z.boolean()),
  awaitingResponse: z.exactOptional(z.boolean()),
  attachments: z.exactOptional(z.array(z.string())),
  tags: z.exactOptional(words),
  swarm: z.exactOptional(word),
  key: z.exactOptional(word),
  traceparent: z.exactOptional(word),
  exclude: z.exactOptional(words),
  hold: z.exactOptional(z.boolean()),
  generation: z.exactOptional(z.int()),
  supersede: z.exactOptional(z.union([z.boolean(), word])),
}
export const replyTo = { replyTo: z.exactOptional(word) }

export const page = { limit: z.exactOptional(z.int()), after: z.exactOptional(z.string()) }
export const filter = {
  type: z.exactOptional(z.union([word, words])),
  from: z.exactOptional(word),
  minPriority: z.exactOptional(s.priority),
}
export const inboxFilter = {
  ...filter,
  tag: z.exactOptional(word),
  thread: z.exactOptional(word),
  ...replyTo,
}

const session = z.strictObject({
  pid: z.optional(z.int()),
  pidStart: z.optional(word),
  host: z.optional(word),
  client: z.optional(word),
  id: z.optional(word),
})
export const joinFields = {
  roles: z.exactOptional(words),
  tags: z.exactOptional(words),
  ...note,
  session: z.exactOptional(session),
}
