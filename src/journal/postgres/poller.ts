import { join } from 'node:path'
import { pause } from '../../base/timers.ts'
import { WriterLock } from '../file/lock.ts'
import { Wake } from '../file/wake.ts'
import type { Store } from './store.ts'

/** How often the end of the journal is asked for: at once after something came, and less and less until this. */
const shortestMs = 5
const longestMs = 35
/** How often a process looks whether the one that asks for all of them is still there. */
const electionMs = 500
/** If nobody has had an answer for so long, that one may have stopped, and whoever listens asks as well. */
const staleMs = 2_500

/**
 * Tells listeners that the journal has grown. One process of each machine asks the database, whichever has the lock for
 * it, and brings what is new into the copy; the others notice that by their file watch. So a waiting agent costs the
 * database nothing, and a machine costs it one short question every few milliseconds.
 */
export class Poller {
  readonly #store: Store
  readonly #wake: Wake
  readonly #lock: WriterLock
  #listeners = 0
  #stop: AbortController | undefined
  #running: Promise<void> | undefined

  constructor(store: Store, journalDir: string) {
    this.#store = store
    this.#wake = new Wake(journalDir, electionMs)
    this.#lock = new WriterLock(join(store.copy.dir, 'poll.lock'))
  }

  on(listener: () => void): () => void {
    const off = this.#wake.on(listener)
    if (++this.#listeners === 1) this.#start()
    let isOff = false
    return () => {
      if (isOff) return
      isOff = true
      off()
      if (--this.#listeners === 0) this.#stop?.abort()
    }
  }

  ring(): void {
    this.#wake.ring()
  }

  #start(): void {
    const stop = new AbortController()
    this.#stop = stop
    const before = this.#running
    this.#running = (async () => {
      await before
      while (!stop.signal.aborted) {
        await this.#lock.tryWith(() => this.#poll(stop.signal)).catch(() => {})
        await pause(electionMs, stop.signal, false)
        await this.#askIfStale().catch(() => {})
      }
    })()
  }

  async #askIfStale(): Promise<void> {
    const { copy, cutOff } = this.#store
    if (cutOff === undefined && Date.now() - (copy.checkedAt ?? 0) < staleMs) return
    const before = copy.end().seq
    await this.#store.pull()
    if (copy.end().seq !== before) this.#wake.ring()
  }

  async #poll(signal: AbortSignal): Promise<void> {
    let wait = shortestMs
    let seen = this.#store.copy.end().seq
    while (!signal.aborted) {
      try {
        // The answer to an append has told as much.
        if (performance.now() - this.#store.answeredAt > wait / 2) await this.#store.pull()
      } catch {
        // Whoever reads next is told. The listeners find out when they look.
        this.#wake.ring()
        wait = electionMs
      }
      const { seq } = this.#store.copy.end()
      const hasNews = seq !== seen
      seen = seq
      if (hasNews) this.#wake.ring()
      wait = hasNews ? shortestMs : Math.min(longestMs, wait * 1.5)
      await pause(wait, signal, false)
    }
  }

  async close(): Promise<void> {
    this.#stop?.abort()
    this.#wake.stop()
    await this.#running
    this.#lock.close()
  }
}
