import { chmodSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError } from '../../base/errors.ts'
import { type Database, isBusy, openDatabase } from '../../base/sqlite.ts'
import { sleepSync } from '../../base/timers.ts'

export interface LockOptions {
  timeoutMs: number
  /** Called whenever somebody else has it: time for other work. */
  waiting?: () => void
}

/**
 * The exclusive right to append. It must be released by the kernel when its holder dies and must never
 * be taken from a holder that is merely stopped, which rules out time-stamped lock files; SQLite's own
 * lock on a database that holds nothing gives both.
 *
 * Never open the lock's file by any other means within this process: closing any descriptor of a file
 * drops all POSIX locks the process has on it.
 */
export class WriterLock {
  readonly #path: string
  #database: Database | undefined
  #depth = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Opened when first taken: whoever only reads does without. */
  #open(): Database {
    const database = openDatabase(this.#path, { busyMs: 0 })
    // Nothing is ever stored: the file stays empty, so it cannot be torn, and without a journal file
    // there is nothing to create and delete at every BEGIN.
    database.exec('PRAGMA journal_mode = MEMORY')
    chmodSync(this.#path, 0o600)
    return database
  }

  #tryTake(): boolean {
    this.#database ??= this.#open()
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw new MailboxError('damaged', `${this.#path} cannot be locked`, {
        cause: error,
        hint: 'it should be an empty file: stop all mailbox processes, remove it, and try again',
      })
    }
  }

  /** Runs `work` with the right to append. */
  async with<T>(work: () => T, options: LockOptions): Promise<T> {
    const started = performance.now()
    for (let attempt = 0; !this.#tryTake(); attempt++) {
      options.waiting?.()
      // Holders are done within a fraction of a millisecond, so a short nap is usually all it takes; chance
      // spreads the waiters out, and after a while the event loop gets its turn.
      if (attempt < napsAtMost) sleepSync(napMs * 2 ** Math.min(attempt, 5) * (0.5 + Math.random()))
      else await sleep(1 + Math.random() * 4)
      if (performance.now() - started > options.timeoutMs) throw lockTimeout(options.timeoutMs)
    }
    return this.#run(work)
  }

  /**
   * The same, waiting without giving way to other work; for repairs that must not be interleaved. Within
   * `work`, taking the right again is free.
   */
  withSync<T>(work: () => T, timeoutMs: number): T {
    const deadline = performance.now() + timeoutMs
    while (this.#depth === 0 && !this.#tryTake()) {
      if (performance.now() > deadline) throw lockTimeout(timeoutMs)
      sleepSync(napMs)
    }
    return this.#run(work)
  }

  /** Runs work that takes long, and lets others work meanwhile. Undefined when somebody else has the right. */
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
  }
}

const napMs = 0.2
const napsAtMost = 16

const lockTimeout = (timeoutMs: number) =>
  new MailboxError(
    'timeout',
    `another process has held the right to write for ${Math.round(timeoutMs / 1000)} s`,
    {
      hint: 'it may be stopped: look for a stopped mailbox process (ps -o pid,stat,cmd) and continue or end it',
    },
  )
