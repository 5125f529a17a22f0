import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import type { Draft, Entry, Gist } from '../model/entry.ts'
import { decodeLine } from './codec.ts'
import type { PlacedEntry, ReadResult } from './journal.ts'
import {
  type AppendOptions,
  type Cursor,
  type Decide,
  type Journal,
  type Place,
  startCursor,
} from './journal.ts'
import { WriterLock } from './lock.ts'
import { SegmentReader } from './reader.ts'
import { listArchived, listPlain, listSegments } from './segment.ts'
import { type Durability, SegmentWriter } from './segment-writer.ts'
import { Wake } from './wake.ts'
import { writeError } from './write-error.ts'

export interface FileJournalOptions {
  /** The space's directory; segments go into `journal/` below it. */
  dir: string
  /** `os` resolves when the kernel has the bytes, `disk` when the disk has confirmed them. @default 'disk' */
  durability?: Durability
  /** @default 16 MiB */
  segmentBytes?: number
  /** Entries after which a new segment begins. @default 0, no limit */
  segmentEntries?: number
  /** `month`: a new segment also begins with every month of the calendar (UTC). @default 'size' */
  rotate?: 'size' | 'month'
  /** @default 500 */
  pollMs?: number
  /** @default 60_000 */
  lockTimeoutMs?: number
  /** @default Date.now */
  now?: () => number
  /** Called when a batch is written and the disk is busy confirming it: time for other work. */
  onWritten?: () => void
}

interface Request {
  decide: Decide
  settled: boolean
  entries: Entry[]
  resolve: (entries: PlacedEntry[]) => void
  reject: (error: unknown) => void
}

/** How long appends may follow one another without a turn of the event loop. */
const yieldMs = 4

/**
 * The journal on a local disk.
 *
 * Appends are gathered and written together: while one batch is being confirmed by the disk, the next
 * one is decided and written, and one `fdatasync` then confirms whatever has been written by the time
 * it starts. The lock is held for catching up, deciding and writing, never for the sync.
 */
export class FileJournal implements Journal {
  readonly space: string
  epoch = 0
  readonly #dir: string
  readonly #lock: WriterLock
  readonly #lockTimeoutMs: number
  readonly #reader: SegmentReader<Entry>
  readonly #wake: Wake
  readonly #onWritten: () => void
  readonly #writer: SegmentWriter
  #queue: Request[] = []
  /** Entries that no decision of this process has seen yet. */
  #tail: Gist[] = []
  /** Written, waiting for the disk's word. */
  #unconfirmed: { request: Request; placed: PlacedEntry[] }[] = []
  #draining: Promise<void> | undefined
  #syncing = false
  /** Somebody else had the lock when we last wanted it: worth reading ahead. */
  #crowded = false
  /** Called when the last sync is over; set while closing. */
  #idle: (() => void) | undefined
  #closed = false
  #yieldedAt = 0

  constructor(options: FileJournalOptions) {
    this.#dir = join(options.dir, 'journal')
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    this.#onWritten = options.onWritten ?? (() => {})
    this.#lockTimeoutMs = options.lockTimeoutMs ?? 60_000
    this.#lock = new WriterLock(join(options.dir, 'lock'))
    this.#reader = new SegmentReader(this.#dir, decodeLine)
    this.#wake = new Wake(this.#dir, options.pollMs ?? 500)
    const newWriter = (space: string) =>
      new SegmentWriter(this.#dir, startCursor, {
        space,
        durability: options.durability ?? 'disk',
        segmentBytes: options.segmentBytes ?? 16 * 1_048_576,
        segmentEntries: options.segmentEntries ?? 0,
        rotate: options.rotate ?? 'size',
        now: options.now ?? Date.now,
      })
    const create = () => {
      const space = randomUUID()
      const writer = newWriter(space)
      // Somebody may have died over the first line, all but its newline: catching up ends it.
      writer.catchUp()
      const found = this.#readSpace()
      if (found === undefined) writer.create()
      writer.close()
      return found ?? space
    }
    this.space = this.#readSpace() ?? this.withLock(() => this.#readSpace() ?? create())
    this.#writer = newWriter(this.space)
  }

  #readSpace(): string | undefined {
    return this.#spaceIn(listPlain(this.#dir)) ?? this.#spaceIn(listArchived(this.#dir).keys())
  }

  /** Every segment opens with the space it belongs to; one readable header is enough. */
  #spaceIn(segments: Iterable<number>): string | undefined {
    for (const segment of segments) {
      const first = this.#reader.first(segment)
      if (first?.kind === 'segment') return first.space
      this.#reader.refuseOtherFormat(segment)
    }
    return undefined
  }

  seek(cursor: Cursor): boolean {
    if (this.#draining !== undefined || this.#syncing) return false
    this.#writer.moveTo(cursor)
    this.#tail = []
    return true
  }

  withLock<T>(work: () => T): T {
    return this.#lock.withSync(work, this.#lockTimeoutMs)
  }

  append(decide: Decide, options: AppendOptions = {}): Promise<PlacedEntry[]> {
    if (this.#closed)
      return Promise.reject(new MailboxError('closed', 'the space is closed', { hint: 'open it again' }))
    return new Promise((resolve, reject) => {
      this.#queue.push({ decide, settled: options.settled ?? false, entries: [], resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    await this.#gather()
    while (this.#queue.length > 0) {
      try {
        if (this.#crowded) this.#readAhead()
        this.#crowded = false
        await this.#lock.with(() => this.#decideBatch(this.#nextBatch()), {
          timeoutMs: this.#lockTimeoutMs,
          waiting: () => {
            this.#crowded = true
            this.#readAhead()
          },
        })
      } catch (error) {
        for (const request of this.#queue.splice(0)) request.reject(error)
      }
      this.#confirm()
      this.#wake.ring()
      this.#onWritten()
    }
    this.#draining = undefined
  }

  /**
   * Lets everything that is being sent in this turn join the batch. That takes no turn of the event loop,
   * but whoever sends without a pause must not keep timers and sockets waiting for ever.
   */
  async #gather(): Promise<void> {
    if (performance.now() - this.#yieldedAt < yieldMs) return
    await new Promise(setImmediate)
    this.#yieldedAt = performance.now()
  }

  #readAhead(): void {
    for (const { entry } of this.#writer.readAhead()) this.#tail.push(entry)
  }

  /**
   * Half of a long queue when the disk is idle: while it confirms that half, the other is decided and
   * written. All at once would have processor and disk wait for each other in turn.
   */
  #nextBatch(): Request[] {
    const { length } = this.#queue
    return this.#queue.splice(0, !this.#syncing && length >= 16 ? length >> 1 : length)
  }

  #decideBatch(batch: Request[]): void {
    let undecided = 0
    let unwritten: Request[] = []
    const flush = () => {
      this.#finish(unwritten, this.#writer.flush())
      unwritten = []
    }
    try {
      for (const { entry } of this.#writer.catchUp()) this.#tail.push(entry)
      for (const request of batch) {
        undecided++
        if (request.settled) flush()
        if (this.#decide(request)) unwritten.push(request)
      }
      flush()
    } catch (error) {
      // The disk failed under us. What was decided and not written never happened.
      this.#lose()
      this.#writer.rewind(0)
      for (const request of [...unwritten, ...batch.slice(undecided)]) request.reject(writeError(error))
    }
  }

  #decide(request: Request): boolean {
    const before = this.#writer.pendingCount
    const tail = this.#tail
    this.#tail = []
    try {
      const drafts = request.decide(tail)
      for (const draft of drafts) request.entries.push(this.#add(draft))
      this.#tail.push(...request.entries)
      return true
    } catch (error) {
      this.#writer.rewind(before)
      request.reject(error)
      return false
    }
  }

  #add(draft: Draft): Entry {
    try {
      return this.#writer.add(draft)
    } catch (error) {
      throw writeError(error)
    }
  }

  #finish(
    requests: Request[],
    { placed, error }: { placed: PlacedEntry[]; error: MailboxError | undefined },
  ): void {
    if (error !== undefined) this.#lose()
    // Places are without a gap, so the first one says where to find any other.
    const first = placed[0]?.entry.seq ?? 0
    for (const request of requests) {
      const found = request.entries.map(({ seq }) => placed[seq - first])
      if (found.every((item) => item !== undefined)) this.#unconfirmed.push({ request, placed: found })
      else request.reject(error)
    }
  }

  /** Some of what decisions were told is not in the journal after all. */
  #lose(): void {
    this.epoch++
    this.#tail = []
  }

  #confirm(): void {
    if (this.#syncing || this.#unconfirmed.length === 0) return
    const waiting = this.#unconfirmed
    this.#unconfirmed = []
    this.#syncing = true
    this.#writer.sync(waiting.length === 1 && this.#queue.length === 0, (error) => {
      this.#syncing = false
      // What was written while the sync failed may have gone down with it, and no later sync would tell.
      if (error !== undefined) waiting.push(...this.#unconfirmed.splice(0))
      for (const { request, placed } of waiting) {
        if (error === undefined) request.resolve(placed)
        else request.reject(error)
      }
      this.#confirm()
      if (!this.#syncing) this.#idle?.()
    })
  }

  pull(): undefined {}

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

  at(place: Place): Entry {
    return this.#reader.at(place)
  }

  locate(seq: number): Cursor {
    if (seq <= 0) return startCursor
    // From the end: most followers begin there, and the archive is slower to look into.
    for (const segment of listSegments(this.#dir).reverse()) {
      const first = this.#reader.head(segment)?.seq
      if (first !== undefined && first <= seq + 1) return { ...startCursor, seq: first - 1, segment }
    }
    return startCursor
  }

  onWake(listener: () => void): () => void {
    return this.#wake.on(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    if (this.#syncing) await new Promise<void>((resolve) => (this.#idle = resolve))
    this.#wake.stop()
    this.#writer.close()
    this.#reader.close()
    this.#lock.close()
  }
}
