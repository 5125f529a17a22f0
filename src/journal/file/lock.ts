import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fromSystem, MailboxError } from '../../base/errors.ts'
import { identityAt } from '../../base/files.ts'
import { type Database, isBusy, openDatabase } from '../../base/sqlite.ts'
import { sleepSync } from '../../base/timers.ts'
import { goneError } from './segment.ts'

/** How often the lock file may be replaced while we open it. */
const maxReplacements = 20

/**
 * The lock of the process that may append. The kernel must release it when its holder dies, and it must never
 * be taken from a holder that is merely stopped, which rules out lock files with timestamps. SQLite's lock on
 * an empty database has both properties.
 *
 * A lock counts only while its file is the one at its path: otherwise another process has, or will have, the lock of
 * another file. So whoever has taken it compares the two, and if they differ, takes the one in place.
 *
 * Never open the lock file by other means in this process: closing any descriptor of a file releases all POSIX
 * locks that the process has on it.
 */
export class WriterLock {
  readonly #path: string
  /**
   * Runs with the lock when it is taken first, and when its file is another than before. Throws if the lock is not to be
   * trusted.
   */
  readonly #onNew: () => void
  #database: Database | undefined
  #identity = ''
  #isNew = true
  #depth = 0

  constructor(path: string, onNew: () => void = () => {}) {
    this.#path = path
    this.#onNew = onNew
  }

  /** Opened when first taken: a process that only reads does not need it. */
  #open(): Database {
    for (let attempt = 0; attempt < maxReplacements; attempt++) {
      const before = identityAt(this.#path)
      const database = openDatabase(this.#path, 0)
      // Nothing is ever stored: the file stays empty, so it cannot be torn, and without a rollback journal
      // there is no file to create and delete at every BEGIN.
      database.exec('PRAGMA journal_mode = MEMORY')
      makePrivate(this.#path)
      // The same before and after: it is the one that was opened. One that did not exist is opened once more.
      this.#identity = identityAt(this.#path)
      if (before !== '' && before === this.#identity) return database
      database.close()
    }
    throw new Error('it is replaced all the time')
  }

  /** Whether the file that was locked is still the one at its path. Only with the lock. */
  isInPlace(): boolean {
    return identityAt(this.#path) === this.#identity
  }

  #tryTake(): boolean {
    try {
      for (;;) {
        this.#database ??= this.#open()
        this.#database.exec('BEGIN IMMEDIATE')
        if (this.isInPlace()) break
        this.close()
        this.#isNew = true
      }
    } catch (error) {
      if (isBusy(error)) return false
      this.close()
      throw this.#unusable(error)
    }
    if (this.#isNew) this.#accept()
    return true
  }

  #accept(): void {
    try {
      this.#onNew()
      this.#isNew = false
    } catch (error) {
      this.close()
      throw error
    }
  }

  #unusable(cause: unknown): MailboxError {
    if (cause instanceof MailboxError) return cause
    if (identityAt(dirname(this.#path)) === '') return goneError(dirname(this.#path))
    const error = fromSystem(cause, `${this.#path} cannot be locked`)
    if (error !== undefined && error.code !== 'damaged') return error
    return new MailboxError('damaged', error?.message ?? `${this.#path} cannot be locked: ${String(cause)}`, {
      cause,
      hint: 'it should be an empty file: stop all mailbox processes, delete it, and try again',
    })
  }

  /** Runs `work` with the lock. Calls `waiting` whenever another process holds it: time for other work. */
  async with<T>(work: () => T, timeoutMs: number, waiting: () => void): Promise<T> {
    const started = performance.now()
    for (let attempt = 0; !this.#tryTake(); attempt++) {
      waiting()
      // Holders are done within a fraction of a millisecond, so a short sleep is usually enough. Randomness
      // spreads the waiters out, and soon the event loop gets its turn: others may wait for this process.
      if (attempt < maxShortSleeps)
        sleepSync(shortSleepMs * 2 ** Math.min(attempt, 5) * (0.5 + Math.random()))
      else await sleep(1 + Math.random() * 4)
      if (performance.now() - started > timeoutMs) throw lockTimeout(timeoutMs)
    }
    return this.#run(work)
  }

  /**
   * The same, blocking the thread while it waits, for repairs that must not be interleaved with other work.
   * Within `work`, taking the lock again is free.
   */
  withSync<T>(work: () => T, timeoutMs: number): T {
    const deadline = performance.now() + timeoutMs
    while (this.#depth === 0 && !this.#tryTake()) {
      if (performance.now() > deadline) throw lockTimeout(timeoutMs)
      sleepSync(shortSleepMs)
    }
    return this.#run(work)
  }

  /** Runs asynchronous work with the lock. Undefined if another process holds it. */
  async tryWith<T>(work: () => Promise<T>): Promise<{ value: T } | undefined> {
    if (!this.#tryTake()) return undefined
    try {
      return { value: await work() }
    } finally {
      this.#database?.exec('ROLLBACK')
    }
  }

  #run<T>(work: () => T): T {
    this.#depth++
    try {
      return work()
    } finally {
      if (--this.#depth === 0) this.#database?.exec('ROLLBACK')
    }
  }

  close(): void {
    this.#database?.close()
    this.#database = undefined
  }
}

/** It may have been removed the moment it was there; then it is opened again. */
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const shortSleepMs = 0.2
const maxShortSleeps = 6

function lockTimeout(timeoutMs: number): MailboxError {
  const why = `another process has held the writer lock for ${Math.round(timeoutMs / 1000)} s`
  const hint =
    'it may be stopped: check for a stopped mailbox process (ps -o pid,stat,cmd) and continue or kill it'
  return new MailboxError('timeout', why, { hint })
}
