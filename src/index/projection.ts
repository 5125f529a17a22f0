import { chmodSync, rmSync, statSync } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { bootId } from '../base/process.ts'
import {
  type Database,
  isBusy,
  isDiskFull,
  isSqliteError,
  openDatabase,
  type Statement,
} from '../base/sqlite.ts'
import { sleepSync } from '../base/timers.ts'
import type { Cursor, Journal, PlacedEntry } from '../journal/journal.ts'
import { startCursor } from '../journal/journal.ts'

/** Brings a projection's tables from one entry to the next; the same journal always gives the same rows. */
export interface Applier {
  apply(placed: PlacedEntry): void
  /** Called before a transaction ends, for what was gathered. */
  finish(): void
}

export interface ProjectionOptions {
  path: string
  journal: Journal
  schema: string
  format: number
  applier: (database: Database) => Applier
}

export interface CatchUpOptions {
  /** Called after every chunk with the seq reached. */
  onProgress?: (seq: number) => void
  /** Do nothing when another process is at it. */
  opportunistic?: boolean
  /** Stop after so many transactions. @default at the end of the journal */
  chunks?: number
  signal?: AbortSignal
}

const busyMs = 10_000
/** How often and how long to wait for a journal from which segments are being removed. */
const patientRounds = 200
const patientNapMs = 5
const chunkBytes = 4 * 1_048_576

/**
 * A database derived from the journal. It can be deleted, replaced, cut short or overwritten at any
 * moment, under any process: before every use the file is compared with the one we opened, and whatever
 * SQLite finds broken is thrown away and built anew. Nothing but time is lost.
 *
 * It runs with a rollback journal, not a write-ahead log: a log's shared memory is mapped into every
 * process, and truncating that file would kill them all.
 */
export class Projection {
  readonly #options: ProjectionOptions
  #database: Database | undefined
  /** Made when something is to be applied: whoever only reads is spared its statements. */
  #applier: Applier | undefined
  #statements = new Map<string, Statement>()
  #identity = ''
  #cursor: Cursor = startCursor
  /** A place behind which there was only a piece of a line. */
  #stuckAt: Cursor = startCursor

  constructor(options: ProjectionOptions) {
    this.#options = options
  }

  /** How far this process knows the tables to be; another one may have brought them further. */
  get cursor(): Cursor {
    return this.#cursor
  }

  /** A prepared statement, kept for as long as the database is open. */
  sql(text: string): Statement {
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = this.#database!.prepare(text)
      this.#statements.set(text, statement)
    }
    return statement
  }

  /** Runs read-only work on one consistent state that holds every entry of the journal. */
  read<T>(work: () => T, options: CatchUpOptions = {}): T {
    return this.#repairing(() => {
      for (let round = 0; ; round++) {
        this.#catchUp(options)
        const found = this.#snapshot(() => {
          // The file may have been overwritten under us, or be another process's state of a moment ago.
          const cursor = this.#readCursor()
          if (!isSame(cursor, this.#cursor) && !this.#options.journal.fits(cursor)) throw new UnfitIndex()
          this.#cursor = cursor
          const { journal } = this.#options
          // Behind the cursor is a piece of a line. If later segments are there, others are being removed
          // under us: what they leave is there in a moment.
          const isStuck = isSame(cursor, this.#stuckAt) && (journal.inLast(cursor) || round > patientRounds)
          if (!journal.atEnd(cursor) && !isStuck) return undefined
          const value = work()
          // The file may have been taken away meanwhile. What was read then is not to be trusted: to SQLite the
          // journal of the file in its place looks like that of ours.
          if (identityOf(this.#options.path) !== this.#identity) throw new UnfitIndex()
          return { value }
        })
        if (found !== undefined) return found.value
        if (isSame(this.#cursor, this.#stuckAt)) sleepSync(patientNapMs)
      }
    })
  }

  /** Runs read-only work on whatever state is there, with the cursor that state belongs to. */
  peek<T>(work: (cursor: Cursor) => T): T {
    return this.#repairing(() => this.#snapshot(() => work(this.#readCursor())))
  }

  /** Takes in what the journal has. True when it stopped before the end. */
  catchUp(options: CatchUpOptions = {}): boolean {
    return this.#repairing(() => this.#catchUp(options))
  }

  /** Throws the tables away; the next use, by whomever, makes new ones as soon as nobody writes. */
  discard(): void {
    this.#options.journal.withLock(() => {
      this.close()
      this.#remove()
      this.#cursor = startCursor
    })
  }

  close(): void {
    this.#statements.clear()
    this.#applier = undefined
    this.#database?.close()
    this.#database = undefined
  }

  #snapshot<T>(work: () => T): T {
    this.#database!.exec('BEGIN')
    try {
      return work()
    } finally {
      this.#database!.exec('ROLLBACK')
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
        // Another process may have gone on from where we were.
        const from = this.#readCursor()
        const { entries, cursor } = journal.read(from, chunkBytes)
        this.#applier ??= this.#options.applier(this.#database!)
        for (const placed of entries) this.#applier.apply(placed)
        this.#applier.finish()
        const moved = cursor.offset !== from.offset || cursor.segment !== from.segment
        if (moved) this.#writeCursor(cursor)
        this.#database!.exec('COMMIT')
        this.#cursor = cursor
        onProgress?.(cursor.seq)
        // Not at the end and nothing to read: somebody is writing a line just now, or died over it.
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
    try {
      if (opportunistic) this.#database!.exec('PRAGMA busy_timeout = 0')
      this.#database!.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (opportunistic && isBusy(error)) return false
      throw error
    } finally {
      if (opportunistic) this.#database!.exec(`PRAGMA busy_timeout = ${busyMs}`)
    }
  }

  #rollback(): void {
    try {
      this.#database!.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back by itself, or the database is past saving; the caller's error tells.
    }
    // What the applier had gathered belongs to the transaction that is gone.
    this.#applier = undefined
  }

  #readCursor(): Cursor {
    const row = this.sql('SELECT seq, segment, offset, sum, format, space FROM meta').get() ?? []
    const [seq, segment, offset, sum, format, space] = row
    const isPlace = [seq, segment, offset].every(Number.isSafeInteger) && typeof sum === 'string'
    if (!isPlace || format !== this.#options.format || space !== this.#options.journal.space)
      throw new UnfitIndex()
    return { seq, segment, offset, sum } as Cursor
  }

  #writeCursor({ seq, segment, offset, sum }: Cursor): void {
    this.sql('UPDATE meta SET seq = ?, segment = ?, offset = ?, sum = ?').run([seq, segment, offset, sum])
  }

  /** Runs work on an open, fitting database; when SQLite finds it broken, builds a new one and runs it again. */
  #repairing<T>(work: () => T): T {
    for (let attempt = 0; ; attempt++) {
      try {
        this.#ensureOpen()
        return work()
      } catch (error) {
        const isUnfit = error instanceof UnfitIndex
        if (attempt < 3 && this.#pointedAtRemoved(error)) continue
        if (!isSqliteError(error) && !isUnfit) throw error
        if (isBusy(error)) throw timedOut(this.#options.path, error)
        if (isDiskFull(error)) throw diskFull(error)
        if (attempt === 3) throw beyondRepair(this.#options.path, error)
        this.#replace()
      }
    }
  }

  /** Old segments were removed, and their index with them, while we looked: what it led us to is gone. */
  #pointedAtRemoved(error: unknown): boolean {
    const isDamage = error instanceof MailboxError && error.code === 'damaged'
    return isDamage && identityOf(this.#options.path) !== this.#identity
  }

  #ensureOpen(): void {
    if (this.#database !== undefined && identityOf(this.#options.path) === this.#identity) return
    this.close()
    if (identityOf(this.#options.path) !== '' && this.#tryOpen()) return
    this.#options.journal.withLock(() => {
      // While we waited another process may have built it.
      if (identityOf(this.#options.path) !== '' && this.#tryOpen()) return
      this.#remove()
      this.#create()
    })
  }

  /** Opens what is there. False when it is not ours, too old, broken, or does not fit the journal. */
  #tryOpen(): boolean {
    const { journal } = this.#options
    try {
      this.#connect()
      const [boot] = this.sql('SELECT boot FROM meta').get() ?? []
      const cursor = this.#readCursor()
      // Nothing here is synced, so after a power loss it can be anything; a new boot starts a new index.
      if (boot === thisBoot() && journal.fits(cursor)) {
        this.#cursor = cursor
        return true
      }
    } catch (error) {
      if (isBusy(error) || !(isSqliteError(error) || error instanceof UnfitIndex)) throw error
    }
    this.close()
    return false
  }

  #connect(): void {
    const database = openDatabase(this.#options.path, { busyMs })
    this.#database = database
    database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000')
    this.#identity = identityOf(this.#options.path)
  }

  #create(): void {
    const { path, schema, format, journal } = this.#options
    const database = openDatabase(path, { busyMs })
    chmodSync(path, 0o600)
    const { seq, segment, offset, sum } = startCursor
    const meta = [1, format, `'${journal.space}'`, `'${thisBoot()}'`, seq, segment, offset, `'${sum}'`]
    database.exec(
      `PRAGMA synchronous = OFF; BEGIN IMMEDIATE; ${schema} INSERT INTO meta VALUES (${meta.join(', ')}); COMMIT`,
    )
    database.close()
    this.#connect()
    this.#cursor = startCursor
  }

  #replace(): void {
    this.#options.journal.withLock(() => {
      // Another process may have replaced it already; then what is there now is not what broke. Our
      // handle stays open until we have looked, so that its inode cannot have been given to another file.
      if (identityOf(this.#options.path) === this.#identity) this.#remove()
    })
    this.close()
  }

  #remove(): void {
    for (const suffix of ['', '-journal', '-wal', '-shm'])
      rmSync(this.#options.path + suffix, { force: true })
  }
}

/** The tables are not those of this journal, or not of this version. */
class UnfitIndex extends Error {}

const isSame = (a: Cursor, b: Cursor): boolean =>
  a.seq === b.seq && a.segment === b.segment && a.offset === b.offset

const thisBoot = () => bootId() ?? 'unknown'

/** Which file this is; empty when there is none, or one that never became a database. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.size === 0 ? '' : `${stat.dev}:${stat.ino}`
}

const timedOut = (path: string, cause: unknown) =>
  new MailboxError('timeout', `another process keeps ${path} locked`, {
    cause,
    hint: 'look for a stopped mailbox process',
  })
const diskFull = (cause: unknown) =>
  new MailboxError('disk_full', 'no room for the index', { cause, hint: 'free some room; no mail is lost' })
const beyondRepair = (path: string, cause: unknown) =>
  new MailboxError('damaged', `${path} breaks again and again: ${(cause as Error).message}`, {
    cause,
    hint: 'look at the disk; no mail is lost',
  })
