import type { MailboxError } from '../../base/errors.ts'
import type { Draft, Entry } from '../../model/entry.ts'
import { LineBuffer, noSum } from '../codec.ts'
import { type PlacedEntry, startCursor } from '../journal.ts'

export interface BatchLine {
  entry: Entry
  sum: string
  /** Where its line starts and ends (before the newline) in the buffer. */
  start: number
  end: number
}

/** What became of a batch: the entries that are in the file, and why the others are not. */
export interface FlushOutcome {
  placed: PlacedEntry[]
  error: MailboxError | undefined
}

/** Lines that are numbered, chained and encoded, but not written yet. */
export class Batch {
  #lines: BatchLine[] = []
  readonly #buffer = new LineBuffer()
  #last: { seq: number; sum: string } = startCursor

  get length(): number {
    return this.#lines.length
  }

  /** The next line follows this entry. Only while the batch is empty. */
  startAfter({ seq, sum }: { seq: number; sum: string }): void {
    this.#last = { seq, sum }
  }

  addSeal(): void {
    this.#buffer.addSeal()
  }

  add(draft: Draft, at: string): Entry {
    const seq = this.#last.seq + 1
    const start = this.#buffer.length
    const sum = this.#buffer.add(draft, seq, at, this.#last.sum || noSum)
    const entry: Entry = { seq, at, ...draft }
    this.#lines.push({ entry, sum, start, end: this.#buffer.length - 1 })
    this.#last = { seq, sum }
    return entry
  }

  /** Drops lines, back to the first `keep`. If none is left, the next one follows `before`. */
  rewind(keep: number, before: { seq: number; sum: string }): void {
    this.#lines.length = keep
    const last = this.#lines.at(-1)
    this.#buffer.length = last === undefined ? 0 : last.end + 1
    this.startAfter(last === undefined ? before : { seq: last.entry.seq, sum: last.sum })
  }

  /** Empties the batch. The bytes are good until the next line is added. */
  take(): { lines: BatchLine[]; bytes: Buffer } {
    const lines = this.#lines
    const { bytes } = this.#buffer
    this.#lines = []
    this.#buffer.length = 0
    return { lines, bytes }
  }
}
