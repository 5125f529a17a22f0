import { asMailboxError, type ErrorCode, MailboxError } from '../base/errors.ts'

const statusOfCode: Record<ErrorCode, number> = {
  invalid: 400,
  not_found: 404,
  unknown_recipient: 404,
  not_permitted: 403,
  conflict: 409,
  timeout: 408,
  over_limit: 429,
  interrupted: 499,
  disk_full: 507,
  sync_failed: 500,
  damaged: 500,
  closed: 503,
  unreachable: 502,
  internal: 500,
}

/** A refusal by the hub itself, with a status that its code does not say. */
export class HttpRefusal extends MailboxError {
  readonly status: number
  /** What the log calls it. */
  readonly reason: string

  constructor(status: number, reason: string, error: MailboxError) {
    super(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint })
    this.status = status
    this.reason = reason
  }
}

function statusOf(error: MailboxError): number {
  if (error instanceof HttpRefusal) return error.status
  // Only the size of a message is a limit that waiting does not lift.
  if (error.code === 'over_limit' && error.message.includes('limits.messageBytes')) return 413
  return statusOfCode[error.code]
}

/** What went wrong, for the other side. A defect of ours says no more than that. */
export function toAnswer(thrown: unknown): { status: number; body: { error: object }; error: MailboxError } {
  const error = asMailboxError(thrown)
  const isOurs = error.code === 'internal'
  const shown = isOurs
    ? { code: error.code, message: 'something went wrong in the hub', hint: 'see the log of `mailbox serve`' }
    : error.toJSON()
  return { status: statusOf(error), body: { error: shown }, error }
}
