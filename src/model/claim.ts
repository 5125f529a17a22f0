import type * as z from 'zod/mini'
import type { claimSchema } from './schemas.ts'

/** How long a claim lasts unless renewed. */
export const claimTtlMs = 15 * 60_000

/** An exclusive, expiring right to handle a message. */
export type Claim = z.infer<typeof claimSchema>

/**
 * A claim that was made on one address's copy of a message. Its number is the seq of the entry that made it,
 * so a later claim always has a higher one, on whichever machine and under whatever name it was made. An imported
 * claim keeps its number. If that is higher than the seq of the next claim, the next one's number is one more.
 */
export interface ClaimMade {
  owner: string
  number: number
  agent: string
}
