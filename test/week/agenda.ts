/** What will happen, by time: things at the same time in the order in which they were planned. */
export class Agenda {
  now: number
  readonly #due: { at: number; work: () => Promise<void> }[] = []

  constructor(now: number) {
    this.now = now
  }

  at(time: number, work: () => Promise<void>): void {
    const at = Math.max(time, this.now)
    let low = 0
    let high = this.#due.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#due[middle]!.at <= at) low = middle + 1
      else high = middle
    }
    this.#due.splice(low, 0, { at, work })
  }

  after(ms: number, work: () => Promise<void>): void {
    this.at(this.now + ms, work)
  }

  /** Plays everything up to a time. */
  async playUntil(end: number): Promise<void> {
    while (this.#due.length > 0 && this.#due[0]!.at <= end) {
      const { at, work } = this.#due.shift()!
      this.now = at
      await work()
    }
    this.now = end
  }
}
