/** Histories are built once in a run, by whoever asks first, and shared by all measurements. */
import { cpSync, lstatSync } from 'node:fs'
import { Child } from './child.mjs'
import { dropDir, scratchDir } from './scratch.mjs'

/** A history of this length may still be copied for a measurement that adds to it. */
const copyable = 200_000

export class Histories {
  #progress
  #built = new Map()

  constructor(progress) {
    this.#progress = progress
  }

  /** The directory of a history, built if need be. */
  get(reader, n, shape) {
    const key = `${reader} ${n} ${shape}`
    if (!this.#built.has(key)) {
      this.#built.set(key, shape === 'expired' ? this.#copyUnread(reader, n) : this.#build(reader, n, shape))
    }
    return this.#built.get(key)
  }

  async #build(reader, n, shape) {
    this.#progress.note(`building a history of ${n.toLocaleString('en')} messages, ${shape} (${reader})`)
    const dir = scratchDir(`history-${reader}`)
    const child = new Child('asker.mjs', `fill-${reader}-${shape}-${n}`)
    try {
      await child.ask('fill', { reader, dir, n, shape }, (share) => this.#progress.within(share))
    } finally {
      await child.stop()
    }
    return dir
  }

  /** What has expired is the unread history, seen later; a copy, in case that leaves marks. */
  async #copyUnread(reader, n) {
    const unread = await this.get(reader, n, 'unread')
    const dir = scratchDir('expired')
    copySpace(unread, dir)
    cpSync(`${unread}.probes.json`, `${dir}.probes.json`)
    return dir
  }

  /** Builds several, two at a time. */
  async prepare(wanted) {
    const left = wanted.toSorted((a, b) => b.n - a.n)
    const worker = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await this.get(next.reader, next.n, next.shape)
    }
    await Promise.all([worker(), worker()])
  }

  /** A history that may be added to: a copy where that is cheap, otherwise the thing itself. */
  async writable(reader, n, shape) {
    const dir = await this.get(reader, n, shape)
    if (n > copyable) return { dir, drop: () => {} }
    const copy = scratchDir('copy')
    copySpace(dir, copy)
    return { dir: copy, drop: () => dropDir(copy) }
  }

  async drop(reader, n, shape) {
    const key = `${reader} ${n} ${shape}`
    const dir = await this.#built.get(key)
    this.#built.delete(key)
    if (dir !== undefined) dropDir(dir)
  }
}

/** The socket of a desk that was killed cannot be copied, and is of no use in a copy. */
function copySpace(from, to) {
  cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSocket() })
}
