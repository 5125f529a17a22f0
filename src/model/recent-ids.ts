/**
 * At least the last `kept` ids that were added. A set from which the oldest is taken out each time gets slow: it keeps
 * the places of those that are gone, and looks through them for the next. To put an id into a set takes longer than most of
 * what is done with a message, and nobody may ever ask: so it is done when somebody does.
 */
export class RecentIds {
  readonly #kept: number
  /** Not in the set yet. */
  #added: string[] = []
  #ids = new Set<string>()
  #earlier = new Set<string>()

  constructor(kept: number) {
    this.#kept = kept
  }

  add(id: string): void {
    this.#added.push(id)
    if (this.#added.length >= 2 * this.#kept) this.#added = this.#added.slice(-this.#kept)
  }

  has(id: string): boolean {
    this.#gather()
    return this.#ids.has(id) || this.#earlier.has(id)
  }

  #gather(): void {
    for (const id of this.#added) {
      this.#ids.add(id)
      if (this.#ids.size < this.#kept) continue
      this.#earlier = this.#ids
      this.#ids = new Set()
    }
    this.#added = []
  }
}
