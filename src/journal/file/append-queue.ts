import { MailboxError } from '../../base/errors.ts'
import type { Draft, Entry, Gist, SegmentReason } from '../../model/entry.ts'
import type { AppendOptions, Cursor, Decide, Placed, PlacedEntry } from '../journal.ts'
import type { FlushOutcome } from './batch.ts'
import type { WriterLock } from './lock.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { isMisplaced, writeError } from './write-error.ts'

interface Request {
  decide: Decide
  settled: boolean
  begin: SegmentReason | undefined
  entries: Entry[]
  resolve: (entries: PlacedEntry[]) => void
  reject: (error: unknown) => void
}

/** How long appends may follow one another without a turn of the event loop. */
const yieldMs = 4

/**
 * The appends of this process, in order, in batches (group commit): while the disk confirms one batch, the
 * next one is decided and written, and one `fdatasync` then confirms whatever has been written by the time it
 * starts. The lock is held while catching up, deciding and writing, never during the sync.
 */
export class AppendQueue {
  readonly #writer: SegmentWriter
  readonly #lock: WriterLock
  readonly #lockTimeoutMs: number
  /** Called when a batch has been written and the disk is confirming it. */
  readonly #onWritten: () => void
  /** See {@link Journal.epoch}. */
  epoch = 0
  #waiting: Request[] = []
  /** Entries that no decision of this process has seen yet. */
  #tail: Gist[] = []
  /** Written, and not confirmed by the disk yet. */
  #unconfirmed: { request: Request; placed: PlacedEntry[] }[] = []
  #draining: Promise<void> | undefined
  #syncing = false
  /** Another process had the lock when we last wanted it: reading ahead is worthwhile. */
  #contended = false
  /** See {@link Journal.contendedAt}. */
  contendedAt = Number.NEGATIVE_INFINITY
  /** Called when the last sync is over; set while closing. */
  #onIdle: (() => void) | undefined
  #closed = false
  #yieldedAt = 0

  constructor(writer: SegmentWriter, lock: WriterLock, lockTimeoutMs: number, onWritten: () => void) {
    this.#writer = writer
    this.#lock = lock
    this.#lockTimeoutMs = lockTimeoutMs
    this.#onWritten = onWritten
  }

  seek(cursor: Cursor): boolean {
    if (this.#draining !== undefined || this.#syncing) return false
    this.#writer.moveTo(cursor)
    this.#tail = []
    return true
  }

  append(decide: Decide, options: AppendOptions = {}): Promise<PlacedEntry[]> {
    if (this.#closed)
      return Promise.reject(new MailboxError('closed', 'the space is closed', { hint: 'open it again' }))
    return new Promise((resolve, reject) => {
      const { settled = false, begin } = options
      this.#waiting.push({ decide, settled, begin, entries: [], resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    await this.#gather()
    while (this.#waiting.length > 0) {
      try {
        if (this.#contended) this.#readAhead()
        this.#contended = false
        const decideNext = () => this.#decideBatch(this.#nextBatch())
        await this.#lock.with(decideNext, this.#lockTimeoutMs, () => {
          this.#contended = true
          this.contendedAt = performance.now()
          this.#readAhead()
        })
      } catch (error) {
        for (const request of this.#waiting.splice(0)) request.reject(error)
      }
      this.#confirm()
      this.#onWritten()
    }
    this.#draining = undefined
  }

  /**
   * Lets everything that is sent in this turn of the event loop join the batch. That takes no extra turn, but
   * a caller that sends without a pause must not starve timers and sockets.
   */
  async #gather(): Promise<void> {
    if (performance.now() - this.#yieldedAt < yieldMs) return
    await new Promise(setImmediate)
    this.#yieldedAt = performance.now()
  }

  #readAhead(): void {
    this.#follow(() => this.#writer.readAhead())
  }

  #follow(read: () => Placed<Gist>[]): void {
    const before = this.#writer.damagedCount
    for (const { entry } of read()) this.#tail.push(entry)
    // What the others did then cannot be told from what is left of it.
    if (this.#writer.damagedCount > before) this.#discardTail()
  }

  /**
   * Half of a long queue if the disk is idle: while it confirms that half, the other half is decided and
   * written. Taking all at once would make processor and disk wait for each other in turn.
   */
  #nextBatch(): Request[] {
    const { length } = this.#waiting
    return this.#waiting.splice(0, !this.#syncing && length >= 16 ? length >> 1 : length)
  }

  #decideBatch(batch: Request[]): void {
    let decided = 0
    let unwritten: Request[] = []
    const flush = () => {
      this.#finish(unwritten, this.#writer.flush())
      unwritten = []
    }
    try {
      this.#follow(() => this.#catchUp())
      for (const request of batch) {
        decided++
        if (request.settled || request.begin !== undefined) flush()
        this.#writer.begins = request.begin
        if (this.#decide(request)) unwritten.push(request)
      }
      flush()
    } catch (error) {
      // The disk failed. What was decided but not written never happened.
      this.#discardTail()
      this.#writer.rewind(0)
      if (isMisplaced(error)) this.#writer.restart()
      for (const request of [...unwritten, ...batch.slice(decided)]) request.reject(writeError(error))
    }
  }

  /** If the files were replaced since the last time, nothing has been written to them yet: it starts from these. */
  #catchUp(): Placed<Gist>[] {
    try {
      return this.#writer.catchUp()
    } catch (error) {
      if (!isMisplaced(error)) throw error
      this.#discardTail()
      this.#writer.restart()
      return this.#writer.catchUp()
    }
  }

  #decide(request: Request): boolean {
    const before = this.#writer.pendingCount()
    const tail = this.#tail
    this.#tail = []
    try {
      const drafts = request.decide(tail, before === 0 ? this.#writer.end() : undefined)
      for (const draft of drafts)
        request.entries.push(this.#add(typeof draft === 'function' ? draft(request.entries) : draft))
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

  #finish(requests: Request[], { placed, error }: FlushOutcome): void {
    if (error !== undefined) this.#discardTail()
    if (isMisplaced(error)) this.#writer.restart()
    // Seqs have no gaps, so the first one tells where to find any other.
    const first = placed[0]?.entry.seq ?? 0
    for (const request of requests) {
      const found = request.entries.map(({ seq }) => placed[seq - first])
      if (found.every((item) => item !== undefined)) this.#unconfirmed.push({ request, placed: found })
      else request.reject(error)
    }
  }

  /** What decisions have seen is not all that is in the journal, or not in the journal after all. */
  #discardTail(): void {
    this.epoch++
    this.#tail = []
  }

  #confirm(): void {
    if (this.#syncing || this.#unconfirmed.length === 0) return
    const confirming = this.#unconfirmed
    this.#unconfirmed = []
    this.#syncing = true
    this.#writer.sync(confirming.length === 1 && this.#waiting.length === 0, (error) => {
      this.#syncing = false
      // What was written while the sync failed may be lost with it, and no later sync would tell.
      if (error !== undefined) confirming.push(...this.#unconfirmed.splice(0))
      if (isMisplaced(error)) {
        this.#discardTail()
        this.#writer.restart()
      }
      for (const { request, placed } of confirming) {
        if (error === undefined) request.resolve(placed)
        else request.reject(error)
      }
      this.#confirm()
      if (!this.#syncing) this.#onIdle?.()
    })
  }

  /** Refuses further appends, and resolves when those under way are done. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    if (this.#syncing) await new Promise<void>((resolve) => (this.#onIdle = resolve))
  }
}
