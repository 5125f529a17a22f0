import { MailboxError } from '../base/errors.ts'
import { quote } from '../base/json.ts'

export interface Page<T> {
  messages: T[]
  /** Pass it as `after` for the next page; null at the end. */
  next: string | null
}

export interface ListOptions {
  /** 1 to 1,000. @default 50 */
  limit?: number
  /** Where the previous page ended (`next`). */
  after?: string
}

/** How many to list. */
export function limitOf(limit: number | undefined): number {
  if (limit === undefined) return 50
  if (Number.isSafeInteger(limit) && limit >= 1) return Math.min(limit, 1_000)
  throw new MailboxError('invalid', `limit cannot be ${quote(limit)}`, {
    hint: 'pass a whole number from 1 to 1000',
  })
}

export function badCursor(after: unknown): MailboxError {
  return new MailboxError('invalid', `${quote(after)} is not a cursor`, {
    hint: 'pass `next` of the previous page',
  })
}

/** A cursor of a list that runs from the newest back. */
export function readBefore(after: string | undefined): number {
  if (after === undefined) return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw badCursor(after)
}
