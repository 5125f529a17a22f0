/**
 * The calls that are under way. Whoever closes the space waits for them first: a call that was broken off still
 * has to give back what it took.
 */
export class Calls {
  readonly #open = new Set<Promise<unknown>>()

  get size(): number {
    return this.#open.size
  }

  track<T>(call: Promise<T>): Promise<T> {
    this.#open.add(call)
    const over = () => void this.#open.delete(call)
    call.then(over, over)
    return call
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#open)
  }
}
