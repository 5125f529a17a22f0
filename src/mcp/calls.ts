import { MailboxError } from '../base/errors.ts'

/** Every wait reads the journal whenever something is written, so the number of calls needs a limit. */
const maxAtOnce = 256

/**
 * The calls of one agent that are in progress. Wait for them before closing the space: a cancelled call still has
 * to give back what it took.
 */
export class Calls {
  readonly #open = new Set<Promise<unknown>>()

  get size(): number {
    return this.#open.size
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.size >= maxAtOnce)
      throw new MailboxError('over_limit', `${maxAtOnce} calls are already in progress`, {
        hint: 'wait once and share the result',
      })
    const call = work()
    this.#open.add(call)
    return call.finally(() => this.#open.delete(call))
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#open)
  }
}
