import { chmodSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../base/process.ts'
import {
  attachDatabase,
  attachedName,
  type Database,
  isBusy,
  isSqliteError,
  openDatabase,
  type Statement,
} from '../base/sqlite.ts'
import { type Cursor, type Journal, startCursor } from '../journal/journal.ts'
import { PageSums, sumsOf } from './page-sums.ts'
import { indexFormat } from './schema.ts'
import type { Shelter } from './shelter.ts'
import { UnfitIndex } from './unfit.ts'

/** How long a statement waits for another process's lock. */
export const busyMs = 10_000

export interface IndexFileOptions {
  /** The name of the file. */
  name: string
  journal: Journal
  schema: string
}

/** The database file of a projection. Opens it if it fits the journal, and replaces it if it does not. */
export class IndexFile {
  readonly path: string
  readonly #shelter: Shelter
  readonly #options: IndexFileOptions
  #database: Database | undefined
  #sums: PageSums | undefined
  #statements = new Map<string, Statement>()
  #identity = ''

  constructor(shelter: Shelter, options: IndexFileOptions) {
    this.path = join(shelter.dir, options.name)
    this.#shelter = shelter
    this.#options = options
  }

  /** Only while it is open. */
  get database(): Database {
    return this.#database!
  }

  /** The checksums of its pages. Only while it is open. */
  get sums(): PageSums {
    return this.#sums!
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

  /** Whether the file we opened is still the one at its path. */
  isInPlace(): boolean {
    return identityOf(this.path) === this.#identity
  }

  /**
   * Throws unless the file is the one we opened, and as a writer of ours left it. Only within a transaction: then
   * the file stands still. Where nothing has happened to it, it costs a look at its inode.
   */
  confirm(): void {
    if (this.sums.isUntouched()) return
    if (!this.isInPlace()) throw new UnfitIndex('another file has its place')
    this.sums.confirm()
  }

  /** Opens or creates the database. Returns its cursor, or undefined if it was open and in place already. */
  ensureOpen(): Cursor | undefined {
    if (this.#database !== undefined && this.isInPlace()) return undefined
    this.close()
    return (
      this.#tryOpen() ??
      this.#shelter.withLock(() => {
        // Another process may have built it while we waited.
        const built = this.#tryOpen()
        if (built !== undefined) return built
        this.#remove()
        return this.#create()
      })
    )
  }

  /** Opens the file that is there. Undefined if there is none, or it is outdated, broken or of another journal. */
  #tryOpen(): Cursor | undefined {
    if (identityOf(this.path) === '') return undefined
    try {
      this.#connect()
      // Before any text is read: the driver ends the process when it finds bytes that are no text.
      this.#within(() => this.confirm())
      const [boot] = this.sql('SELECT boot FROM meta').get() ?? []
      const cursor = this.readCursor()
      // Nothing here is synced, so after a power loss it may contain anything. Every boot starts a new index.
      if (boot === thisBoot() && this.#options.journal.fits(cursor)) return cursor
    } catch (error) {
      if (isBusy(error) || !(isSqliteError(error) || error instanceof UnfitIndex)) throw error
    }
    this.close()
    return undefined
  }

  #connect(): void {
    const { path } = this
    const database = attachDatabase(path, busyMs)
    this.#database = database
    for (const pragma of ['journal_mode = TRUNCATE', 'synchronous = OFF', 'cache_size = -16000'])
      database.exec(`PRAGMA ${attachedName}.${pragma}`)
    this.#identity = identityOf(path)
    this.#sums = new PageSums(path, database)
  }

  #within<T>(work: () => T): T {
    this.database.exec('BEGIN')
    try {
      return work()
    } finally {
      this.database.exec('ROLLBACK')
    }
  }

  #create(): Cursor {
    const { path } = this
    const { schema, journal } = this.#options
    const database = openDatabase(path, busyMs)
    chmodSync(path, 0o600)
    const { seq, segment, offset, sum } = startCursor
    const meta = [1, indexFormat, `'${journal.space}'`, `'${thisBoot()}'`, seq, segment, offset, `'${sum}'`]
    database.exec(
      `PRAGMA synchronous = OFF; BEGIN IMMEDIATE; ${schema} INSERT INTO meta VALUES (${meta.join(', ')}); COMMIT`,
    )
    database.close()
    this.#connect()
    this.#within(() => this.sums.create())
    return startCursor
  }

  readCursor(): Cursor {
    const row = this.sql('SELECT seq, segment, offset, sum, format, space FROM meta').get() ?? []
    const [seq, segment, offset, sum, format, space] = row
    const isPlace = [seq, segment, offset].every(Number.isSafeInteger) && typeof sum === 'string'
    if (!isPlace || format !== indexFormat || space !== this.#options.journal.space) throw new UnfitIndex()
    return { seq, segment, offset, sum } as Cursor
  }

  writeCursor({ seq, segment, offset, sum }: Cursor): void {
    this.sql('UPDATE meta SET seq = ?, segment = ?, offset = ?, sum = ?').run([seq, segment, offset, sum])
  }

  /** Removes the file. The next use, by any process, creates a new one. */
  discard(): void {
    this.#shelter.withLock(() => {
      this.close()
      this.#remove()
    })
  }

  /** Removes the file that we found broken. */
  discardBroken(): void {
    this.#shelter.withLock(() => {
      // Another process may have replaced it already; then the file at the path is not the broken one. Ours
      // stays open until we have compared them, so that its inode cannot have been reused.
      if (this.isInPlace()) this.#remove()
    })
    this.close()
  }

  #remove(): void {
    const { path } = this
    for (const file of [path, `${path}-journal`, `${path}-wal`, `${path}-shm`, sumsOf(path)])
      rmSync(file, { force: true })
  }

  /** Closes the file, and gives up its place. */
  leave(): void {
    this.close()
    this.#shelter.leave()
  }

  close(): void {
    this.#statements.clear()
    this.#sums?.close()
    this.#sums = undefined
    const database = this.#database
    this.#database = undefined
    database?.close()
  }
}

const thisBoot = () => bootId() ?? 'unknown'

/** Identifies the file at a path; empty if there is none, or one that never became a database. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.size === 0 ? '' : `${stat.dev}:${stat.ino}`
}
