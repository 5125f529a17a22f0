/** Repeatable random numbers: the same seed gives the same sequence. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1. Mulberry32: small, and good enough to shuffle tasks. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** True with this probability. */
  happens = (probability: number): boolean => this.next() < probability
  between = (from: number, to: number): number => from + this.next() * (to - from)
  pick = <T>(list: readonly T[]): T => list[Math.floor(this.next() * list.length)]!
}

/** Draws items in random order; nothing repeats until everything has been drawn. */
export class Deck<T> {
  readonly #cards: readonly T[]
  readonly #random: Random
  #left: T[] = []
  /** How many times it was refilled. */
  rounds = 0

  constructor(cards: readonly T[], random: Random) {
    this.#cards = cards
    this.#random = random
  }

  /** The next card, or the next that fits; if none does, any. */
  draw(fits: (card: T) => boolean = () => true): T {
    if (!this.#left.some(fits)) {
      this.rounds++
      this.#left = [...this.#cards]
    }
    const fitting = this.#left.filter(fits)
    const card = this.#random.pick(fitting.length > 0 ? fitting : this.#left)
    this.#left.splice(this.#left.indexOf(card), 1)
    return card
  }
}
