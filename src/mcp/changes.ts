import { asMailboxError } from '../base/errors.ts'
import { pause } from '../base/timers.ts'
import type { Entry } from '../model/entry.ts'
import type { Space } from '../space/api.ts'

type Listener = (uri: string) => void

const threadUri = (id: string): string => `mailbox://thread/${id}`
export const messageUri = (id: string): string => `mailbox://message/${id}`

/** When the journal cannot be read, it is tried again after this long. */
const retryMs = 1_000

/** Tells listeners which resources have changed. Follows the journal only while there are listeners. */
export class Changes {
  readonly #space: Pick<Space, 'lastSeq' | 'follow'>
  readonly #listeners = new Set<Listener>()
  #following: AbortController | undefined
  /** Settled when every later entry will be reported. */
  #ready = Promise.resolve()

  constructor(space: Pick<Space, 'lastSeq' | 'follow'>) {
    this.#space = space
  }

  /** The number of listeners. */
  get size(): number {
    return this.#listeners.size
  }

  /** Returns a function that unsubscribes. Changes may be missed until {@link ready}. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#following === undefined) this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#following?.abort()
      this.#following = undefined
    }
  }

  /** Wait for this before confirming a subscription, or changes in between are missed. */
  ready(): Promise<void> {
    return this.#ready
  }

  #begin(): void {
    const stop = new AbortController()
    this.#following = stop
    this.#ready = new Promise((resolve) => void this.#follow(stop.signal, resolve).finally(resolve))
  }

  async #follow(signal: AbortSignal, isReady: () => void): Promise<void> {
    for (let after: number | undefined; !signal.aborted; ) {
      try {
        after ??= await this.#space.lastSeq()
        isReady()
        for await (const { entry } of this.#space.follow({ after, signal })) {
          after = entry.seq
          for (const uri of changedBy(entry)) for (const listener of [...this.#listeners]) listener(uri)
        }
        return // The signal has ended it, or the space is closed.
      } catch (error) {
        if (asMailboxError(error).code === 'closed') return
        // Calls report what is wrong with the journal; this only has to continue once it can be read again.
        isReady()
        await pause(retryMs, signal, false)
      }
    }
  }
}

/** A new message changes its thread; a receipt changes its message. */
function changedBy(entry: Entry): string[] {
  if (entry.kind === 'message') return [threadUri(entry.message.threadId)]
  if (entry.kind === 'receipt') return [...new Set(entry.changes.map(({ id }) => messageUri(id)))]
  return []
}
