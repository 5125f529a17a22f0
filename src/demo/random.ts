/** Repeatable random numbers: the same seed gives the same sequence. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** True with this probability. */
  happens(probability: number): boolean
  between(from: number, to: number): number
  pick<T>(list: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: small, and good enough to shuffle tasks.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  return {
    next,
    happens: (probability) => next() < probability,
    between: (from, to) => from + next() * (to - from),
    pick: (list) => list[Math.floor(next() * list.length)]!,
  }
}

/** Draws items in random order; nothing repeats until everything has been drawn. */
export class Deck<T> {
  readonly #cards: readonly T[]
  readonly #random: Random
  #left: T[] = []
  /** How many times it was shuffled. */
  rounds = 0

  constructor(cards: readonly T[], random: Random) {
    this.#cards = cards
    this.#random = random
  }

  /** The next card, or the next that fits. */
  draw(fits: (card: T) => boolean = () => true): T {
    if (!this.#left.some(fits)) this.#shuffle()
    const at = Math.max(0, this.#left.findIndex(fits))
    return this.#left.splice(at, 1)[0]!
  }

  #shuffle(): void {
    this.rounds++
    this.#left = [...this.#cards]
    for (let at = this.#left.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random.next() * (at + 1))
      ;[this.#left[at], this.#left[other]] = [this.#left[other]!, this.#left[at]!]
    }
  }
}
