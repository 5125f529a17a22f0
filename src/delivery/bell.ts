import { MailboxError } from '../base/errors.ts'
import { maxTimerMs } from '../base/timers.ts'
import type { Journal } from '../journal/journal.ts'

/** Remembers a ring that came while nobody was waiting. */
export class Bell {
  readonly #stop: () => void
  readonly #signal: AbortSignal | undefined
  readonly #ending: AbortSignal | undefined
  #pending = false
  #waiting: (() => void) | undefined
  readonly #ring = () => {
    this.#pending = true
    this.#waiting?.()
  }

  /** Also rings when the caller gives up and when the space closes, so that whoever waits finds out. */
  constructor(journal: Journal, signal?: AbortSignal, ending?: AbortSignal) {
    this.#stop = journal.onWake(this.#ring)
    this.#signal = signal
    this.#ending = ending
    signal?.addEventListener('abort', this.#ring)
    ending?.addEventListener('abort', this.#ring)
  }

  /** Forgets rings up to now. Call it before reading, never after. */
  reset(): void {
    this.#pending = this.#signal?.aborted ?? false
  }

  /** Resolves at the next ring, or at once when there was one since the reset; also when the time is up. */
  async rung(timeoutMs?: number): Promise<void> {
    if (this.#pending) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#waiting = resolve
      if (timeoutMs !== undefined) timer = setTimeout(resolve, Math.min(timeoutMs, maxTimerMs))
    })
    clearTimeout(timer)
    this.#waiting = undefined
  }

  /**
   * Tries until it gets something, once at first and again after every ring. Undefined when the time is
   * up; throws `interrupted` when the signal is aborted.
   */
  async until<T>(
    attempt: () => Promise<T | undefined>,
    timeoutMs: number | undefined,
  ): Promise<T | undefined> {
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs
    try {
      for (;;) {
        this.reset()
        if (this.#signal?.aborted) throw interrupted()
        const found = await attempt()
        if (found !== undefined) return found
        const left = deadline - performance.now()
        if (left <= 0) return undefined
        await this.rung(Number.isFinite(left) ? left : undefined)
      }
    } finally {
      this.close()
    }
  }

  close(): void {
    this.#stop()
    this.#signal?.removeEventListener('abort', this.#ring)
    this.#ending?.removeEventListener('abort', this.#ring)
  }
}

export const interrupted = () =>
  new MailboxError('interrupted', 'the wait was cancelled', {
    hint: 'no message was taken; you can wait again',
  })
