import { closeSync } from 'node:fs'
import { MailboxError } from '../errors.ts'
import type { Gist } from '../model/entry.ts'
import { looksWhole, sumOf } from './codec.ts'
import { type Cursor, type Place, type Placed, type ReadResult, startCursor } from './journal.ts'
import { listSegments, openForRead, readFully, segmentExists, sizeOf } from './segment.ts'

const newline = 0x0a
const openSegments = 4

/** Bytes at the end of the last segment that are no line: what writers left that were cut off. */
export interface Fragment {
  offset: number
  bytes: Buffer
}

/** Reads a line without its newline; undefined when it is not a whole one. */
type Decode<E> = (line: Buffer) => { entry: E; sum: string } | undefined

/**
 * Reads segments from a cursor on. It keeps no half line in memory: a writer that runs out of disk takes
 * the half line back, and the next one may put other bytes there. Nor does it step over pieces of lines
 * before a whole line follows them: they are the next writer's to seal.
 */
export class SegmentReader<E extends Gist> {
  readonly #dir: string
  readonly #decode: Decode<E>
  readonly #fds = new Map<number, number>()

  constructor(dir: string, decode: Decode<E>) {
    this.#dir = dir
    this.#decode = decode
  }

  #fd(segment: number): number | undefined {
    const known = this.#fds.get(segment)
    if (known !== undefined) return known
    if (!segmentExists(this.#dir, segment)) return undefined
    if (this.#fds.size >= openSegments) this.close()
    const fd = openForRead(this.#dir, segment)
    this.#fds.set(segment, fd)
    return fd
  }

  read(from: Cursor, maxBytes: number): ReadResult<E> {
    const entries: Placed<E>[] = []
    let cursor = from
    let budget = maxBytes
    while (budget > 0) {
      const fd = this.#fd(cursor.segment)
      const size = fd === undefined ? 0 : sizeOf(fd)
      if (fd !== undefined && cursor.offset < size) {
        const before = cursor.offset
        cursor = this.#readLines(fd, cursor, Math.min(size, cursor.offset + budget), size, entries)
        budget -= Math.max(1, cursor.offset - before)
        if (cursor.offset > before) continue
      }
      // Nothing complete is left here. Once the next segment exists this one has had its last line,
      // but that line may have come after we looked.
      const next = this.#nextSegment(cursor.segment)
      if (next === undefined) break
      if (fd !== undefined && sizeOf(fd) > size) continue
      cursor = { ...cursor, segment: next, offset: 0 }
    }
    return { entries, cursor }
  }

  #nextSegment(segment: number): number | undefined {
    if (segmentExists(this.#dir, segment + 1)) return segment + 1
    if (this.#fd(segment) !== undefined) return undefined
    // The segment itself is gone (moved to the archive): go on with the first that is there.
    return listSegments(this.#dir).find((number) => number > segment)
  }

  #readLines(fd: number, from: Cursor, wanted: number, size: number, into: Placed<E>[]): Cursor {
    for (let end = wanted, before = -1; ; ) {
      const chunk = readFully(fd, from.offset, end - from.offset)
      const cursor = linesIn(chunk, from, this.#decode, into)
      // A line or a torn piece longer than the chunk: read on until something follows it, or the file
      // turns out to be shorter than it was.
      if (cursor.offset > from.offset || end >= size || chunk.length <= before) return cursor
      before = chunk.length
      end = Math.min(size, from.offset + chunk.length * 4)
    }
  }

  atEnd(cursor: Cursor): boolean {
    const fd = this.#fd(cursor.segment)
    return (
      (fd === undefined || sizeOf(fd) <= cursor.offset) && this.#nextSegment(cursor.segment) === undefined
    )
  }

  /** What lies behind the last line; call it only with the right to append. */
  fragment({ segment, offset }: Cursor): Fragment | undefined {
    const fd = this.#fd(segment)
    const size = fd === undefined ? 0 : sizeOf(fd)
    if (fd === undefined || size <= offset) return undefined
    return { offset, bytes: readFully(fd, offset, size - offset) }
  }

  fits(cursor: Cursor): boolean {
    if (cursor.seq === 0) return true
    const fd = this.#fd(cursor.segment)
    if (fd === undefined) return listSegments(this.#dir).some((number) => number > cursor.segment)
    // A cursor at the start of a segment has its last line in the one before.
    if (cursor.offset === 0) return true
    if (sizeOf(fd) < cursor.offset) return false
    // The line before the cursor may be a sealed fragment; then its own sum is not to be had here.
    const probe = 256
    const from = Math.max(0, cursor.offset - probe)
    const line = readFully(fd, from, cursor.offset - from)
    if (line.at(-1) !== newline) return false
    const sum = sumOf(line.subarray(0, -1))
    return sum === undefined || sum === cursor.sum
  }

  at(place: Place): E {
    const fd = this.#fd(place.segment)
    const decoded = fd === undefined ? undefined : this.#decode(readFully(fd, place.offset, place.bytes))
    if (decoded === undefined) {
      throw new MailboxError('damaged', `the line at ${place.segment}:${place.offset} cannot be read`, {
        hint: 'run `mailbox verify`; if the journal is whole, `mailbox rebuild` makes the index anew',
      })
    }
    return decoded.entry
  }

  /** The first entry of a segment, behind whatever a torn first write left there. */
  first(segment: number): E | undefined {
    for (let cursor = { ...startCursor, segment }; ; ) {
      const read = this.read(cursor, 65_536)
      const stuck = read.cursor.offset === cursor.offset || read.cursor.segment !== segment
      if (read.entries.length > 0 || stuck) return read.entries[0]?.entry
      cursor = read.cursor
    }
  }

  /** Number and time of a segment's first line, without reading the rest. Undefined when it was torn. */
  head(segment: number): { seq: number; at: string } | undefined {
    const fd = this.#fd(segment)
    const head = fd === undefined ? '' : readFully(fd, 0, 80).toString('latin1')
    const match = /^\{"seq":(\d+),"at":"([^"]{24})",/.exec(head)
    return match === null ? undefined : { seq: Number(match[1]), at: match[2]! }
  }

  /** A segment that a later version opened must not be taken for an empty or damaged one. */
  refuseOtherFormat(segment: number): void {
    const fd = this.#fd(segment)
    const head = fd === undefined ? '' : readFully(fd, 0, 200).toString('latin1')
    const format = /^\{"seq":\d+,"at":"[^"]*","kind":"segment","format":(\d+),/.exec(head)?.[1]
    if (format !== undefined && format !== '1') {
      throw new MailboxError('invalid', `this journal has format ${format}, and we read format 1`, {
        hint: 'open it with a newer agent-mailbox',
      })
    }
  }

  close(): void {
    for (const fd of this.#fds.values()) closeSync(fd)
    this.#fds.clear()
  }
}

/** Adds the entries of all lines that are complete in the chunk, and gives the place behind the last. */
function linesIn<E extends Gist>(chunk: Buffer, from: Cursor, decode: Decode<E>, into: Placed<E>[]): Cursor {
  const cursor = { ...from }
  let start = 0
  for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
    const line = chunk.subarray(start, end)
    const decoded = decode(line)
    if (decoded !== undefined) {
      const place = { segment: from.segment, offset: from.offset + start, bytes: end - start }
      into.push({ entry: decoded.entry, place })
      cursor.seq = decoded.entry.seq
      cursor.sum = decoded.sum
    }
    start = end + 1
    // Damage does not hold up the mail behind it; `verify` reports it.
    if (decoded !== undefined || looksWhole(line)) cursor.offset = from.offset + start
  }
  return cursor
}
