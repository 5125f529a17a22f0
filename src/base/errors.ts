/**
 * Every failure has a code to branch on, a message to read, and a hint for the next step. Each interface
 * translates the codes once: the command line to exit codes, the hub to HTTP status codes.
 */
export const errorCodes = {
  invalid: 'the input is malformed or over a structural limit',
  not_found: 'no such message, agent or space',
  unknown_recipient: 'the address matches nobody in the roster',
  not_permitted: 'the caller may not do this',
  conflict: 'someone else was first, or the current state does not allow it',
  timeout: 'the time limit was reached',
  over_limit: 'a limit of the space was reached',
  interrupted: 'the caller cancelled it',
  disk_full: 'the disk is full; nothing was written',
  sync_failed: 'the disk did not confirm the write; it may not survive a power loss',
  damaged: 'a file of the space is damaged',
  closed: 'the space is closed',
  unreachable: 'the hub does not answer',
  internal: 'a bug in agent-mailbox',
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
    const { code, message, hint } = this
    return { code, message, ...(hint === undefined ? {} : { hint }) }
  }
}

/** Wraps anything that was thrown, so that there is always a code and a message to show. */
export function asMailboxError(error: unknown): MailboxError {
  if (error instanceof MailboxError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new MailboxError('internal', message, { cause: error })
}
