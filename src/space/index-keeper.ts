import { Background } from '../index/background.ts'
import type { Projection } from '../index/projection.ts'

/** The index takes in what was written after a pause this long, or when it is so many entries behind. */
const delayMs = 20
const maxLag = 50_000
/** From this lag on it is worth a thread. */
const threadLag = 2_000

/**
 * Keeps the index close to the journal's end after writes: many entries at once cost a fraction of one by
 * one, so it waits for a pause, or until so much has gathered that a reader would have to wait for it.
 */
export class IndexKeeper {
  readonly #index: Projection
  readonly #thread: Background
  #timer: NodeJS.Timeout | undefined
  #isBehind = false
  /** How far the thread has brought the index. */
  #threadSeq = 0

  constructor(dir: string, index: Projection) {
    this.#index = index
    this.#thread = new Background({ dir, projection: 'tables' })
  }

  written(lastSeq: number): void {
    this.#isBehind = true
    const lag = lastSeq - Math.max(this.#index.cursor.seq, this.#threadSeq)
    // So much at once would keep this thread from its work.
    if (lag > threadLag && this.#thread.available) void this.#thread.catchUp((seq) => (this.#threadSeq = seq))
    else if (lag > maxLag) this.#catchUp()
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#catchUp(), delayMs)
    else this.#timer.refresh()
  }

  #catchUp(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isBehind) return
    this.#isBehind = false
    try {
      this.#index.catchUp({ opportunistic: true, chunks: 1 })
    } catch {
      // The next query catches up, and reports what is wrong if something is.
    }
  }

  async close(): Promise<void> {
    this.#catchUp()
    await this.#thread.close()
  }
}
