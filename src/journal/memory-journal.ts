import { randomUUID } from 'node:crypto'
import { MailboxError } from '../base/errors.ts'
import type { Draft, Entry } from '../model/entry.ts'
import { isoTime } from '../model/time.ts'
import { decodeLine, LineBuffer, noSum } from './codec.ts'
import type { PlacedEntry, ReadResult } from './journal.ts'
import {
  type AppendOptions,
  type Cursor,
  type Decide,
  type Journal,
  type Place,
  startCursor,
} from './journal.ts'

export interface MemoryJournalOptions {
  /** @default Date.now */
  now?: () => number
}

/** A journal that lives as long as its process. Lines go through the same codec, so nothing is laxer here. */
export class MemoryJournal implements Journal {
  readonly space = randomUUID()
  readonly epoch = 0
  readonly #now: () => number
  readonly #lines: { line: Buffer; sum: string; entry: Entry }[] = []
  readonly #listeners = new Set<() => void>()
  #decided = 0
  #closed = false

  constructor(options: MemoryJournalOptions = {}) {
    this.#now = options.now ?? Date.now
    this.#push([{ kind: 'segment', format: 1, space: this.space, reason: 'created' }])
  }

  #push(drafts: readonly Draft[]): PlacedEntry[] {
    const before = this.#lines.length
    try {
      return drafts.map((draft) => {
        const seq = this.#lines.length + 1
        const buffer = new LineBuffer()
        const sum = buffer.add(draft, seq, isoTime(this.#now()), this.#lines.at(-1)?.sum ?? noSum)
        const line = buffer.bytes.subarray(0, -1)
        const { entry } = decodeLine(line)!
        this.#lines.push({ line, sum, entry })
        return { entry, place: placeOf(seq, line) }
      })
    } catch (error) {
      this.#lines.length = before
      throw error
    }
  }

  seek(cursor: Cursor): boolean {
    this.#decided = cursor.seq
    return true
  }

  async append(decide: Decide, _options: AppendOptions = {}): Promise<PlacedEntry[]> {
    if (this.#closed) throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
    const tail = this.#lines.slice(this.#decided).map(({ entry }) => entry)
    this.#decided = this.#lines.length
    const placed = this.#push(decide(tail))
    for (const listener of [...this.#listeners]) listener()
    return placed
  }

  pull(): undefined {}

  read(cursor: Cursor, maxBytes = 1_048_576): ReadResult {
    const entries: PlacedEntry[] = []
    let read = 0
    let next = cursor
    for (let seq = cursor.seq + 1; seq <= this.#lines.length && read < maxBytes; seq++) {
      const { line, sum, entry } = this.#lines[seq - 1]!
      entries.push({ entry, place: placeOf(seq, line) })
      read += line.length
      next = { seq, segment: 1, offset: seq, sum }
    }
    return { entries, cursor: next }
  }

  fits(cursor: Cursor): boolean {
    return cursor.seq === 0 || this.#lines[cursor.seq - 1]?.sum === cursor.sum
  }

  atEnd(cursor: Cursor): boolean {
    return cursor.seq >= this.#lines.length
  }

  inLast(): boolean {
    return true
  }

  at(place: Place): Entry {
    const found = this.#lines[place.offset - 1]
    if (found === undefined) throw new MailboxError('damaged', `no entry at ${place.offset}`)
    return found.entry
  }

  locate(seq: number): Cursor {
    return { ...startCursor, seq }
  }

  onWake(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  withLock<T>(work: () => T): T {
    return work()
  }

  async close(): Promise<void> {
    this.#closed = true
  }
}

const placeOf = (seq: number, line: Buffer): Place => ({ segment: 1, offset: seq, bytes: line.length })
