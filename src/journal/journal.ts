import type { Draft, Entry, Gist } from '../model/entry.ts'

/** Where an entry's line lies: the number of its segment, the offset in it, its length. */
export interface Place {
  segment: number
  offset: number
  bytes: number
}

export interface Placed<E> {
  entry: E
  place: Place
}
export type PlacedEntry = Placed<Entry>

/** How far a reader has come. `sum` is the checksum of the last line, so that it can tell its own journal. */
export interface Cursor {
  seq: number
  segment: number
  offset: number
  sum: string
}

export const startCursor: Cursor = { seq: 0, segment: 1, offset: 0, sum: '' }

export interface ReadResult<E = Entry> {
  entries: Placed<E>[]
  cursor: Cursor
}

/**
 * Takes the gist of every entry since this journal's last decision, and returns the facts to append. It
 * runs with the exclusive right to the end of the journal; throwing appends nothing.
 */
export type Decide = (tail: readonly Gist[]) => Draft[]

export interface AppendOptions {
  /** Decide only when everything before is written, so that an index can be brought up to the end. */
  settled?: boolean
}

/**
 * The truth: an append-only sequence of entries. One implementation for each medium, one contract suite
 * (test/contract/journal.ts) for all.
 */
export interface Journal {
  /** Set when the journal was made; an index built from another journal does not fit. */
  readonly space: string
  /**
   * Rises when entries that a decision has seen did not make it into the journal (a full disk): whoever
   * folded them must fold anew from what the journal really holds.
   */
  readonly epoch: number
  /** Starts the next decision's tail after this cursor. False while appends are under way: nothing changes. */
  seek(cursor: Cursor): boolean
  /**
   * Resolves when the entries are durable. Entries of one call stand together, in order; a crash or a full
   * disk can cut the call behind any of them, so what must happen as a whole is one entry.
   */
  append(decide: Decide, options?: AppendOptions): Promise<PlacedEntry[]>
  /** Brings what others appended within reach of the calls below, which do not wait. On a local disk it is. */
  pull(): Promise<void> | undefined
  /** Entries after the cursor, about `maxBytes` of them at a time; none at the end. */
  read(cursor: Cursor, maxBytes?: number): ReadResult
  /** Whether the cursor's last line is the one this journal has there. */
  fits(cursor: Cursor): boolean
  /** True when nothing comes after the cursor. Costs a system call or two. */
  atEnd(cursor: Cursor): boolean
  /** Whether no later segment follows the cursor's: then only a piece of a line can be behind it. */
  inLast(cursor: Cursor): boolean
  /** The entry at a place, as it was written. */
  at(place: Place): Entry
  /** A cursor from which reading yields every entry after `seq`, and perhaps some before. */
  locate(seq: number): Cursor
  /** Calls back soon after something was appended, here or elsewhere. A wake carries no content. */
  onWake(listener: () => void): () => void
  /** Runs `work` with the exclusive right to write, for repairs of what hangs on the journal. */
  withLock<T>(work: () => T): T
  close(): Promise<void>
}
