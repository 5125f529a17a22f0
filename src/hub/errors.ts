import { asMailboxError, type ErrorCode, MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { securityHeaders } from './console.ts'

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

/** The codes of the statuses that the hub refuses with by itself. */
const codeOfStatus: Record<number, ErrorCode> = {
  ...{ 400: 'invalid', 401: 'not_permitted', 403: 'not_permitted', 413: 'over_limit', 414: 'over_limit' },
  ...{ 415: 'invalid', 429: 'over_limit' },
}

/** A refusal by the hub itself, with a status that its code does not imply. */
export class HttpRefusal extends MailboxError {
  readonly status: number
  /** Its name in the log and the metrics. */
  readonly reason: string
  /** Whose token it was, once that is known. */
  readonly agent: string | undefined

  constructor(status: number, reason: string, message: string, options: { hint: string; agent?: string }) {
    super(codeOfStatus[status]!, message, options)
    this.status = status
    this.reason = reason
    this.agent = options.agent
  }
}

function statusOf(error: MailboxError): number {
  if (error instanceof HttpRefusal) return error.status
  // Of all limits, waiting does not help with the size.
  return error.limit === 'size' ? 413 : statusOfCode[error.code]
}

const headersOf: Record<number, Record<string, string>> = {
  401: { 'www-authenticate': 'Bearer' },
  // The rest of the body is not read.
  413: { connection: 'close' },
  429: { 'retry-after': '1' },
}

/** Nobody needs to read what they sent. */
const textChars = 1_000

/** What the API answers is for whoever asked, and kept nowhere. */
export const notKept = { 'cache-control': 'no-store' }

/** An error as the answer to a request. A defect of ours reveals nothing more. */
export function toAnswer(thrown: unknown) {
  const error = asMailboxError(thrown)
  const status = statusOf(error)
  const shown =
    error.code === 'internal'
      ? { code: error.code, message: 'internal error in the hub', hint: 'see the log of `mailbox serve`' }
      : { ...shortened(error.toJSON()), ...given({ limit: error.limit }) }
  const headers = { ...securityHeaders, ...notKept, ...headersOf[status] }
  return { status, headers, body: { error: shown } }
}

/** An error may quote what was wrong. */
const shortened = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' && value.length > textChars ? `${value.slice(0, textChars)}…` : value,
    ]),
  ) as Fields
