import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

/**
 * Says in which directories something has changed. Watches miss and merge events, and some file systems have none, so
 * whoever uses it looks everywhere from time to time as well.
 */
export class FolderWatch {
  readonly #root: string
  readonly #ring: () => void
  readonly #watchers = new Map<string, FSWatcher>()
  #changed = new Set<string>()

  constructor(root: string, ring: () => void) {
    this.#root = root
    this.#ring = ring
  }

  /** Watches these directories and no others. One that is new counts as changed. */
  set(dirs: readonly string[]): void {
    const wanted = new Set(dirs)
    for (const [dir, watcher] of this.#watchers)
      if (!wanted.has(dir)) {
        watcher.close()
        this.#watchers.delete(dir)
      }
    for (const dir of wanted) if (!this.#watchers.has(dir)) this.#watch(dir)
  }

  #watch(dir: string): void {
    const note = () => {
      this.#changed.add(dir)
      this.#ring()
    }
    try {
      const watcher = watch(join(this.#root, dir), { persistent: false }, note)
      const end = () => {
        watcher.close()
        if (this.#watchers.get(dir) === watcher) this.#watchers.delete(dir)
        note()
      }
      watcher.on('error', end)
      this.#watchers.set(dir, watcher)
      note()
    } catch {
      // It is gone again, or no watch is to be had: looking from time to time is enough.
    }
  }

  /** The directories that have changed since the last call. */
  take(): Set<string> {
    const changed = this.#changed
    this.#changed = new Set()
    return changed
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }
}
