import { hash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { syncPathTo } from '../../base/files.ts'
import type { Entry } from '../../model/entry.ts'
import { decodeLine, looksWhole, refuseOtherFormat } from '../codec.ts'
import { mustNotBeMoved } from '../copy/origin.ts'
import type {
  AppendOptions,
  Cursor,
  DamagedLine,
  Decide,
  Journal,
  Place,
  PlacedEntry,
  ReadResult,
  SummedEntry,
} from '../journal.ts'
import { correctBit } from '../salvage.ts'
import { AppendQueue } from './append-queue.ts'
import { readHead } from './head-mark.ts'
import { WriterLock } from './lock.ts'
import { goneError, listArchived, listPlain, listSegments } from './segment.ts'
import { SegmentOrder } from './segment-order.ts'
import { locateIn, SegmentReader } from './segment-reader.ts'
import { SegmentWriter, type SegmentWriterOptions } from './segment-writer.ts'
import { Wake } from './wake.ts'
import { syncing } from './write-error.ts'

export interface FileJournalOptions
  extends Partial<Omit<SegmentWriterOptions, 'space' | 'order' | 'isLocked'>> {
  /** The space's directory; segments go into `journal/` below it. */
  dir: string
  /** @default 500 */
  pollMs?: number
  /** @default 60_000 */
  lockTimeoutMs?: number
  /** The journal itself is elsewhere; this is for reading. @default false */
  isCopy?: boolean
  /** Nothing is written, and whoever wants to gets this error. */
  refusal?: MailboxError | undefined
  /** Called when a batch has been written and the disk is confirming it: time for other work. */
  onWritten?: () => void
}

const writerDefaults = {
  durability: 'disk',
  segmentBytes: 16 * 1_048_576,
  segmentEntries: 0,
  rotate: 'size',
  now: () => Date.now(),
} as const

/** The journal on a local disk: numbered files of lines (segments), shared by any number of processes. */
export class FileJournal implements Journal {
  readonly space: string
  readonly #dir: string
  readonly #isCopy: boolean
  readonly #refusal: MailboxError | undefined
  readonly #lock: WriterLock
  readonly #lockTimeoutMs: number
  readonly #reader: SegmentReader<Entry>
  readonly #writer: SegmentWriter
  readonly #queue: AppendQueue
  readonly #wake: Wake
  #isOpen = false

  constructor(options: FileJournalOptions) {
    this.#dir = join(options.dir, 'journal')
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    this.#isCopy = options.isCopy ?? false
    this.#refusal = options.refusal
    this.#lockTimeoutMs = options.lockTimeoutMs ?? 60_000
    // The files may also have been replaced after they were first read, before anything was written to them.
    this.#lock = new WriterLock(join(options.dir, 'lock'), () => this.mustBeInPlace())
    const order = new SegmentOrder()
    this.#reader = new SegmentReader(this.#dir, decodeLine, { order })
    this.#wake = new Wake(this.#dir, options.pollMs ?? 500)
    this.space = this.#readSpace() ?? this.withLock(() => this.#readSpace() ?? this.#create(options))
    this.#reader.space = this.space
    this.#writer = this.#newWriter(options, this.space, order)
    const { onWritten } = options
    this.#queue = new AppendQueue(this.#writer, this.#lock, this.#lockTimeoutMs, () => {
      this.#wake.ring()
      onWritten?.()
    })
    this.#isOpen = true
  }

  #newWriter(options: FileJournalOptions, space: string, order?: SegmentOrder): SegmentWriter {
    const isLocked = () => this.#lock.isInPlace()
    return new SegmentWriter(this.#dir, { ...writerDefaults, ...options, space, order, isLocked })
  }

  #create(options: FileJournalOptions): string {
    const space = randomUUID()
    const writer = this.#newWriter(options, space)
    // A process may have been killed after the first line, before its newline. Catching up adds the newline.
    writer.catchUp()
    const found = this.#readSpace()
    if (found === undefined) {
      // Once there is a first line, nobody asks any more whether the way to it is on disk.
      if (options.durability !== 'os') syncing(() => syncPathTo(options.dir))
      writer.create()
    }
    writer.close()
    return found ?? space
  }

  #readSpace(): string | undefined {
    const segments = [...listPlain(this.#dir), ...listArchived(this.#dir).keys()]
    const marked = readHead(this.#dir)?.space
    return this.#spaceIn(segments, marked) ?? marked ?? this.#damagedSpaceIn(segments)
  }

  /**
   * Every segment begins with the space it belongs to; one readable header is enough. A segment of another space may
   * have been put among ours, so the one that the head mark names comes first.
   */
  #spaceIn(segments: readonly number[], marked: string | undefined): string | undefined {
    let other: string | undefined
    for (const segment of segments) {
      const first = this.#reader.first(segment)
      if (first?.kind !== 'segment') refuseOtherFormat(this.#reader.firstLine(segment))
      else if (marked === undefined || first.space === marked) return first.space
      else other ??= first.space
    }
    return other
  }

  /** No header can be read. Every process must come to the same identity, or each would build its own index. */
  #damagedSpaceIn(segments: readonly number[]): string | undefined {
    const lines = segments.map((segment) => this.#reader.firstLine(segment)).filter(looksWhole)
    for (const line of lines) {
      // It may have been written a moment ago, after the look at the headers.
      const entry = decodeLine(line)?.entry ?? correctBit(line, decodeLine)
      if (entry?.kind === 'segment') return entry.space
    }
    return lines[0] && hash('sha256', lines[0], 'hex').slice(0, 32)
  }

  get epoch(): number {
    return this.#queue.epoch + this.#reader.replaced
  }

  get contendedAt(): number {
    return this.#queue.contendedAt
  }

  mustBeInPlace(): void {
    if (!this.#isCopy) mustNotBeMoved(dirname(this.#dir))
    // While it is opened, nobody knows yet which space it is.
    if (!this.#isOpen) return
    const found = this.#readSpace()
    if (found === this.space) return
    const dir = dirname(this.#dir)
    if (found === undefined) throw goneError(dir)
    throw new MailboxError('damaged', `${dir} is another space now`, {
      hint: 'its files were replaced while they were in use: end this process and start it again',
    })
  }

  seek(cursor: Cursor): boolean {
    return this.#queue.seek(cursor)
  }

  withLock<T>(work: () => T): T {
    if (this.#refusal !== undefined) throw this.#refusal
    return this.#lock.withSync(work, this.#lockTimeoutMs)
  }

  append(decide: Decide, options?: AppendOptions): Promise<PlacedEntry[]> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    return this.#queue.append(decide, options)
  }

  pull(): undefined {}

  pullFiles(): undefined {}

  read(cursor: Cursor, maxBytes = 1_048_576): ReadResult {
    return this.#reader.read(cursor, maxBytes)
  }

  fits(cursor: Cursor): boolean {
    return this.#reader.fits(cursor)
  }

  atEnd(cursor: Cursor): boolean {
    return this.#reader.atEnd(cursor)
  }

  inLast({ segment }: Cursor): boolean {
    return (listSegments(this.#dir).at(-1) ?? segment) <= segment
  }

  at(place: Place): Entry | undefined {
    return this.#reader.at(place)
  }

  lineAt(place: Place): SummedEntry | undefined {
    return this.#reader.lineAt(place)
  }

  damageAt(place: Place): Omit<DamagedLine, 'seq'> | undefined {
    return this.#reader.damageAt(place)
  }

  locate(seq: number): Cursor {
    return locateIn(this.#reader, this.#dir, seq)
  }

  onWake(listener: () => void): () => void {
    return this.#wake.on(listener)
  }

  async close(): Promise<void> {
    await this.#queue.close()
    this.#wake.stop()
    this.#writer.close()
    this.#reader.close()
    this.#lock.close()
  }
}
