import { type ErrorCode, errorCodes, MailboxError } from '../base/errors.ts'
import { pause } from '../base/timers.ts'

export interface HubOptions {
  /** Where `mailbox serve` listens: `http://127.0.0.1:7337`. */
  url: string
  /** An agent's (`mailbox token NAME`), or the person's. */
  token: string
  /** How entries come while somebody follows. @default 'sse' */
  stream?: 'sse' | 'websocket'
  /** How long to try again when the hub does not answer, in ms. Waits and streams try as long as they run. @default 15_000 */
  retryForMs?: number
}

export interface CallOptions {
  method: 'GET' | 'POST'
  path: string
  body?: object
  headers?: Record<string, string>
  /** Asking twice does no harm, so it is asked again when an answer was lost. */
  repeatable: boolean
  signal?: AbortSignal | undefined
  /** @default 30_000 */
  timeoutMs?: number
  /** How long to try again when the hub does not answer. @default that of the connection */
  retryForMs?: number
}

const answerWithinMs = 30_000
const firstPauseMs = 50
const longestPauseMs = 2_000

/** Codes of errors that come before a byte of the request has left: it was certainly not carried out. */
const neverSent = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** Requests to one hub, with one token. */
export class Connection {
  readonly url: string
  readonly token: string
  readonly stream: 'sse' | 'websocket'
  readonly #retryForMs: number
  readonly #ending = new AbortController()

  constructor({ url, token, stream = 'sse', retryForMs = 15_000 }: HubOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new MailboxError('invalid', `${JSON.stringify(url)} is not the address of a hub`, {
        hint: 'pass what `mailbox serve` printed: http://127.0.0.1:7337',
      })
    }
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      throw new MailboxError('invalid', 'there is no token', { hint: 'make one: mailbox token NAME' })
    }
    this.url = new URL(url).origin
    this.token = token
    this.stream = stream
    this.#retryForMs = retryForMs
  }

  /** Aborted when the space is closed. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  close(): void {
    this.#ending.abort()
  }

  /** Asks, and asks again where the hub was not there and asking again is safe. */
  async call<T>(options: CallOptions): Promise<T> {
    const deadline = performance.now() + Math.max(options.retryForMs ?? 0, this.#retryForMs)
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      this.mustRun(options.signal)
      const answer = await this.#ask(options)
      if ('body' in answer) return answer.body as T
      const isSafe = options.repeatable || answer.neverSent
      if (!isSafe || performance.now() + pauseMs > deadline) throw unreachable(this.url, isSafe, answer.cause)
      await this.pause(pauseMs, options.signal)
    }
  }

  /** Sleeps until it is time to try again, or until nobody wants to any more. */
  async pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
    // Not all at once when a hub comes back.
    const ms = pauseMs * (0.5 + Math.random())
    await pause(ms, this.until(signal))
    this.mustRun(signal)
  }

  until(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.ending : AbortSignal.any([signal, this.ending])
  }

  /** Throws when the space is closed, or nobody wants the answer any more. */
  mustRun(signal: AbortSignal | undefined): void {
    if (this.ending.aborted)
      throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
    if (signal?.aborted) throw cancelled()
  }

  async #ask(options: CallOptions): Promise<{ body: unknown } | { neverSent: boolean; cause: unknown }> {
    const { method, path, body, headers = {}, signal, timeoutMs = answerWithinMs } = options
    const limit = AbortSignal.timeout(Math.ceil(timeoutMs))
    try {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: this.headers(
          body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([this.until(signal), limit]),
      })
      const text = await response.text()
      if (response.ok) return { body: JSON.parse(text) }
      const error = errorFrom(response.status, text)
      // A hub that is about to stop has done nothing of it.
      if (error.code === 'closed') return { neverSent: true, cause: error }
      throw error
    } catch (error) {
      if (error instanceof MailboxError) throw error
      this.mustRun(signal)
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
      return { neverSent: neverSent.includes(code ?? ''), cause: error }
    }
  }

  headers(more: Record<string, string> = {}): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, ...more }
  }
}

/** What the hub said went wrong, as the error that a space on this disk would have thrown. */
export function errorFrom(status: number, text: string): MailboxError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; hint?: string } }
    const code = Object.hasOwn(errorCodes, error.code) ? (error.code as ErrorCode) : 'internal'
    return new MailboxError(code, error.message, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(status === 413 ? { limit: 'size' } : {}),
    })
  } catch {
    return new MailboxError('unreachable', `something that is no hub has answered (${status})`, {
      hint: 'check the address, and the proxy if there is one',
    })
  }
}

const unreachable = (url: string, isSafe: boolean, cause: unknown) =>
  new MailboxError(
    'unreachable',
    isSafe
      ? `the hub at ${url} does not answer`
      : `the hub at ${url} went away before it answered; it is not known whether it has done it`,
    {
      cause,
      hint: isSafe
        ? 'is `mailbox serve` running there?'
        : 'look whether it is done; a send with a `key` can be sent again',
    },
  )

const cancelled = (): MailboxError =>
  new MailboxError('interrupted', 'the wait was cancelled', {
    hint: 'nothing was taken; wait again when you like',
  })
