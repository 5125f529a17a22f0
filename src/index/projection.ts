import { MailboxError } from '../base/errors.ts'
import { type Database, isBusy, isDiskFull, isSqliteError, type Statement } from '../base/sqlite.ts'
import { sleepSync } from '../base/timers.ts'
import {
  type Cursor,
  type DamagedLine,
  type Journal,
  type PlacedEntry,
  startCursor,
} from '../journal/journal.ts'
import { busyMs, IndexFile, type IndexFileOptions } from './index-file.ts'
import type { Shelter } from './shelter.ts'
import { UnfitIndex } from './unfit.ts'
import { isUnwritable } from './unwritable.ts'

/** Brings a projection's tables from one entry to the next. The same journal always gives the same rows. */
export interface Applier {
  /** Called when a transaction begins, with where the tables are, and the records ahead that cannot be read. */
  begin(from: Cursor, damaged: readonly DamagedLine[]): void
  apply(placed: PlacedEntry): void
  /** Called before a transaction ends, to write what was collected. */
  finish(): void
}

export interface ProjectionOptions extends IndexFileOptions {
  applier: (database: Database) => Applier
  /** Where its file can be, the best place first. There is at least one. */
  shelters: Iterable<Shelter>
}

export interface CatchUpOptions {
  /** Called after every chunk with the seq reached. */
  onProgress?: (seq: number) => void
  /** Do nothing if another process is writing. */
  opportunistic?: boolean
  /** Stop after this many transactions. @default at the end of the journal */
  chunks?: number
  signal?: AbortSignal | undefined
}

/** How often and how long to wait while segments are being removed from the journal. */
const removalRounds = 200
const removalWaitMs = 5
const chunkBytes = 4 * 1_048_576

/**
 * A database derived from the journal. It can be deleted, replaced, truncated or overwritten at any time,
 * under any process: before every use the file is compared with the one we opened, and whatever SQLite finds
 * broken is discarded and rebuilt. Nothing but time is lost.
 *
 * It uses a rollback journal, not a write-ahead log: a log's shared memory is mapped into every process, and
 * truncating that file would kill them all.
 */
export class Projection {
  readonly #options: ProjectionOptions
  readonly #shelters: Iterator<Shelter>
  #file: IndexFile
  /** Created when there is something to apply: processes that only read do not need its statements. */
  #applier: Applier | undefined
  #cursor: Cursor = startCursor
  /** Whether an error comes from whoever asks, who may have their own reasons. */
  #isAnswering = false
  /** A cursor with only a part of a line behind it. */
  #stuckAt: Cursor = startCursor
  /** See {@link Journal.epoch}. */
  #epoch = 0

  constructor(options: ProjectionOptions) {
    this.#options = options
    this.#shelters = options.shelters[Symbol.iterator]()
    const { value, done } = this.#shelters.next()
    if (done) throw noShelter()
    this.#file = new IndexFile(value, options)
  }

  /** How far this process knows the tables to be; another process may have brought them further. */
  get cursor(): Cursor {
    return this.#cursor
  }

  /** Where its file is. */
  get path(): string {
    return this.#file.path
  }

  /** A prepared statement, kept for as long as the database is open. */
  sql(text: string): Statement {
    return this.#file.sql(text)
  }

  /** Runs read-only work on one consistent state that contains every entry of the journal. */
  read<T>(work: () => T, options: CatchUpOptions = {}): T {
    return this.#repairing(() => {
      for (let round = 0; ; round++) {
        this.#catchUp(options)
        const found = this.#snapshot(() => {
          // The file may have been overwritten, or be in the state another process gave it a moment ago.
          const cursor = this.#file.readCursor()
          const { journal } = this.#options
          const isKnown = isSame(cursor, this.#cursor) && journal.epoch === this.#epoch
          if (!isKnown && !journal.fits(cursor)) throw new UnfitIndex()
          this.#cursor = cursor
          // There is part of a line behind the cursor. If later segments exist, segments are being removed at
          // this moment, and what remains will be readable shortly.
          const isStuck = isSame(cursor, this.#stuckAt) && (journal.inLast(cursor) || round > removalRounds)
          if (!journal.atEnd(cursor) && !isStuck) return undefined
          return { value: work() }
        })
        if (found !== undefined) return found.value
        if (isSame(this.#cursor, this.#stuckAt)) sleepSync(removalWaitMs)
      }
    })
  }

  /** Runs read-only work on the current state of the tables, with the cursor of that state. */
  peek<T>(work: (cursor: Cursor) => T): T {
    return this.#repairing(() => this.#snapshot(() => work(this.#file.readCursor())))
  }

  /** Applies what the journal has. True if it stopped before the end. */
  catchUp(options: CatchUpOptions = {}): boolean {
    return this.#repairing(() => this.#catchUp(options))
  }

  /** Discards the tables. The next use, by any process, builds new ones. */
  discard(): void {
    this.#file.discard()
    this.#applier = undefined
    this.#cursor = startCursor
  }

  close(): void {
    this.#applier = undefined
    this.#file.leave()
  }

  #snapshot<T>(work: () => T): T {
    const { database } = this.#file
    database.exec('BEGIN')
    try {
      this.#file.confirm()
      this.#isAnswering = true
      try {
        return work()
      } finally {
        // If the file was removed or damaged meanwhile, neither an answer nor an error means anything: SQLite
        // takes the rollback journal of a new file at this path for ours.
        this.#file.confirm()
      }
    } finally {
      database.exec('ROLLBACK')
    }
  }

  #catchUp({
    onProgress,
    opportunistic = false,
    chunks = Number.POSITIVE_INFINITY,
    signal,
  }: CatchUpOptions): boolean {
    const { journal } = this.#options
    for (let left = chunks; !journal.atEnd(this.#cursor); left--) {
      if (left === 0) return true
      signal?.throwIfAborted()
      if (!this.#begin(opportunistic)) return true
      try {
        this.#file.confirm()
        this.#file.sums.begin()
        // Another process may have continued from where we were.
        const from = this.#file.readCursor()
        const { entries, damaged, cursor } = journal.read(from, chunkBytes)
        this.#applier ??= this.#options.applier(this.#file.database)
        this.#applier.begin(from, damaged)
        for (const placed of entries) this.#applier.apply(placed)
        this.#applier.finish()
        const moved = cursor.offset !== from.offset || cursor.segment !== from.segment
        if (moved) this.#file.writeCursor(cursor)
        if (moved) this.#file.sums.record()
        this.#file.database.exec('COMMIT')
        if (moved) this.#file.sums.committed()
        this.#cursor = cursor
        onProgress?.(cursor.seq)
        // Not at the end, and nothing to read: a process is writing a line right now, or was killed doing so.
        if (!moved) {
          this.#stuckAt = cursor
          return false
        }
      } catch (error) {
        this.#rollback()
        throw error
      }
    }
    return false
  }

  #begin(opportunistic: boolean): boolean {
    const { database } = this.#file
    try {
      if (opportunistic) database.exec('PRAGMA busy_timeout = 0')
      database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (opportunistic && isBusy(error)) return false
      throw error
    } finally {
      if (opportunistic) database.exec(`PRAGMA busy_timeout = ${busyMs}`)
    }
  }

  #rollback(): void {
    try {
      this.#file.database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, or the database is beyond repair; the caller's error tells.
    }
    // What the applier had collected belongs to the transaction that was rolled back.
    this.#applier = undefined
  }

  /** Runs work on an open, fitting database. If SQLite finds it broken, builds a new one and tries again. */
  #repairing<T>(work: () => T): T {
    for (let attempt = 0; ; attempt++) {
      const { path } = this.#file
      this.#isAnswering = false
      try {
        // What it was built from may be gone: then it does not fit any more.
        if (this.#options.journal.epoch !== this.#epoch) this.#file.close()
        this.#epoch = this.#options.journal.epoch
        const cursor = this.#file.ensureOpen()
        if (cursor !== undefined) {
          this.#cursor = cursor
          this.#applier = undefined
        }
        return work()
      } catch (error) {
        if (attempt < 3 && this.#pointedAtRemoved(error)) continue
        if (!this.#isAnswering && isUnwritable(error) && this.#moveOn()) {
          attempt = 0
          continue
        }
        if (!isSqliteError(error) && !(error instanceof UnfitIndex)) throw error
        if (isBusy(error)) throw timedOut(path, error)
        if (isDiskFull(error)) throw diskFull(error)
        if (attempt === 3) throw beyondRepair(path, error)
        this.#file.discardBroken()
      }
    }
  }

  /** Goes to the next place where the file can be. False if there is none. */
  #moveOn(): boolean {
    const { value, done } = this.#shelters.next()
    if (done) return false
    this.#file.leave()
    this.#file = new IndexFile(value, this.#options)
    this.#applier = undefined
    this.#cursor = startCursor
    return true
  }

  /** Old segments were removed, and the index with them, while we read: what it pointed at is gone. */
  #pointedAtRemoved(error: unknown): boolean {
    return error instanceof MailboxError && error.code === 'damaged' && !this.#file.isInPlace()
  }
}

const isSame = (a: Cursor, b: Cursor): boolean =>
  a.seq === b.seq && a.segment === b.segment && a.offset === b.offset

const noShelter = () =>
  new MailboxError('not_permitted', 'there is no place for an index', {
    hint: 'name a directory that you can write to: XDG_CACHE_HOME=DIR',
  })
const timedOut = (path: string, cause: unknown) =>
  new MailboxError('timeout', `another process keeps ${path} locked`, {
    cause,
    hint: 'check for a stopped mailbox process',
  })
const diskFull = (cause: unknown) =>
  new MailboxError('disk_full', 'no space left for the index', {
    cause,
    hint: 'free some disk space; no mail is lost',
  })
const beyondRepair = (path: string, cause: unknown) =>
  new MailboxError('damaged', `${path} keeps breaking: ${(cause as Error).message}`, {
    cause,
    hint: 'check the disk; no mail is lost',
  })
