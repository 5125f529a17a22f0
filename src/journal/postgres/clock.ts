import type { Clock } from '../../base/clock.ts'

/** What to add to the steady clock of this process, in ms: between these two, as it was known at a time. */
interface Bounds {
  low: number
  high: number
  at: number
}

/** How fast two clocks can drift apart, in ms per ms: the one of a machine may just be put right. */
const drift = 0.001
/** A database whose clock goes back by more than this was set, or this machine has slept. */
const jumpMs = 500

/**
 * The time of the database, as it comes with its answers, carried on by a clock of this process that nobody can set. An
 * answer that took long says little, and never makes worse what is known.
 */
export class ServerClock {
  #known: Bounds | undefined
  #last = 0

  /** The server said `serverMs`, at some time between the two. */
  learn(serverMs: number, askedAt: number, answeredAt: number): void {
    const told = { low: serverMs - answeredAt, high: serverMs - askedAt, at: answeredAt }
    const { low, high, at } = this.#known ?? told
    const slack = Math.max(0, answeredAt - at) * drift
    const both = {
      low: Math.max(low - slack, told.low),
      high: Math.min(high + slack, told.high),
      at: Math.max(at, answeredAt),
    }
    // One of the two clocks was set.
    this.#known = both.low > both.high ? told : both
  }

  /** Before the first answer it is the wall clock. It never goes back by less than a jump of the server's own clock. */
  get now(): Clock {
    const read = () => {
      const found =
        this.#known === undefined ? Date.now() : (this.#known.low + this.#known.high) / 2 + performance.now()
      this.#last = found < this.#last && this.#last - found < jumpMs ? this.#last : found
      return Math.floor(this.#last)
    }
    return Object.assign(read, { doubt: () => undefined })
  }
}
