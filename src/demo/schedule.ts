import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Demo time. Items run one after another, each at its time and to completion, so that the same seed gives the
 * same story at any speed and on any machine.
 */
export class Schedule {
  readonly #speed: number
  /** By time; items due at the same time are in the order they were added. */
  readonly #due: { atMs: number; work: () => Promise<void> }[] = []
  /** The current demo time. */
  #timeMs = 0

  /** @param speed seconds of demo time per real second. */
  constructor(speed: number) {
    this.#speed = speed
  }

  after(seconds: number, work: () => Promise<void>): void {
    const atMs = this.#timeMs + seconds * 1_000
    const previous = this.#due.findLastIndex((due) => due.atMs <= atMs)
    this.#due.splice(previous + 1, 0, { atMs, work })
  }

  /** Runs until the signal stops it. */
  async run(signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    for (let due = this.#due.shift(); due !== undefined; due = this.#due.shift()) {
      const waitMs = startedMs + due.atMs / this.#speed - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      this.#timeMs = due.atMs
      await due.work()
    }
  }
}
