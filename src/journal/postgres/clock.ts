import type { Clock } from '../../base/clock.ts'

interface Sample {
  /** What to add to the steady clock of this process, in ms. */
  offset: number
  tookMs: number
  at: number
}

/** After so long a better measurement counts no more: clocks drift. */
const goodForMs = 60_000
/** A database whose clock differs from what was measured by more than this was set, or this machine has slept. */
const jumpMs = 500

/** The time of the database, as it comes with its answers, carried on by a clock of this process that nobody can set. */
export class ServerClock {
  #best: Sample | undefined
  #last = 0

  /** The server said `serverMs`, at some time between the two. */
  learn(serverMs: number, askedAt: number, answeredAt: number): void {
    const tookMs = answeredAt - askedAt
    const sample = { offset: serverMs - (askedAt + answeredAt) / 2, tookMs, at: answeredAt }
    const best = this.#best
    const isBetter =
      best === undefined ||
      tookMs <= best.tookMs ||
      answeredAt - best.at > goodForMs ||
      Math.abs(sample.offset - best.offset) > jumpMs + tookMs
    if (isBetter) this.#best = sample
  }

  /** Before the first answer it is the wall clock. It never goes back by less than a jump of the server's own clock. */
  get now(): Clock {
    const read = () => {
      const found = this.#best === undefined ? Date.now() : this.#best.offset + performance.now()
      this.#last = found < this.#last && this.#last - found < jumpMs ? this.#last : found
      return Math.floor(this.#last)
    }
    return Object.assign(read, { doubt: () => undefined })
  }
}
