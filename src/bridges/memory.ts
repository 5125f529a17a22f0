import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import {
  attachedName as at,
  attachDatabase,
  type Database,
  isBusy,
  isDamaged,
  type Statement,
} from '../base/sqlite.ts'
import type { CopyState, Link } from './format.ts'

/** The process waits for this long without doing anything else, so it is short. */
const patienceMs = 50

/** Agents whose mail is still to be looked through. */
export const arrivedNote = 'arrived '

/** When an agent here has read mail, until a summary of that is written. */
export const readNote = (owner: string): string => `read ${owner}`

type LinkRow = [foreign: string, owner: string, id: string, place: string, state: CopyState]

/**
 * What a bridge knows between its runs: how far it has read each file and the journal, and which copy there is which
 * message here. One process has it at a time: the lock is SQLite's, and a killed process holds none. Nothing in it is
 * the truth. Without it, the next run finds every message again by its id, on both sides.
 */
export class Memory {
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()

  constructor(path: string) {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      this.#db = open(path)
    } catch (error) {
      if (!isDamaged(error) && !isDamaged((error as Error).cause)) throw error
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      this.#db = open(path)
    }
  }

  #sql(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs `work` as one change. */
  together<T>(work: () => T): T {
    this.#db.exec('BEGIN')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  note(name: string): string | undefined {
    return this.#sql('SELECT value FROM note WHERE name = ?').get<[string]>([name])?.[0]
  }

  setNote(name: string, value: string): void {
    this.#sql('INSERT OR REPLACE INTO note VALUES (?, ?)').run([name, value])
  }

  /** All notes whose names begin in one way, by the rest of their names. */
  notes(start: string): [rest: string, value: string][] {
    return this.#sql('SELECT name, value FROM note WHERE substr(name, 1, ?) = ?')
      .all<[string, string]>([start.length, start])
      .map(([name, value]) => [name.slice(start.length), value])
  }

  forgetNote(name: string): void {
    this.#sql('DELETE FROM note WHERE name = ?').run([name])
  }

  mark(path: string): string | undefined {
    return this.#sql('SELECT stamp FROM mark WHERE path = ?').get<[string]>([path])?.[0]
  }

  setMark(path: string, stamp: string): void {
    this.#sql('INSERT OR REPLACE INTO mark VALUES (?, ?)').run([path, stamp])
  }

  agents(): string[] {
    return this.#sql('SELECT name FROM agent')
      .all<[string]>()
      .map(([name]) => name)
  }

  /** Somebody is there. If it is new, its mail may have waited for it: that is noted, for a later run as well. */
  meet(name: string): boolean {
    return this.together(() => {
      const isNew = this.addAgent(name)
      if (isNew) this.setNote(`${arrivedNote}${name}`, '')
      return isNew
    })
  }

  /** True if nobody of that name was known. */
  addAgent(name: string): boolean {
    if (this.#sql('SELECT 1 FROM agent WHERE name = ?').get([name]) !== undefined) return false
    this.#sql('INSERT INTO agent VALUES (?)').run([name])
    return true
  }

  /** True the first time a problem is told. */
  isNewProblem(problem: string): boolean {
    if (this.#sql('SELECT 1 FROM told WHERE problem = ?').get([problem]) !== undefined) return false
    this.#sql('INSERT INTO told VALUES (?)').run([problem])
    return true
  }

  /** The problem is over: it is told again if it comes back. */
  forgetProblem(problem: string): void {
    this.#sql('DELETE FROM told WHERE problem = ?').run([problem])
  }

  problemCount(): number {
    return this.#sql('SELECT count(*) FROM told').get<[number]>()![0]
  }

  /** A message there: the copy of one owner, or any other. */
  link(foreign: string, owner: string): Link | undefined {
    const row = this.#sql(
      'SELECT "foreign", owner, id, place, state FROM link WHERE "foreign" = ? ORDER BY owner <> ? LIMIT 1',
    ).get<LinkRow>([foreign, owner])
    return row && toLink(row)
  }

  /** Exactly the copy of one owner. */
  linkOf(foreign: string, owner: string): Link | undefined {
    const row = this.#sql(
      'SELECT "foreign", owner, id, place, state FROM link WHERE "foreign" = ? AND owner = ?',
    ).get<LinkRow>([foreign, owner])
    return row && toLink(row)
  }

  linksOf(id: string): Link[] {
    return this.#sql('SELECT "foreign", owner, id, place, state FROM link WHERE id = ?')
      .all<LinkRow>([id])
      .map(toLink)
  }

  /** What was to be written when a run ended. */
  unwritten(): Link[] {
    return this.#sql('SELECT "foreign", owner, id, place, state FROM link WHERE written = 0 ORDER BY id')
      .all<LinkRow>()
      .map(toLink)
  }

  /** `isWritten`: it is there; otherwise it is about to be. */
  setLink({ foreign, owner, id, place, state }: Link, isWritten = true): void {
    this.#sql('INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?, ?)').run([
      ...[foreign, owner, id, place, state],
      isWritten ? 1 : 0,
    ])
  }

  /** How many copies of somebody are unread, as far as both sides agree. */
  unreadOf(owner: string): number {
    const sql = `SELECT count(*) FROM link WHERE owner = ? AND state = 'unread'`
    return this.#sql(sql).get<[number]>([owner])![0]
  }

  linkCount(): number {
    return this.#sql('SELECT count(*) FROM link').get<[number]>()![0]
  }

  close(): void {
    this.#db.close()
  }
}

const toLink = ([foreign, owner, id, place, state]: LinkRow): Link => ({ foreign, owner, id, place, state })

function open(path: string): Database {
  const db = alone(() => attachDatabase(path, patienceMs))
  try {
    alone(() => prepare(db))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function prepare(db: Database): void {
  db.exec(`PRAGMA ${at}.locking_mode = EXCLUSIVE`)
  db.exec(`PRAGMA ${at}.journal_mode = WAL`)
  db.exec(`PRAGMA ${at}.synchronous = NORMAL`)
  db.exec(`BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS ${at}.note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${at}.mark (path TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${at}.agent (name TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${at}.told (problem TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS ${at}.link (
      "foreign" TEXT, owner TEXT, id TEXT NOT NULL, place TEXT NOT NULL, state TEXT NOT NULL,
      written INTEGER NOT NULL, PRIMARY KEY ("foreign", owner)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS ${at}.link_id ON link (id);
    CREATE INDEX IF NOT EXISTS ${at}.link_unread ON link (owner) WHERE state = 'unread';
    CREATE INDEX IF NOT EXISTS ${at}.link_unwritten ON link (written) WHERE written = 0;
    COMMIT`)
}

/** Another process has it. */
export class BridgeTaken extends MailboxError {
  constructor() {
    super('conflict', 'this bridge is running in another process', {
      hint: 'see `mailbox bridge`; to end it: mailbox bridge stop',
    })
  }
}

/** One process works on a bridge at a time. */
function alone<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isBusy(error) && !(error instanceof Error && isBusy(error.cause))) throw error
    throw new BridgeTaken()
  }
}
