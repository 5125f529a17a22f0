import { hash } from 'node:crypto'
import type { MailboxError } from '../../base/errors.ts'
import { type Draft, type Entry, type Gist, journalFormat, type SegmentReason } from '../../model/entry.ts'
import { isoTime } from '../../model/time.ts'
import { decodeGist, decodeLine } from '../codec.ts'
import { type Cursor, type Placed, type PlacedEntry, startCursor } from '../journal.ts'
import { Batch, type BatchLine, type FlushOutcome } from './batch.ts'
import { writeLowest } from './first-mark.ts'
import { HeadMark } from './head-mark.ts'
import { closeDamaged, findLoss, type Loss } from './loss.ts'
import { fileIn } from './mirrored-file.ts'
import { Rotation, type RotationOptions } from './rotation.ts'
import { segmentExists } from './segment.ts'
import type { Durability, SegmentFile, WriteOutcome } from './segment-file.ts'
import type { SegmentOrder } from './segment-order.ts'
import { type Fragment, SegmentReader } from './segment-reader.ts'
import { misplacedError, writeError } from './write-error.ts'

const newline = Buffer.from('\n')

export interface SegmentWriterOptions extends RotationOptions {
  space: string
  durability: Durability
  /** The directory of a second copy of the journal. @default none */
  mirror?: string | undefined
  /** Called with the lock, before entries are written; with none when it is not known which. */
  beforeWrite?: ((entries: readonly Entry[]) => void) | undefined
  /** Whether the lock that this process holds is still the one of the files at their paths. */
  isLocked: () => boolean
  /** The order that the readers of this journal have found. */
  order?: SegmentOrder | undefined
}

/**
 * The end of the journal, for the process that holds the writer lock. It knows where the last line ends,
 * appends lines after it, and leaves the file intact whatever the disk reports.
 */
export class SegmentWriter {
  readonly #dir: string
  readonly #options: SegmentWriterOptions
  readonly #reader: SegmentReader<Gist>
  readonly #file: SegmentFile
  readonly #rotation: Rotation
  #cursor: Cursor = startCursor
  readonly #batch = new Batch()
  #fragment: Fragment | undefined
  /** Rises when it has met records that cannot be read. */
  damagedCount = 0
  readonly #head: HeadMark
  /** Where this process has written to. */
  #written: Cursor = startCursor
  /** Found while catching up, and not in the journal yet. */
  #loss: Loss | undefined
  /** The segment may end in half a line that could not be removed, so nothing more is appended to it. */
  #writeFailed = false
  #replaced = 0
  /** Why the next line begins a new segment, if it does. */
  begins: SegmentReason | undefined

  constructor(dir: string, options: SegmentWriterOptions) {
    this.#dir = dir
    this.#options = options
    this.#reader = new SegmentReader(dir, decodeGist, { order: options.order })
    this.#reader.space = options.space
    this.#file = fileIn(dir, options)
    const seqOf = (segment: number) => this.#reader.head(segment)?.seq
    this.#head = new HeadMark(dir, options.space, (fd) => writeLowest(fd, dir, options.space, seqOf))
    const readStart = (segment: number) => this.#reader.head(segment) ?? this.#reader.first(segment)
    this.#rotation = new Rotation(options, readStart)
  }

  /** Continues from another cursor, as if nothing had been read yet. */
  moveTo(cursor: Cursor): void {
    this.#cursor = cursor
    this.#batch.startAfter(cursor)
    this.#fragment = undefined
  }

  /** Reads complete lines of other processes. Those stay, so it needs no lock, and leaves less to read with it. */
  readAhead = (): Placed<Gist>[] => this.#readOn().found

  #readOn(): { found: Placed<Gist>[]; atEnd: boolean } {
    const found: Placed<Gist>[] = []
    while (!this.#reader.atEnd(this.#cursor)) {
      const { entries, damaged, cursor } = this.#reader.read(this.#cursor, 16 * 1_048_576)
      this.damagedCount += damaged.length
      this.#cursor = cursor
      // A damaged line is not to be trusted with the sum that the next one is chained to.
      if (damaged.length > 0) cursor.sum = this.#head.sumAt(cursor.seq) ?? cursor.sum
      if (entries.length === 0) return { found, atEnd: this.#reader.atEnd(cursor) }
      for (const entry of entries) found.push(entry)
    }
    return { found, atEnd: true }
  }

  /**
   * The files are others than they were: forgets what was known of them. Decisions are taken on what is there.
   */
  restart(): void {
    this.#file.close()
    this.#reader.close()
    this.#head.close()
    this.#loss = undefined
    this.moveTo(this.#fits() ? this.#cursor : startCursor)
    this.#replaced = this.#reader.replaced
  }

  #fits(): boolean {
    try {
      return this.#reader.fits(this.#cursor)
    } catch {
      return false // The space is gone; whoever wants to use it is told.
    }
  }

  /** Reads the rest, and repairs what a killed writer left. Only with the lock, and with nothing pending. */
  catchUp(): Placed<Gist>[] {
    const { found, atEnd } = this.#readOn()
    if (this.#reader.replaced !== this.#replaced) throw misplacedError(this.#dir, this.#cursor.segment)
    this.#batch.startAfter(this.#cursor)
    this.#fragment = atEnd ? undefined : this.#reader.fragment(this.#cursor)
    if (this.#fragment !== undefined && decodeLine(this.#fragment.bytes) !== undefined) {
      // The writer was killed between the line and its newline. The line is complete: finish it.
      this.#open()
      this.#options.beforeWrite?.([])
      const { error } = this.#file.write(newline)
      if (error !== undefined) throw writeError(error)
      return [...found, ...this.catchUp()]
    }
    // Another process may have recorded it meanwhile.
    if (found.length > 0) this.#loss = undefined
    this.#loss ??= this.#findLoss()
    return found
  }

  /** What was acknowledged, or read by this process, and is not there any more. */
  #findLoss(): Loss | undefined {
    const marked = this.#head.beyond(this.#cursor.seq)
    const known = marked ?? (this.#reader.isCut(this.#cursor) ? this.#cursor : undefined)
    return known && findLoss(this.#reader, this.#dir, known)
  }

  /** Writes the first line of an empty journal. */
  create(): void {
    this.#prepare()
    const { error } = this.flush()
    if (error !== undefined) throw error
    this.#file.syncNow()
    this.#mark(this.#written)
  }

  /** Numbers and encodes a draft; {@link flush} writes it. */
  add(draft: Draft): Entry {
    if (this.#batch.length === 0) this.#prepare()
    return this.#add(draft)
  }

  #add = (draft: Draft): Entry => this.#batch.add(draft, isoTime(this.#options.now()))

  /** Before the first line of a batch: a new segment if this one is full or failed, a seal if it is torn. */
  #prepare(): void {
    if (this.#loss !== undefined) this.#continueAfter(this.#loss)
    this.#open()
    if (this.#file.syncFailed) this.#rotate('sync_failed')
    else if (this.#writeFailed) this.#rotate('write_failed')
    else {
      const begins = this.#cursor.offset > 0 ? this.begins : undefined
      const reason = begins ?? this.#rotation.fullBy(this.#cursor)
      if (reason !== undefined) this.#rotate(reason)
    }
    this.begins = undefined
    if (this.#fragment !== undefined && this.#fragment.bytes.at(-1) !== 0x0a) this.#batch.addSeal()
    if (this.#cursor.offset === 0) {
      const reason = this.#rotation.reasonFor(this.#cursor)
      this.#add({ kind: 'segment', format: journalFormat, space: this.#options.space, reason })
    }
    if (this.#fragment !== undefined) {
      const { offset, bytes } = this.#fragment
      this.#add({ kind: 'torn', offset, bytes: bytes.length, digest: hash('sha256', bytes, 'hex') })
    }
    if (this.#loss !== undefined) this.#add(this.#loss.draft)
  }

  #continueAfter(loss: Loss): void {
    if (this.#cursor.segment === loss.next) return
    closeDamaged(this.#dir, loss)
    this.#rotation.begin(loss.next, 'damaged')
    this.#startSegment({ ...loss.known, segment: loss.next, offset: 0 })
  }

  #rotate(reason: SegmentReason): void {
    // Nothing in the new segment may be durable if it follows something that was lost in the old one.
    if (!this.#file.syncFailed) this.#file.syncNow()
    this.#rotation.begin(this.#cursor.segment + 1, reason)
    this.#startSegment(this.#nextSegment)
    this.#open()
  }

  #startSegment(cursor: Cursor): void {
    this.#cursor = cursor
    this.#batch.startAfter(cursor)
    this.#fragment = undefined
    this.#file.syncFailed = false
    this.#writeFailed = false
  }

  get #nextSegment(): Cursor {
    return { ...this.#cursor, segment: this.#cursor.segment + 1, offset: 0 }
  }

  #open(): void {
    if (!this.#file.isOpen(this.#cursor.segment)) {
      const { segment } = this.#cursor
      const isNew = !segmentExists(this.#dir, segment)
      // Only an archived copy of the last segment is left. It is closed: a new file of its number would hide it.
      if (isNew && this.#cursor.offset > 0) this.#cursor = this.#nextSegment
      // A file of another space or of another segment was put here. It is nobody's to write to.
      while (!this.#reader.isOurs(this.#cursor.segment)) this.#cursor = this.#nextSegment
      if (this.#cursor.segment !== segment) this.#fragment = undefined
      this.#file.open(this.#cursor.segment, this.#options.isLocked)
    }
    this.#file.syncName()
  }

  /** Drops pending lines, back to the first `keep`: a decision was refused. */
  rewind = (keep: number): void => this.#batch.rewind(keep, this.#cursor)
  pendingCount = (): number => this.#batch.length

  /** Where the journal ends, as far as it was read or written here. */
  end = (): Cursor => this.#cursor

  /**
   * Writes all pending lines, with a single write if the kernel allows. On a full disk only some of them may
   * be in the file: those have their place, and the error is about the others.
   */
  flush(): FlushOutcome {
    if (this.#batch.length === 0) return { placed: [], error: undefined }
    this.#open()
    const { lines: pending, bytes: buffer } = this.#batch.take()
    const start =
      this.#fragment === undefined ? this.#cursor.offset : this.#fragment.offset + this.#fragment.bytes.length
    this.#options.beforeWrite?.(pending.map(({ entry }) => entry))
    const written = this.#file.write(buffer)
    // The lock was removed while we had it, and another process wrote as well: our lines are not where we meant them.
    if (written.error === undefined && this.#file.size !== start + buffer.length)
      return { placed: [], error: misplacedError(this.#dir, this.#file.segment) }
    const placed = this.#place(pending, start, written.bytes)
    if (written.error !== undefined) return { placed, error: this.#takeBack(start, pending, written) }
    this.#fragment = undefined
    return { placed, error: undefined }
  }

  /** Gives each line that is complete in the file its place, and moves the cursor behind it. */
  #place(pending: readonly BatchLine[], fileStart: number, written: number): PlacedEntry[] {
    const placed: PlacedEntry[] = []
    const { segment } = this.#file
    for (const { entry, sum, start, end } of pending) {
      if (end >= written) break
      placed.push({ entry, place: { segment, offset: fileStart + start, bytes: end - start } })
      this.#cursor = { seq: entry.seq, segment, offset: fileStart + end + 1, sum }
      if (entry.kind === 'damage') this.#loss = undefined
    }
    this.#written = this.#cursor
    this.#batch.startAfter(this.#cursor)
    return placed
  }

  /** The disk took only a part. Complete lines stay, because readers may have seen them; the rest is removed. */
  #takeBack(fileStart: number, pending: readonly BatchLine[], written: WriteOutcome): MailboxError {
    const complete = pending.findLast(({ end }) => end < written.bytes)
    if (complete !== undefined) this.#fragment = undefined
    try {
      // A seal alone would hide the fragment without a note about it, so it is removed as well.
      if (written.bytes > 0)
        this.#file.truncate(complete === undefined ? fileStart : fileStart + complete.end + 1)
    } catch {
      this.#writeFailed = true
    }
    return writeError(written.error)
  }

  /** See {@link SegmentFile.sync}. What it has confirmed is marked before anybody is told. */
  sync(alone: boolean, done: (error?: MailboxError) => void): void {
    const written = this.#written
    this.#file.sync(alone, (error) => {
      if (error === undefined) this.#mark(written)
      done(error)
    })
  }

  #mark({ seq, segment, offset, sum }: Cursor): void {
    this.#head.write({ seq, segment, end: offset, sum })
  }

  close(): void {
    this.#file.close()
    this.#head.close()
    this.#reader.close()
  }
}
