import {
  type ErrorCode,
  errorCodes,
  type Limit,
  MailboxError,
  type MailboxErrorOptions,
} from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { backoffMs, pause } from '../base/timers.ts'
import { interrupted } from '../delivery/bell.ts'
import { type Wire, wireTo } from './wire.ts'

export interface HubOptions {
  /** Where `mailbox serve` listens: `http://127.0.0.1:7337`, or its socket on this machine: `unix:SPACE/hub/socket`. */
  url: string
  /**
   * An agent's (`mailbox token NAME`), or the person's. If it has the fingerprint of the hub in it, nothing is sent to
   * any other.
   */
  token: string
  /** How to follow the journal. @default 'sse' */
  stream?: 'sse' | 'websocket'
  /** How long to retry when the hub does not answer, in ms. Waits and streams retry as long as they run. @default 15_000 */
  retryForMs?: number
}

export interface CallOptions {
  path: string
  /** With a body it is a POST, without one a GET. */
  body?: object
  headers?: Record<string, string>
  /** Sending it twice does no harm, so it is repeated when the response was lost. */
  repeatable: boolean
  signal?: AbortSignal | undefined
  /** @default 30_000 */
  timeoutMs?: number
  /** How long to retry when the hub does not answer. @default that of the connection */
  retryForMs?: number
}

const answerWithinMs = 30_000
const pauseMs = (retry: number) => backoffMs(retry, 50, 2_000)

/** Codes of errors that happen before the request is sent: it was certainly not carried out. */
const neverSent = [
  'ECONNREFUSED',
  // A socket of a hub that is not there.
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** A certificate of no authority that this machine knows; the request is not sent. */
const badCertificate = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED'],
]
const noTls = ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']

/** Requests to one hub, with one token. */
export class Connection {
  readonly wire: Wire
  readonly token: string
  readonly stream: 'sse' | 'websocket'
  readonly #retryForMs: number
  readonly #ending = new AbortController()
  /** Aborted when the space is closed. */
  readonly ending: AbortSignal = this.#ending.signal

  constructor({ url, token, stream = 'sse', retryForMs = 15_000 }: HubOptions) {
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      throw new MailboxError('invalid', 'the token is missing', { hint: 'create one: mailbox token NAME' })
    }
    const [secret, pin] = token.split('~', 2)
    this.wire = wireTo(url, pin)
    this.token = secret!
    this.stream = stream
    this.#retryForMs = retryForMs
  }

  close(): void {
    this.#ending.abort()
  }

  /** Sends a request, and repeats it where the hub did not answer and repeating is safe. */
  async call<T>(options: CallOptions): Promise<T> {
    const deadline = performance.now() + Math.max(options.retryForMs ?? 0, this.#retryForMs)
    for (let retry = 0; ; retry++) {
      this.mustRun(options.signal)
      const answer = await this.#ask(options)
      if ('body' in answer) return answer.body as T
      const isSafe = options.repeatable || answer.neverSent
      if (!isSafe || performance.now() + pauseMs(retry) > deadline)
        throw unreachable(this.wire.url, isSafe, answer.cause)
      await this.pause(retry, options.signal)
    }
  }

  /** Sleeps until it is time to retry, or until it is cancelled. */
  async pause(retry: number, signal: AbortSignal | undefined): Promise<void> {
    // Not all clients at once when a hub is back.
    await pause(pauseMs(retry) * (0.5 + Math.random()), this.until(signal))
    this.mustRun(signal)
  }

  until(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.ending : AbortSignal.any([signal, this.ending])
  }

  /** Throws when the space is closed or the call is cancelled. */
  mustRun(signal: AbortSignal | undefined): void {
    if (this.ending.aborted)
      throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
    if (signal?.aborted) throw interrupted()
  }

  async #ask(options: CallOptions): Promise<{ body: unknown } | { neverSent: boolean; cause: unknown }> {
    const { path, body, headers, signal, timeoutMs = answerWithinMs } = options
    const limit = AbortSignal.timeout(Math.ceil(timeoutMs))
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    try {
      const response = await this.wire.fetch(path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: this.headers({ ...type, ...headers }),
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.any([this.until(signal), limit]),
      })
      const text = await response.text()
      if (response.ok) return { body: JSON.parse(text) }
      const error = errorFrom(response.status, text)
      // A hub that is stopping has not carried it out.
      if (error.code === 'closed') return { neverSent: true, cause: error }
      throw error
    } catch (error) {
      if (error instanceof MailboxError) throw error
      this.mustRun(signal)
      const wasNot = [...neverSent, ...badCertificate, ...noTls].includes(codeOf(error))
      return { neverSent: wasNot, cause: error }
    }
  }

  headers(more: Record<string, string> = {}): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, ...more }
  }
}

/** What a hub has refused: {@link errorFrom}. */
export class HubRefusal extends MailboxError {
  /** The token is not valid, or not any more. */
  readonly isOfToken: boolean

  constructor(status: number, code: ErrorCode, message: string, options: MailboxErrorOptions) {
    super(code, message, options)
    this.isOfToken = status === 401
  }
}

/** The hub's error response, as the error that a space on this disk would have thrown. */
export function errorFrom(status: number, text: string): MailboxError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; hint?: string; limit?: Limit }
    }
    const code = Object.hasOwn(errorCodes, error.code) ? (error.code as ErrorCode) : 'internal'
    const { hint, limit = status === 413 ? ('size' as const) : undefined } = error
    return new HubRefusal(status, code, error.message, given({ hint, limit }))
  } catch {
    return new MailboxError('unreachable', `the response (${status}) is not from a hub`, {
      hint: 'check the URL, and the proxy if there is one',
    })
  }
}

const codeOf = (error: unknown): string =>
  ((error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code ?? ''

function unreachable(url: string, isSafe: boolean, cause: unknown): MailboxError {
  const [problem, hint] = isSafe ? whatIsThere(url, codeOf(cause)) : broken(url)
  return new MailboxError('unreachable', problem, { cause, hint })
}

const broken = (url: string) =>
  [
    `the hub at ${url} disconnected before it answered; the request may or may not have been carried out`,
    'check whether it was; a send with a `key` can be repeated safely',
  ] as const

/** What is wrong, and what to do. */
function whatIsThere(url: string, code: string): readonly [problem: string, hint: string] {
  if (badCertificate.includes(code))
    return [
      `the certificate at ${url} is of no authority that this machine knows`,
      'use a token that ends with the fingerprint of the hub: `mailbox token NAME` creates one while the hub runs with --tls',
    ]
  if (noTls.includes(code))
    return [
      `what answers at ${url} does not speak TLS`,
      `a hub without --tls is at ${url.replace(/^https/, 'http')}`,
    ]
  const other = url.startsWith('http:') ? ' With --tls it is at https://…' : ''
  return [`the hub at ${url} does not answer`, `is \`mailbox serve\` running there?${other}`]
}
