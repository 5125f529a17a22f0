import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { attachedName, type Database, type Statement } from '../base/sqlite.ts'
import { sleepSync } from '../base/timers.ts'
import { type OriginalPage, originalPages } from './rollback-journal.ts'
import { isSameStamp, readStamp, type Stamp, stampBytes, stampOf, writeStamp } from './stamp.ts'
import { UnfitIndex } from './unfit.ts'

/** For each page its checksum, and the one it had before the last transaction that changed it. */
const entryBytes = 8
/** A writer may be between its COMMIT and its stamp: wait for it about as long as it would take to read everything. */
const bytesPerWait = 262_144
const maxWaits = 40
const waitMs = 0.5
/** Even if nothing has touched the file, all of it is read again after this long: disks forget. */
const recheckMs = 3_600_000

/**
 * A checksum for every page of a database file, in a file beside it. SQLite has none: a flipped bit gives wrong
 * rows, hides some, or makes the driver abort the process on text that is not UTF-8. So no page is used that is
 * not as a writer of ours left it.
 *
 * To read all pages before every question would take too long. A writer leaves the inode, size and times of the
 * file with the sums, so whoever finds them unchanged knows that nobody else has written to it. Whoever finds
 * others reads every page: a writer was killed between its COMMIT and its stamp, the file was copied, or it is
 * damaged.
 *
 * A transaction writes its sums before it commits and keeps those of before, so that after a kill the pages fit
 * in whichever state SQLite leaves them. Nothing here is synced, like the index itself.
 */
export class PageSums {
  readonly #path: string
  readonly #fd: number
  readonly #pageCount: Statement
  readonly #freeCount: Statement
  readonly #page: Statement
  readonly #pages: Statement
  readonly #somePages: Statement
  #known: Stamp | undefined
  /** How many pages there were when the transaction began, and which of them were free. */
  #before = { pages: 0, free: new Set<number>() }

  constructor(path: string, database: Database) {
    this.#path = path
    this.#fd = openSync(sumsOf(path), constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600)
    this.#pageCount = database.prepare(`PRAGMA ${attachedName}.page_count`)
    this.#freeCount = database.prepare(`PRAGMA ${attachedName}.freelist_count`)
    const pages = `sqlite_dbpage('${attachedName}')`
    this.#page = database.prepare(`SELECT data FROM ${pages} WHERE pgno = ?`)
    this.#pages = database.prepare(`SELECT pgno, data FROM ${pages}`)
    this.#somePages = database.prepare(
      `SELECT p.pgno, p.data FROM json_each(?) n CROSS JOIN ${pages} p WHERE p.pgno = n.value`,
    )
  }

  /** Whether the file is as it was when all of it was right, which costs a look at its inode and no more. */
  isUntouched(): boolean {
    return this.#known !== undefined && isSameStamp(this.#known, stampOf(this.#path))
  }

  /** Throws unless every page is right. Only within a transaction: then nobody writes meanwhile. */
  confirm(): void {
    if (this.isUntouched()) return
    for (let waits = 0; ; waits++) {
      const left = readStamp(this.#fd)
      const found = stampOf(this.#path)
      if (left !== undefined && isSameStamp(left, found) && Date.now() - left.checkedAt < recheckMs) {
        this.#known = left
        return
      }
      if (waits >= Math.min(maxWaits, Math.floor(found.size / bytesPerWait))) break
      sleepSync(waitMs)
    }
    this.verify()
  }

  /** Reads every page. */
  verify(): void {
    const [wrong] = this.wrongPages()
    if (wrong !== undefined) throw new UnfitIndex(wrongPage(wrong))
    this.#stamp(Date.now())
  }

  /** The pages that are not as a writer of ours left them, of those that SQLite uses. Only within a transaction. */
  wrongPages(): number[] {
    const count = this.#count()
    const sums = this.#read(count)
    const wrong: number[] = []
    for (const [number, content] of this.#pages.each<[number, Buffer]>())
      if (!fits(sums, number, content)) wrong.push(number)
    if (wrong.length === 0) return wrong
    // SQLite never reads what a free page has, and does not always write or restore it.
    const free = this.#freePages(count)
    return wrong.filter((number) => !free.has(number))
  }

  /** A write transaction has begun. */
  begin(): void {
    const pages = this.#count()
    this.#before = { pages, free: this.#freePages(pages) }
  }

  /** It is about to commit. */
  record(): void {
    const count = this.#count()
    const { pages, free } = this.#before
    const sums = this.#read(count)
    const originals = this.#originals()
    const changed = new Set(everyPage(count).slice(originals === undefined ? 0 : pages))
    for (const { number, content } of originals ?? []) {
      // It was read and changed just now: the last moment to notice that it was wrong.
      if (!fits(sums, number, content) && !free.has(number)) throw new UnfitIndex(wrongPage(number))
      if (number > count) continue
      sums.writeUInt32LE(sumOf(number, content), at(number))
      changed.add(number)
    }
    if (free.size > 0) {
      const stillFree = this.#freePages(count)
      for (const number of free) if (number <= count && !stillFree.has(number)) changed.add(number)
    }
    this.#put(sums, [...changed])
  }

  /** It has been committed. */
  committed(): void {
    this.#stamp(this.#known?.checkedAt ?? 0)
  }

  /** Sums of a database that was just created. */
  create(): void {
    const count = this.#count()
    this.#put(Buffer.alloc(count * entryBytes), everyPage(count))
    this.#stamp(Date.now())
  }

  close(): void {
    closeSync(this.#fd)
  }

  #put(sums: Buffer, numbers: number[]): void {
    if (numbers.length === 0) return
    let [first, last] = [sums.length, 0]
    for (const [number, content] of this.#somePages.each<[number, Buffer]>([JSON.stringify(numbers)])) {
      const place = at(number)
      sums.writeUInt32LE(sums.readUInt32LE(place), place + 4)
      sums.writeUInt32LE(sumOf(number, content), place)
      first = Math.min(first, place)
      last = Math.max(last, place + entryBytes)
    }
    const from = stampBytes + first
    if (writeSync(this.#fd, sums, first, last - first, from) !== last - first)
      throw Object.assign(new Error('no room for the checksums'), { code: 'ENOSPC' })
  }

  /** Undefined if they cannot be told. */
  #originals(): OriginalPage[] | undefined {
    try {
      return originalPages(`${this.#path}-journal`)
    } catch {
      return undefined
    }
  }

  #count(): number {
    return this.#pageCount.get<[number]>()![0]
  }

  #read(count: number): Buffer {
    const sums = Buffer.alloc(count * entryBytes)
    readSync(this.#fd, sums, 0, sums.length, stampBytes)
    return sums
  }

  /** The pages that a list of free ones names; those that hold the list are not among them. */
  #freePages(count: number): Set<number> {
    const free = new Set<number>()
    if (this.#freeCount.get<[number]>()![0] === 0) return free
    const visited = new Set<number>()
    let trunk = this.#content(1).readUInt32BE(32)
    while (trunk !== 0 && trunk <= count && !visited.has(trunk)) {
      visited.add(trunk)
      const content = this.#content(trunk)
      const leaves = Math.min(content.readUInt32BE(4), content.length / 4 - 2)
      for (let leaf = 0; leaf < leaves; leaf++) free.add(content.readUInt32BE(8 + leaf * 4))
      trunk = content.readUInt32BE(0)
    }
    for (const number of visited) free.delete(number)
    return free
  }

  #content(number: number): Buffer {
    const [content] = this.#page.get<[Buffer | null]>([number]) ?? []
    if (!Buffer.isBuffer(content)) throw new UnfitIndex(`there is no page ${number}`)
    return content
  }

  #stamp(checkedAt: number): void {
    this.#known = { ...stampOf(this.#path), checkedAt }
    writeStamp(this.#fd, this.#known)
  }
}

export const sumsOf = (path: string): string => `${path}-sums`

const wrongPage = (number: number): string => `page ${number} is not as it was written`
const everyPage = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const at = (number: number): number => (number - 1) * entryBytes

function fits(sums: Buffer, number: number, content: Buffer): boolean {
  const place = at(number)
  if (place + entryBytes > sums.length) return false
  const sum = sumOf(number, content)
  return sums.readUInt32LE(place) === sum || sums.readUInt32LE(place + 4) === sum
}

/** COMMIT itself counts itself in three fields of the first page, after everything else. */
function sumOf(number: number, content: Buffer): number {
  if (number !== 1) return crc32(content)
  const start = crc32(content.subarray(0, 24))
  return crc32(content.subarray(100), crc32(content.subarray(28, 92), start))
}
