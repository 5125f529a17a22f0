import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type Libsql from 'libsql'
import { mayBeMusl } from './driver-target.ts'
import { notAFile } from './files.ts'

/**
 * The only file that knows the SQLite driver, so that `node:sqlite` can replace it when we drop Node 20.
 * Rows and parameters are arrays: that is the driver's fastest way, and it avoids its habit of treating a
 * single `null` as an object of named parameters.
 */
export type SqlValue = string | number | bigint | Buffer | null
export type SqlRow = SqlValue[]

/** `Row`: the types of the selected columns, which the caller knows. */
export interface Statement {
  run(parameters?: readonly SqlValue[]): void
  get<Row extends SqlRow>(parameters?: readonly SqlValue[]): Row | undefined
  all<Row extends SqlRow>(parameters?: readonly SqlValue[]): Row[]
  /** The same, a few rows at a time. */
  each<Row extends SqlRow>(parameters?: readonly SqlValue[]): Iterable<Row>
}

/**
 * A query whose rows come as one text: the driver takes longer for each row than SQLite to write it as JSON and
 * JavaScript to read it. `columns`: their names in the query.
 */
export const asText = (query: string, columns: string): string =>
  `SELECT json_group_array(json_array(${columns})) FROM (${query})`

/** The rows of such a query. */
export const rowsIn = <Row extends SqlRow>(
  statement: Statement,
  parameters: readonly SqlValue[] = [],
): Row[] => JSON.parse(statement.get<[string]>(parameters)![0]) as Row[]

export interface Database {
  readonly path: string
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

// Loaded on first use: in a short-lived process, loading the native library takes longer than the work.
let driver: typeof Libsql | undefined

/**
 * To detect the C library, the driver's loader creates a full diagnostic report of the process, twice, which
 * takes 8 ms. Where only one answer is possible, we give it that answer directly.
 */
function withShortReport<T>(load: () => T): T {
  const { report } = process
  if (process.platform !== 'linux' || report === undefined || mayBeMusl()) return load()
  const real = report.getReport
  report.getReport = () => ({ header: { glibcVersionRuntime: 'not asked' } })
  try {
    return load()
  } finally {
    report.getReport = real
  }
}

/** `busyMs`: how long a statement waits for another process's lock. */
export function openDatabase(path: string, busyMs: number): Database {
  const handle = connect(path, busyMs)
  return wrap(handle, path, () => void handle.close())
}

/** The name under which {@link attachDatabase} attaches its file. Tables are found without it. */
export const attachedName = 'file'

/**
 * The same for a database whose file must be let go the moment it is closed. The driver has no way to finalize
 * a statement, and keeps the file open until the garbage collector has found the last one; SQLite closes a file
 * that is detached at once. New tables would go into memory: create them with {@link openDatabase}.
 */
export function attachDatabase(path: string, busyMs: number): Database {
  const handle = connect(':memory:', busyMs)
  opening(path, () => handle.exec(`ATTACH '${path.replaceAll("'", "''")}' AS ${attachedName}`))
  return wrap(handle, path, () => {
    try {
      handle.exec(`DETACH ${attachedName}`)
    } finally {
      handle.close()
    }
  })
}

function connect(path: string, busyMs: number): Libsql.Database {
  driver ??= withShortReport(() => createRequire(import.meta.url)('libsql') as typeof Libsql)
  // The driver's timeout is in seconds by its types and in milliseconds in its code; the pragma is unambiguous.
  const create = driver
  const handle = opening(path, () => new create(path))
  handle.exec(`PRAGMA busy_timeout = ${busyMs}`)
  return handle
}

function wrap(handle: Libsql.Database, path: string, close: () => void): Database {
  return {
    path,
    exec: (sql) => void handle.exec(sql),
    prepare(sql) {
      const statement = handle.prepare(sql)
      // Statements that return no rows refuse raw mode.
      if (statement.reader) statement.raw()
      return {
        run: (parameters = []) => void statement.run(parameters),
        get: <Row extends SqlRow>(parameters: readonly SqlValue[] = []) =>
          statement.get(parameters) as Row | undefined,
        all: <Row extends SqlRow>(parameters: readonly SqlValue[] = []) => statement.all(parameters) as Row[],
        each: <Row extends SqlRow>(parameters: readonly SqlValue[] = []) =>
          statement.iterate(parameters) as Iterable<Row>,
      }
    },
    close,
  }
}

/**
 * SQLite calls every reason "unable to open": no more descriptors, no permission, a directory in its place. So we look
 * for the reason ourselves, without opening the file: closing it would release the locks of other threads on it.
 */
function opening<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (path !== ':memory:') {
      const dir = dirname(path)
      closeSync(openSync(dir, 'r'))
      accessSync(dir, constants.W_OK | constants.X_OK)
      const found = statSync(path, { throwIfNoEntry: false })
      if (found !== undefined && !found.isFile()) throw notAFile(path, cause)
    }
    if (isSqliteError(cause)) throw cause
    // The driver gives an error of opening no code.
    throw Object.assign(new Error(`cannot open ${path}`, { cause }), { code: 'SQLITE_CANTOPEN', rawCode: 14 })
  }
}

const primaryCode = (error: unknown): number =>
  error instanceof Error && typeof (error as { rawCode?: unknown }).rawCode === 'number'
    ? (error as unknown as { rawCode: number }).rawCode & 0xff
    : 0

/** SQLITE_BUSY, SQLITE_LOCKED and SQLITE_FULL. */
const busyCodes = [5, 6]
const fullCode = 13

export const isSqliteError = (error: unknown): boolean => primaryCode(error) !== 0
export const isBusy = (error: unknown): boolean => busyCodes.includes(primaryCode(error))
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export const isDamaged = (error: unknown): boolean => [11, 26].includes(primaryCode(error))
/** SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL and SQLITE_CANTOPEN. */
const unwritableCodes = [3, 8, fullCode, 14]

export const isUnwritableDatabase = (error: unknown): boolean => unwritableCodes.includes(primaryCode(error))
export const isDiskFull = (error: unknown): boolean => primaryCode(error) === fullCode
