import { type FSWatcher, watch } from 'node:fs'

/**
 * Tells listeners that the journal has grown: directly for what this process appends, through a file watch
 * for what others append, and through polling as well, because watches miss and merge events. It runs only
 * while there are listeners.
 */
export class Wake {
  readonly #dir: string
  readonly #pollMs: number
  readonly #listeners = new Set<() => void>()
  #watcher: FSWatcher | undefined
  #poll: NodeJS.Timeout | undefined

  constructor(dir: string, pollMs: number) {
    this.#dir = dir
    this.#pollMs = pollMs
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  ring(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  #start(): void {
    try {
      this.#watcher = watch(this.#dir, () => this.ring())
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // No watch available (too many, or not supported by the file system): polling is enough.
    }
    this.#poll = setInterval(() => this.ring(), this.#pollMs)
  }

  stop(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    clearInterval(this.#poll)
    this.#poll = undefined
  }
}
