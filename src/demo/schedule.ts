import { setTimeout as sleep } from 'node:timers/promises'

interface Due {
  atMs: number
  /** For what is due at the same moment: first come, first served. */
  order: number
  work: () => Promise<void>
}

/**
 * The story's own time. One thing happens after the other, each at its moment and to its end, so that the
 * same seed tells the same story however fast it is told and however slow the machine is.
 */
export class Schedule {
  readonly #speed: number
  readonly #due: Due[] = []
  #order = 0
  /** How far the story is, in ms of its own time. */
  timeMs = 0

  /** @param speed how many seconds of the story pass in one. */
  constructor(speed: number) {
    this.#speed = speed
  }

  after(seconds: number, work: () => Promise<void>): void {
    const due = { atMs: this.timeMs + seconds * 1_000, order: this.#order++, work }
    // Few are waiting at a time: a search from the end finds the place.
    let at = this.#due.length
    while (at > 0 && isBefore(due, this.#due[at - 1]!)) at--
    this.#due.splice(at, 0, due)
  }

  /** Tells the story until the signal ends it. */
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
