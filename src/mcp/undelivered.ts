/** What undoes an answer that does not reach its client. */
export class Undelivered {
  readonly #running: Set<Promise<unknown>>
  readonly #undo: (() => Promise<unknown>)[] = []

  /** @param running Where work in progress is kept; wait for it before closing the space. */
  constructor(running: Set<Promise<unknown>>) {
    this.#running = running
  }

  add = (undo: () => Promise<unknown>): void => void this.#undo.push(undo)

  /** What has been handled in the meantime, by whoever else saw it, stays as it is. */
  run(): void {
    for (const undo of this.#undo.splice(0)) {
      const work = undo()
        .catch(() => {})
        .finally(() => this.#running.delete(work))
      this.#running.add(work)
    }
  }
}
