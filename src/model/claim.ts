import type * as z from 'zod/mini'
import type { claimSchema } from './schemas.ts'

/** How long a claim lasts unless renewed. */
export const claimTtlMs = 15 * 60_000

/** An exclusive, expiring right to handle a message. */
export type Claim = z.infer<typeof claimSchema>
