import { randomBytes } from 'node:crypto'

/** What tells our marks from any that a sender could write. */
export const newNonce = (): string => randomBytes(6).toString('hex')
