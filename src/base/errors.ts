/**
 * Every failure a caller can meet carries a code to branch on, a sentence to read, and a hint for the
 * next step. Rims translate them once: the command line to exit codes, the hub to HTTP status.
 */
export const errorCodes = {
  invalid: 'the input is malformed or over a structural limit',
  not_found: 'no such message, agent or space',
  unknown_recipient: 'the address names nobody in the roster',
  not_permitted: 'the caller may not do this',
  conflict: 'somebody else was first, or the state does not allow it',
  timeout: 'the time was up',
  over_limit: 'a limit of the space is reached',
  interrupted: 'the caller cancelled',
  disk_full: 'the disk has no room; nothing was written',
  sync_failed: 'the disk refused to confirm the write; it is not known whether it survives a power loss',
  damaged: 'a file of the space is damaged',
  closed: 'the space is closed',
  unreachable: 'the hub does not answer',
  internal: 'a defect of ours',
} as const

export type ErrorCode = keyof typeof errorCodes

/** Which limit an `over_limit` is about, where that makes a difference: waiting does not help with the size. */
export type Limit = 'size'

export interface MailboxErrorOptions {
  hint?: string
  limit?: Limit
  cause?: unknown
}

export class MailboxError extends Error {
  override readonly name = 'MailboxError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly limit: Limit | undefined

  constructor(code: ErrorCode, message: string, options: MailboxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.limit = options.limit
  }

  toJSON(): { code: ErrorCode; message: string; hint?: string } {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
    }
  }
}

/** Wraps whatever was thrown, so that a rim always has a code and a sentence to show. */
export function asMailboxError(error: unknown): MailboxError {
  if (error instanceof MailboxError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new MailboxError('internal', message, { cause: error })
}
