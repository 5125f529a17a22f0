import * as z from 'zod/mini'
import { messageLimits } from '../model/message.ts'
import { inputShape, sessionSchema } from '../model/schemas.ts'
import * as s from './schemas.ts'

/** Parts that the inputs of several operations share. */
export const word = z.string().check(z.minLength(1), z.maxLength(messageLimits.wordLength))
export const words = z.array(word)
export const id = { id: z.string().check(z.minLength(1)) }
export const ids = { ids: z.array(z.string()).check(z.maxLength(1_000)) }
export const claimNumber = { claimNumber: z.exactOptional(z.int().check(z.minimum(0))) }
export const note = { note: z.exactOptional(z.string()) }

/** What goes beside the addresses of a message. */
export const { replyTo, ...content } = inputShape(z.unknown())

export const page = { limit: z.exactOptional(z.int()), after: z.exactOptional(z.string()) }
export const repliesTo = { replyTo: z.exactOptional(z.union([z.string(), ids.ids])) }
export const filter = {
  type: z.exactOptional(z.union([word, words])),
  from: z.exactOptional(z.union([word, words])),
  minPriority: z.exactOptional(s.priorityInput),
}
export const inboxFilter = {
  ...filter,
  tag: z.exactOptional(word),
  thread: z.exactOptional(word),
  ...repliesTo,
}

export const joinFields = {
  roles: z.exactOptional(words),
  tags: z.exactOptional(words),
  ...note,
  session: z.exactOptional(z.omit(sessionSchema, { generation: true, startedAt: true })),
}
