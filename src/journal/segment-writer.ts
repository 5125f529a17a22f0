import { hash } from 'node:crypto'
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, writeSync } from 'node:fs'
import type { MailboxError } from '../base/errors.ts'
import { syncDirectory } from '../base/files.ts'
import type { Draft, Entry, Gist, SegmentReason } from '../model/entry.ts'
import { isoTime, monthOf } from '../model/time.ts'
import { decodeGist, decodeLine, LineBuffer, noSum } from './codec.ts'
import type { Cursor, Placed, PlacedEntry } from './journal.ts'
import { type Fragment, SegmentReader } from './reader.ts'
import { openForAppend, segmentExists } from './segment.ts'
import { syncError, writeError } from './write-error.ts'

const newline = Buffer.from('\n')

/** A disk that confirms quicker than this may keep the event loop waiting. */
const quickSyncMs = 0.5

export type Durability = 'disk' | 'os'

export interface SegmentWriterOptions {
  space: string
  durability: Durability
  segmentBytes: number
  /** Entries after which a new segment begins; 0: no limit. */
  segmentEntries: number
  /** `month`: a new segment also begins with every month of the calendar (UTC). */
  rotate: 'size' | 'month'
  now: () => number
}

interface PendingLine {
  entry: Entry
  sum: string
  /** Where its line starts and ends (before the newline) in the buffer. */
  start: number
  end: number
}

/**
 * The end of the journal, for whoever holds the right to append. It knows where the last line ends, puts
 * lines behind it, and leaves the file whole whatever the disk says.
 */
export class SegmentWriter {
  readonly #dir: string
  readonly #options: SegmentWriterOptions
  readonly #reader: SegmentReader<Gist>
  #cursor: Cursor
  #fd: number | undefined
  #fdSegment = 0
  /** Lines encoded and numbered, not yet written. */
  #pending: PendingLine[] = []
  readonly #buffer = new LineBuffer()
  #pendingCursor: { seq: number; sum: string }
  #fragment: Fragment | undefined
  /** Set while the directory may not know the segment after a power loss. */
  #unsyncedName = false
  /** Syncs under way, and descriptors that may be closed once they are over. */
  #syncing = 0
  /** Set while something is written that no sync has been asked to confirm. */
  #unsynced = false
  #lateFailure: NodeJS.ErrnoException | undefined
  /** What a sync has taken lately. */
  #syncMs = 0
  #retired: number[] = []
  /**
   * Set when this segment must not be trusted further: after a failed sync its pages count as clean, after
   * a failed write it may end in half a line that could not be taken back.
   */
  #failure: 'sync_failed' | 'write_failed' | undefined
  /** Number and time of the first entry of the segment, once somebody has asked for them. */
  #start: { segment: number; seq: number; at: string } | undefined
  /** The segment that was begun last, and why; its first line may be refused and tried again. */
  #begun: { segment: number; reason: SegmentReason } | undefined

  constructor(dir: string, cursor: Cursor, options: SegmentWriterOptions) {
    this.#dir = dir
    this.#options = options
    this.#reader = new SegmentReader(dir, decodeGist)
    this.#cursor = cursor
    this.#pendingCursor = cursor
  }

  /** Goes on from another place, as when nothing had been read yet. */
  moveTo(cursor: Cursor): void {
    this.#cursor = cursor
    this.#pendingCursor = cursor
    this.#fragment = undefined
  }

  /**
   * Takes in whole lines that others wrote. Needs no right to append: lines that are there stay there. What
   * is read here need not be read while everybody waits.
   */
  readAhead(): Placed<Gist>[] {
    return this.#readOn().found
  }

  #readOn(): { found: Placed<Gist>[]; atEnd: boolean } {
    const found: Placed<Gist>[] = []
    while (!this.#reader.atEnd(this.#cursor)) {
      const { entries, cursor } = this.#reader.read(this.#cursor, 16 * 1_048_576)
      this.#cursor = cursor
      if (entries.length === 0) return { found, atEnd: this.#reader.atEnd(cursor) }
      for (const entry of entries) found.push(entry)
    }
    return { found, atEnd: true }
  }

  /** Takes in the rest, and sees to what a dead writer left. Only with the right to append, and with nothing pending. */
  catchUp(): Placed<Gist>[] {
    const { found, atEnd } = this.#readOn()
    this.#pendingCursor = this.#cursor
    if (atEnd) {
      this.#fragment = undefined
      return found
    }
    this.#fragment = this.#reader.fragment(this.#cursor)
    if (this.#fragment !== undefined && decodeLine(this.#fragment.bytes) !== undefined) {
      // The writer died between the line and its newline. The line is whole: finish it.
      this.#open()
      const { error } = writeAll(this.#fd!, newline)
      if (error !== undefined) throw writeError(error)
      return [...found, ...this.catchUp()]
    }
    return found
  }

  /** Opens a journal that has no line yet. */
  create(): void {
    this.#prepare()
    const { error } = this.flush()
    if (error !== undefined) throw error
    if (this.#options.durability === 'disk') this.#syncHere()
  }

  /** Numbers and encodes a draft; {@link flush} writes it. */
  add(draft: Draft): Entry {
    if (this.#pending.length === 0) this.#prepare()
    return this.#add(draft)
  }

  #add(draft: Draft): Entry {
    const seq = this.#pendingCursor.seq + 1
    const at = isoTime(this.#options.now())
    const start = this.#buffer.length
    const sum = this.#buffer.add(draft, seq, at, this.#pendingCursor.sum || noSum)
    const entry: Entry = { seq, at, ...draft }
    this.#pending.push({ entry, sum, start, end: this.#buffer.length - 1 })
    this.#pendingCursor = { seq, sum }
    return entry
  }

  /** Before the first line of a batch: a new segment if this one is full or failed, a seal if it is torn. */
  #prepare(): void {
    this.#open()
    const left = this.#failure ?? this.#fullBy()
    if (left !== undefined) this.#rotate(left)
    const { space } = this.#options
    if (this.#fragment !== undefined && this.#fragment.bytes.at(-1) !== 0x0a) this.#buffer.addSeal()
    if (this.#cursor.offset === 0) this.#add({ kind: 'segment', format: 1, space, reason: this.#reason() })
    if (this.#fragment !== undefined) {
      const { offset, bytes } = this.#fragment
      this.#add({ kind: 'torn', offset, bytes: bytes.length, digest: hash('sha256', bytes, 'hex') })
    }
  }

  /**
   * What fills the segment; undefined while it may grow. Asked once for each write, so one that gathers many
   * entries goes beyond the limit, but is never cut in two.
   */
  #fullBy(): SegmentReason | undefined {
    const { segmentBytes, segmentEntries, rotate, now } = this.#options
    if (this.#cursor.offset === 0) return undefined
    if (this.#cursor.offset >= segmentBytes) return 'size'
    if (segmentEntries === 0 && rotate === 'size') return undefined
    const start = this.#startOf(this.#cursor.segment)
    if (start === undefined) return undefined
    if (segmentEntries > 0 && this.#cursor.seq - start.seq + 1 >= segmentEntries) return 'count'
    return rotate === 'month' && monthOf(start.at) !== monthOf(isoTime(now())) ? 'month' : undefined
  }

  /** Why the segment was begun. Whoever began it may have died before saying so; mostly it is the size. */
  #reason(): SegmentReason {
    if (this.#cursor.seq === 0) return 'created'
    return this.#begun?.segment === this.#cursor.segment ? this.#begun.reason : 'size'
  }

  #startOf(segment: number): { seq: number; at: string } | undefined {
    if (this.#start?.segment !== segment) {
      const found = this.#reader.head(segment) ?? this.#reader.first(segment)
      this.#start = found && { segment, seq: found.seq, at: found.at }
    }
    return this.#start
  }

  #rotate(reason: SegmentReason): void {
    // Nothing may be durable in the new segment that follows something lost in the old one.
    if (this.#options.durability === 'disk' && this.#failure !== 'sync_failed') this.#syncHere()
    this.#cursor = { ...this.#cursor, segment: this.#cursor.segment + 1, offset: 0 }
    this.#begun = { segment: this.#cursor.segment, reason }
    this.#fragment = undefined
    this.#failure = undefined
    this.#open()
  }

  #syncHere(): void {
    const cause = syncInPlace(this.#fd!)
    this.#unsynced = false
    if (cause === null) return
    this.#failure = 'sync_failed'
    throw syncError(cause)
  }

  #open(): void {
    if (this.#fd === undefined || this.#fdSegment !== this.#cursor.segment) {
      this.#leaveSegment()
      const isNew = !segmentExists(this.#dir, this.#cursor.segment)
      // Only an archived copy of the last segment is left. That is closed: a second one of its number would hide it.
      if (isNew && this.#cursor.offset > 0)
        this.#cursor = { ...this.#cursor, segment: this.#cursor.segment + 1, offset: 0 }
      // A new file survives a power loss only when its directory entry does.
      this.#unsyncedName ||= isNew
      this.#fd = openForAppend(this.#dir, this.#cursor.segment)
      this.#fdSegment = this.#cursor.segment
    }
    if (this.#unsyncedName && this.#options.durability === 'disk') {
      try {
        syncDirectory(this.#dir)
      } catch (cause) {
        throw syncError(cause)
      }
    }
    this.#unsyncedName = false
  }

  /** Drops what was encoded and not written, back to the first `keep` lines; a decision was refused. */
  rewind(keep: number): void {
    this.#pending.length = keep
    const last = this.#pending.at(-1)
    this.#buffer.truncate(last === undefined ? 0 : last.end + 1)
    this.#pendingCursor = last === undefined ? this.#cursor : { seq: last.entry.seq, sum: last.sum }
  }

  get pendingCount(): number {
    return this.#pending.length
  }

  /**
   * Writes all pending lines with one write where the kernel allows. On a full disk some of them may be
   * in the file and the rest not: those that are have their place, and the error speaks of the others.
   */
  flush(): FlushOutcome {
    if (this.#pending.length === 0) return { placed: [], error: undefined }
    this.#open()
    const pending = this.#pending
    this.#pending = []
    const buffer = this.#buffer.bytes
    this.#buffer.truncate(0)
    const start =
      this.#fragment === undefined ? this.#cursor.offset : this.#fragment.offset + this.#fragment.bytes.length
    const written = writeAll(this.#fd!, buffer)
    this.#unsynced = true
    const placed = this.#place(pending, start, written.bytes)
    if (written.error === undefined) this.#fragment = undefined
    return {
      placed,
      error: written.error === undefined ? undefined : this.#takeBack(start, pending, written),
    }
  }

  /** Gives the lines that are complete in the file their places and moves the cursor behind them. */
  #place(pending: readonly PendingLine[], fileStart: number, written: number): PlacedEntry[] {
    const placed: PlacedEntry[] = []
    const segment = this.#fdSegment
    for (const { entry, sum, start, end } of pending) {
      if (end >= written) break
      placed.push({ entry, place: { segment, offset: fileStart + start, bytes: end - start } })
      this.#cursor = { seq: entry.seq, segment, offset: fileStart + end + 1, sum }
    }
    this.#pendingCursor = this.#cursor
    return placed
  }

  /** The disk took only a part. Lines that are complete stay (readers may have them); the rest goes. */
  #takeBack(fileStart: number, pending: readonly PendingLine[], written: WriteOutcome): MailboxError {
    const whole = pending.findLast(({ end }) => end < written.bytes)
    if (whole !== undefined) this.#fragment = undefined
    try {
      // A seal alone would hide the fragment without a note of it, so it goes as well.
      if (written.bytes > 0)
        ftruncateSync(this.#fd!, whole === undefined ? fileStart : fileStart + whole.end + 1)
    } catch {
      this.#failure = 'write_failed'
    }
    return writeError(written.error)
  }

  /**
   * Confirms everything written so far, then calls back. `alone`: nobody else has something to do in this
   * process, so on a quick disk it waits in place, which is a quarter quicker than by way of a thread.
   */
  sync(alone: boolean, done: (error?: MailboxError) => void): void {
    const fd = this.#fd
    if (this.#options.durability === 'os' || fd === undefined) {
      done()
      return
    }
    const late = this.#lateFailure
    this.#lateFailure = undefined
    if (late !== undefined) {
      done(syncError(late))
      return
    }
    this.#unsynced = false
    const started = performance.now()
    const finish = (cause: NodeJS.ErrnoException | null) => {
      this.#syncMs += (performance.now() - started - this.#syncMs) / 8
      if (cause !== null) this.#failure = 'sync_failed'
      done(cause === null ? undefined : syncError(cause))
    }
    if (alone && this.#syncing === 0 && this.#syncMs < quickSyncMs) {
      finish(syncInPlace(fd))
      return
    }
    this.#syncing++
    fdatasync(fd, (cause) => {
      this.#syncing--
      this.#closeRetired()
      finish(cause)
    })
  }

  /**
   * Somebody else opened the next segment. If it did so because its sync failed, ours was not tried yet, and
   * no sync of the new segment would speak of what we wrote to the old one.
   */
  #leaveSegment(): void {
    if (this.#unsynced && this.#fd !== undefined && this.#options.durability === 'disk') {
      this.#lateFailure ??= syncInPlace(this.#fd) ?? undefined
    }
    this.#unsynced = false
    this.#closeFd()
  }

  /** A descriptor is not closed under a running sync: its number could already belong to another file. */
  #closeFd(): void {
    if (this.#fd !== undefined) this.#retired.push(this.#fd)
    this.#fd = undefined
    this.#closeRetired()
  }

  #closeRetired(): void {
    if (this.#syncing === 0) for (const fd of this.#retired.splice(0)) closeSync(fd)
  }

  close(): void {
    this.#closeFd()
    this.#reader.close()
  }
}

function syncInPlace(fd: number): NodeJS.ErrnoException | null {
  try {
    fdatasyncSync(fd)
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

export interface FlushOutcome {
  placed: PlacedEntry[]
  error: MailboxError | undefined
}

interface WriteOutcome {
  bytes: number
  error: unknown
}

/** One `writeSync` may be cut short without an error, so the count is what counts. */
function writeAll(fd: number, buffer: Buffer): WriteOutcome {
  let bytes = 0
  try {
    while (bytes < buffer.length) {
      const count = writeSync(fd, buffer, bytes, buffer.length - bytes)
      if (count === 0) throw Object.assign(new Error('no progress'), { code: 'ENOSPC' })
      bytes += count
    }
    return { bytes, error: undefined }
  } catch (error) {
    return { bytes, error }
  }
}
