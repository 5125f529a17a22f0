import type { MailboxError } from '../base/errors.ts'
import type { Draft, Entry, Gist, LateDraft, SegmentReason } from '../model/entry.ts'

/** Where an entry's line is: the number of its segment, its offset in it, its length. */
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

/** An entry with the checksum of its line, which stands for every byte of it. */
export interface SummedEntry<E = Entry> {
  entry: E
  sum: string
}

/** What a decision came to: its result, and the entries that make it durable. */
export interface Decided<T> {
  result: T
  placed: PlacedEntry[]
}

/** A reader's position. `sum` is the checksum of the last line read, so that another journal is recognized. */
export interface Cursor {
  seq: number
  segment: number
  offset: number
  sum: string
}

export const startCursor: Cursor = { seq: 0, segment: 1, offset: 0, sum: '' }

/**
 * A record that cannot be read: a line, or the pieces of one, whose checksum does not match. The lines around it
 * can. What is left of a write that was cut off is no damage: nobody was told that it was stored.
 */
export interface DamagedLine extends Place {
  /** The number of its first line in the segment, counted from 1. */
  line: number
  /** Its sequence number, by those of the entries around it. */
  seq: number
}

export interface ReadResult<E = Entry> {
  entries: Placed<E>[]
  /** Records on the way that cannot be read, in order. */
  damaged: DamagedLine[]
  /** Behind everything that was read. A damaged line at the end of the journal has taken its seq as well. */
  cursor: Cursor
}

/**
 * Gets the gist of every entry since the last decision, and returns the entries to append. What it returns or throws
 * counts only if nobody has appended anything meanwhile: a journal on this disk makes sure of that before, one in a
 * database afterwards, and then has it decided again. If it throws, nothing is appended. `end`: where the last of these
 * entries ends in the files, if that is known.
 */
export type Decide = (tail: readonly Gist[], end?: Cursor) => readonly (Draft | LateDraft)[]

export interface AppendOptions {
  /** Decide only after everything before is written, so that an index can be brought up to date. */
  settled?: boolean
  /** Begin a new segment for it, for this reason: it has a kind that the segment's format may not have. */
  begin?: SegmentReason
}

/** Since when the place where a journal is kept has not answered, and why. */
export interface CutOff {
  /** When this machine last knew where the journal ends, by its own clock, in ms since 1970. */
  since: number
  error: MailboxError
}

/** Old segments where the journal is kept, if that is not on this disk. */
export interface SourceArchive {
  /** Where the journal begins there, by the last answer. */
  readonly first: { segment: number; seq: number }
  /** Puts a segment into the archive there, under the name that its file has here. Once it is, this does nothing. */
  pack(segment: number, name: string, from: number, to: number): Promise<void>
  /** Removes everything before a segment, which begins with this entry. */
  removeBefore(segment: number, seq: number): Promise<void>
}

/**
 * The source of truth: an append-only sequence of entries. One implementation per medium, one contract suite
 * (test/contract/journal.ts) for all of them.
 */
export interface Journal {
  /** Set when the journal was created; an index built from another journal does not fit. */
  readonly space: string
  /** Whether others can append to it without a change to the files of this machine. @default false */
  readonly isElsewhere?: boolean
  /** Where it is kept, if that is in a database, without a password. */
  readonly address?: string
  /** Set while the place where the journal is kept does not answer: what is read is as old as that. */
  readonly cutOff?: CutOff | undefined
  /**
   * Rises when entries that a decision has seen are not in the journal after all: they did not reach it (a full
   * disk), or its files were moved, replaced or deleted; or when some that it should see cannot be read. State that
   * was folded from them must be rebuilt from what the journal really contains.
   */
  readonly epoch: number
  /** When another process last had the right to append while this one wanted it, by `performance.now()`. */
  readonly contendedAt: number
  /** Throws if what this journal reads and writes is no longer where it was opened. */
  mustBeInPlace(): void
  /** Starts the next decision's tail after this cursor. Returns false, and does nothing, while appends are running. */
  seek(cursor: Cursor): boolean
  /**
   * Resolves when the entries are durable. Entries of one call stay together, in order. A crash or a full
   * disk can cut the call after any of them, so what must happen as a whole is one entry.
   */
  append(decide: Decide, options?: AppendOptions): Promise<PlacedEntry[]>
  /** Makes what others appended readable by the calls below, which never wait. Needs nothing on a local disk. */
  pull(): Promise<void> | undefined
  /** The same for the files that machines share: settings, tokens and templates. */
  pullFiles(): Promise<void> | undefined
  /** Entries after the cursor, about `maxBytes` at a time; none only at the end. Steps over what is damaged. */
  read(cursor: Cursor, maxBytes?: number): ReadResult
  /** Whether the line before the cursor is the one this journal has there. */
  fits(cursor: Cursor): boolean
  /** Whether nothing follows the cursor. Costs a system call or two. */
  atEnd(cursor: Cursor): boolean
  /** Whether the cursor is in the last segment: then only a part of a line can follow it. */
  inLast(cursor: Cursor): boolean
  /** The entry at a place, as it was written. Undefined if it cannot be read. */
  at(place: Place): Entry | undefined
  /** The same with its checksum. */
  lineAt(place: Place): SummedEntry | undefined
  /** What was an entry at this place, if its line is damaged. Undefined if there is no damaged line at this place. */
  damageAt(place: Place): Omit<DamagedLine, 'seq'> | undefined
  /** A cursor from which reading yields every entry after `seq`, and perhaps some before. */
  locate(seq: number): Cursor
  /** Calls back soon after an append, by this process or another. A wake carries no content. */
  onWake(listener: () => void): () => void
  /** Set when the journal is kept elsewhere: see {@link isElsewhere}. */
  readonly sourceArchive?: SourceArchive
  /** What is wrong with the journal where it is kept, if that is not on this disk: one sentence each. */
  verifySource?(): Promise<string[]>
  /** Runs `work` while nobody else can write, for repairs of what depends on the journal. */
  withLock<T>(work: () => T): T
  close(): Promise<void>
}
