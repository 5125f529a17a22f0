import { type FSWatcher, watch } from 'node:fs'

/**
 * Tells listeners that the journal has grown: at once for what this process appends, through a file
 * watch for what others do, and by a poll behind the watch, because watches miss and merge events. Runs
 * only while somebody listens.
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
      // No watch to be had here (too many, or a file system without): the poll does it alone.
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
