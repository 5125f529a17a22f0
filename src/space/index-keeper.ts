import { Background } from '../index/background.ts'
import type { Projection } from '../index/projection.ts'

/** The index takes in what was written after a pause this long, or when it is so many entries behind. */
const delayMs = 20
const maxLag = 50_000
/** From this lag on it is worth a thread. */
const threadLag = 2_000

/**
 * Keeps the index close to the journal's end after writes: many entries at once cost a fraction of one by
 * one, so it waits for a pause, or until so much has gathered that a reader would have to wait for it. To wait for
 * others who write is no pause.
 */
export class IndexKeeper {
  readonly #index: Projection
  readonly #thread: Background
  #timer: NodeJS.Timeout | undefined
  #isBehind = false
  #lastSeq = 0
  /** How far the thread has brought the index. */
  #threadSeq = 0
  /** Appends that this process has under way. */
  #underWay = 0

  constructor(dir: string, index: Projection) {
    this.#index = index
    this.#thread = new Background({ dir, projection: 'tables' })
  }

  /** Runs an append. */
  during<T>(append: () => Promise<T>): Promise<T> {
    this.#underWay++
    return append().finally(() => this.#underWay--)
  }

  written(lastSeq: number): void {
    this.#isBehind = true
    this.#lastSeq = lastSeq
    // So much at once would keep this thread from its work.
    if (this.#lag > threadLag && this.#thread.available) void this.#byThread()
    else if (this.#lag > maxLag) this.#catchUp(1)
    if (this.#timer === undefined) this.#timer = setTimeout(this.#paused, delayMs)
    else this.#timer.refresh()
  }

  #paused = (): void => {
    if (this.#underWay > 0) this.#timer?.refresh()
    else this.#catchUp(1)
  }

  get #lag(): number {
    return this.#lastSeq - Math.max(this.#index.cursor.seq, this.#threadSeq)
  }

  #byThread(): Promise<boolean> {
    return this.#thread.catchUp((seq) => (this.#threadSeq = seq))
  }

  #catchUp(chunks: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isBehind) return
    try {
      this.#isBehind = this.#index.catchUp({ opportunistic: true, chunks })
    } catch {
      // The next query catches up, and reports what is wrong if something is.
    }
  }

  /** Whoever opens the space next should not have to wait for what this process has written. */
  async close(): Promise<void> {
    if (this.#isBehind && this.#lag > threadLag) await this.#byThread()
    this.#catchUp(Number.POSITIVE_INFINITY)
    await this.#thread.close()
  }
}
