import { setTimeout as sleep } from 'node:timers/promises'

interface Due {
  atMs: number
  /** Items due at the same time run in the order they were added. */
  order: number
  work: () => Promise<void>
}

/**
 * Demo time. Items run one after another, each at its time and to completion, so that the same seed gives the
 * same story at any speed and on any machine.
 */
export class Schedule {
  readonly #speed: number
  readonly #due: Due[] = []
  #order = 0
  /** The current demo time, in ms. */
  timeMs = 0

  /** @param speed seconds of demo time per real second. */
  constructor(speed: number) {
    this.#speed = speed
  }

  after(seconds: number, work: () => Promise<void>): void {
    const due = { atMs: this.timeMs + seconds * 1_000, order: this.#order++, work }
    // The list is short, so a search from the end is fast enough.
    let at = this.#due.length
    while (at > 0 && isBefore(due, this.#due[at - 1]!)) at--
    this.#due.splice(at, 0, due)
  }

  /** Runs until the signal stops it. */
  async run(signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    for (let due = this.#due.shift(); due !== undefined && !signal.aborted; due = this.#due.shift()) {
      const waitMs = startedMs + due.atMs / this.#speed - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      this.timeMs = due.atMs
      await due.work()
    }
  }
}

const isBefore = (a: Due, b: Due): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
