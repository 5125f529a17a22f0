import { join } from 'node:path'
import { pause } from '../../base/timers.ts'
import { WriterLock } from '../file/lock.ts'
import { Wake } from '../file/wake.ts'
import type { Store } from './store.ts'

/** How often the end of the journal is asked for: at once after something came, and less and less until this. */
const shortestMs = 2
const longestMs = 35
/** How often a process looks whether the one that asks for all of them is still there. */
const electionMs = 500

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
      }
    })()
  }

  async #poll(signal: AbortSignal): Promise<void> {
    let wait = shortestMs
    while (!signal.aborted) {
      const before = this.#store.copy.end().seq
      try {
        await this.#store.pull()
      } catch {
        // Whoever reads next is told. The listeners find out when they look.
        this.#wake.ring()
        wait = electionMs
      }
      const hasNews = this.#store.copy.end().seq !== before
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
