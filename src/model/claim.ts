import * as z from 'zod/mini'

/** How long a claim lasts unless it is renewed, and how often a message may be taken up. */
export const claimTtlMs = 15 * 60_000
export const maxAttempts = 5

/** An exclusive, expiring right to handle a message, as it is handed out. */
export const claimSchema = z.strictObject({
  messageId: z.string(),
  agent: z.string(),
  until: z.string(),
  attempt: z.int(),
})
export type Claim = z.infer<typeof claimSchema>
