import { MailboxError } from '../base/errors.ts'

/** Every wait looks at the journal whenever something is written: there is no end of what a client may begin. */
const maxAtOnce = 256

/**
 * The calls of one agent that are under way. Whoever closes the space waits for them first: a call that was broken
 * off still has to give back what it took.
 */
export class Calls {
  readonly #open = new Set<Promise<unknown>>()

  get size(): number {
    return this.#open.size
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.size >= maxAtOnce) {
      const error = new MailboxError('over_limit', `${maxAtOnce} calls are under way already`, {
        hint: 'wait once and share what comes',
      })
      return Promise.reject(error)
    }
    const call = work()
    this.#open.add(call)
    const over = () => void this.#open.delete(call)
    call.then(over, over)
    return call
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#open)
  }
}
