import type { Entry } from '../model/entry.ts'
import type { Space } from '../space.ts'

type Listener = (uri: string) => void

export const threadUri = (id: string): string => `mailbox://thread/${id}`
export const messageUri = (id: string): string => `mailbox://message/${id}`

/** Tells listeners which resources have changed, and follows the journal only while there are any. */
export class Changes {
  readonly #space: Space
  readonly #listeners = new Set<Listener>()
  #following: AbortController | undefined

  constructor(space: Space) {
    this.#space = space
  }

  /** Returns a function that ends it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#following === undefined) {
      const following = new AbortController()
      this.#following = following
      // A space that closes ends the following; so does one that cannot be read, which every call reports.
      void this.#follow(following.signal).catch(() => {})
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#following?.abort()
      this.#following = undefined
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = await this.#space.end()
    for await (const { entry } of this.#space.follow({ after, signal })) {
      for (const uri of changedBy(entry)) for (const listener of [...this.#listeners]) listener(uri)
    }
  }
}

/** A message changes its thread; a step on the ladder changes what is told of its message. */
function changedBy(entry: Entry): string[] {
  if (entry.kind === 'message') return [threadUri(entry.message.threadId)]
  if (entry.kind === 'receipt') return [...new Set(entry.changes.map(({ id }) => messageUri(id)))]
  return []
}
