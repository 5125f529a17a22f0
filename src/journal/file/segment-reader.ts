import { closeSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { type Gist, readableFormats } from '../../model/entry.ts'
import { looksWhole, sumOf } from '../codec.ts'
import { type Cursor, type Place, type Placed, type ReadResult, startCursor } from '../journal.ts'
import { listArchived, listSegments, openForRead, segmentExists, segmentPath } from './segment.ts'
import { Archive, PlainSegment, type SegmentBytes } from './segment-bytes.ts'

const newline = 0x0a
const openSegments = 4
const unpackedSegments = 2

/** Bytes at the end of the last segment that are not a line: the rest of a write that was cut off. */
export interface Fragment {
  offset: number
  bytes: Buffer
}

/** A segment as it is now, and whether the next one is in the journal. */
interface SegmentView {
  bytes: SegmentBytes | undefined
  size: number
  live: boolean
  followed: boolean
}

/** Decodes a line without its newline; undefined if it is not complete. */
type Decode<E> = (line: Buffer) => { entry: E; sum: string } | undefined

/**
 * Reads segments from a cursor on. It keeps no partial line in memory: a writer on a full disk removes its
 * partial line, and the next writer may put other bytes there. Nor does it skip a partial line before a
 * complete line follows: the next writer has to seal it.
 */
export class SegmentReader<E extends Gist> {
  readonly #dir: string
  readonly #decode: Decode<E>
  readonly #archive: Archive
  readonly #plain = new Map<number, PlainSegment>()
  /** In the order of their last use. */
  readonly #unpacked = new Map<number, SegmentBytes>()
  /** The segment that was found to be the last one, so that it is looked up only once. */
  #last = 0

  constructor(dir: string, decode: Decode<E>) {
    this.#dir = dir
    this.#decode = decode
    this.#archive = new Archive(dir)
  }

  #open(segment: number): SegmentBytes | undefined {
    return this.#openPlain(segment) ?? this.#unpack(segment)
  }

  #openPlain(segment: number): SegmentBytes | undefined {
    const known = this.#plain.get(segment)
    if (known !== undefined || this.#unpacked.has(segment)) return known
    const fd = openForRead(segmentPath(this.#dir, segment))
    if (fd === undefined) return undefined
    if (this.#plain.size >= openSegments) this.#closePlain()
    const opened = new PlainSegment(fd)
    this.#plain.set(segment, opened)
    return opened
  }

  #unpack(segment: number): SegmentBytes | undefined {
    const known = this.#archive.has(segment) ? this.#unpacked.get(segment) : undefined
    const bytes = known ?? this.#archive.unpack(segment)
    this.#unpacked.delete(segment)
    if (bytes === undefined) return undefined
    this.#unpacked.set(segment, bytes)
    const [oldest] = this.#unpacked.keys()
    if (this.#unpacked.size > unpackedSegments) this.#unpacked.delete(oldest!)
    return bytes
  }

  read(from: Cursor, maxBytes: number): ReadResult<E> {
    const entries: Placed<E>[] = []
    let cursor = from
    let budget = maxBytes
    while (budget > 0) {
      const look = this.#look(cursor.segment)
      if (look.bytes !== undefined && cursor.offset < look.size) {
        const before = cursor.offset
        const wanted = Math.min(look.size, cursor.offset + budget)
        cursor = this.#readLines(look.bytes, cursor, wanted, look.size, entries)
        budget -= Math.max(1, cursor.offset - before)
        if (cursor.offset > before) continue
      }
      // No complete line is left here.
      const next = this.#nextSegment(cursor.segment, look)
      if (next === undefined) break
      cursor = { ...cursor, segment: next, offset: 0 }
    }
    return { entries, cursor }
  }

  /**
   * Checks for the next segment first and for this one after that, never the other way round. Once the next
   * one exists, this one is closed and its size is final. If the next one does not exist, either it never did,
   * or it has left the journal; segments leave one by one, the oldest first, so this one left before it. Every
   * write and every query comes through here, so it costs these two system calls and no more.
   */
  #look(segment: number): SegmentView {
    const followed = segmentExists(this.#dir, segment + 1)
    const plain = this.#openPlain(segment)
    const { size, live } = plain?.look() ?? { size: 0, live: false }
    if (plain !== undefined && live) return { bytes: plain, size, live, followed }
    // Our open file may be all that is left of it. It was removed: no index may be built from it any more.
    this.#forget(segment)
    const bytes = this.#unpack(segment)
    return { bytes, size: bytes?.look().size ?? 0, live: false, followed }
  }

  #nextSegment(segment: number, { followed, live }: SegmentView): number | undefined {
    if (followed) return segment + 1
    if (live && !this.#isStray(segment)) return undefined
    // It was archived or removed, so it was not the last one: continue with the next one that exists.
    return listSegments(this.#dir).find((number) => number > segment)
  }

  /** Whether later segments are archived already: then someone unpacked this one into the journal by hand. */
  #isStray(segment: number): boolean {
    if (this.#last === segment) return false
    const isStray = Math.max(0, ...listArchived(this.#dir).keys()) > segment
    if (!isStray) this.#last = segment
    return isStray
  }

  #readLines(bytes: SegmentBytes, from: Cursor, wanted: number, size: number, into: Placed<E>[]): Cursor {
    for (let end = wanted, before = -1; ; ) {
      const chunk = bytes.read(from.offset, end - from.offset)
      const cursor = linesIn(chunk, from, this.#decode, into)
      // A line or a fragment longer than the chunk: read on until something follows it, or the file turns
      // out to be shorter than it was.
      if (cursor.offset > from.offset || end >= size || chunk.length <= before) return cursor
      before = chunk.length
      end = Math.min(size, from.offset + chunk.length * 4)
    }
  }

  atEnd(cursor: Cursor): boolean {
    const look = this.#look(cursor.segment)
    return look.size <= cursor.offset && this.#nextSegment(cursor.segment, look) === undefined
  }

  /** What follows the last line. Only with the writer lock. */
  fragment({ segment, offset }: Cursor): Fragment | undefined {
    const opened = this.#open(segment)
    const size = opened?.look().size ?? 0
    if (opened === undefined || size <= offset) return undefined
    return { offset, bytes: opened.read(offset, size - offset) }
  }

  fits(cursor: Cursor): boolean {
    if (cursor.seq === 0) return true
    const { bytes, size } = this.#look(cursor.segment)
    // Removed: what was built from it is about mail that is gone.
    if (bytes === undefined) return false
    // The line before a cursor at the start of a segment is in the segment before.
    if (cursor.offset === 0) return true
    if (size < cursor.offset) return false
    // The line before the cursor may be a sealed fragment, which has no sum.
    const from = Math.max(0, cursor.offset - 256)
    const line = bytes.read(from, cursor.offset - from)
    if (line.at(-1) !== newline) return false
    const sum = sumOf(line.subarray(0, -1))
    return sum === undefined || sum === cursor.sum
  }

  at(place: Place): E {
    const line = this.#open(place.segment)?.read(place.offset, place.bytes)
    const decoded = line && this.#decode(line)
    if (decoded === undefined) {
      throw new MailboxError('damaged', `the line at ${place.segment}:${place.offset} cannot be read`, {
        hint: 'run `mailbox verify`; if the journal is intact, run `mailbox rebuild`',
      })
    }
    return decoded.entry
  }

  /** The first entry of a segment, after whatever a torn first write left there. */
  first(segment: number): E | undefined {
    for (let cursor = { ...startCursor, segment }; ; ) {
      const read = this.read(cursor, 65_536)
      const stuck = read.cursor.offset === cursor.offset || read.cursor.segment !== segment
      if (read.entries.length > 0 || stuck) return read.entries[0]?.entry
      cursor = read.cursor
    }
  }

  /** The last entry of a segment, searched from its end, where a failed write may have left something. */
  last(segment: number): E | undefined {
    const bytes = this.#open(segment)
    if (bytes === undefined) return undefined
    const { size } = bytes.look()
    for (let span = 65_536; ; span *= 4) {
      const start = Math.max(0, size - span)
      const found = lastIn(bytes.read(start, size - start), this.#decode)
      if (found !== undefined || start === 0) return found
    }
  }

  /** Bytes of a segment, unpacked. */
  size(segment: number): number {
    return this.#open(segment)?.look().size ?? 0
  }

  /** Number and time of a segment's first line, without reading the rest. Undefined if it is torn. */
  head(segment: number): { seq: number; at: string } | undefined {
    const match = /^\{"seq":(\d+),"at":"([^"]{24})",/.exec(this.#startOf(segment))
    return match === null ? undefined : { seq: Number(match[1]), at: match[2]! }
  }

  #startOf(segment: number): string {
    const known = this.#openPlain(segment) ?? this.#unpacked.get(segment)
    return (known?.read(0, 200) ?? this.#archive.start(segment))?.toString('latin1', 0, 200) ?? ''
  }

  /** A segment that a later version began must not be mistaken for an empty or damaged one. */
  refuseOtherFormat(segment: number): void {
    const start = this.#startOf(segment)
    const format = /^\{"seq":\d+,"at":"[^"]*","kind":"segment","format":(\d+),/.exec(start)?.[1]
    if (format !== undefined && !readableFormats.includes(Number(format) as 1)) {
      const known = readableFormats.join(' and ')
      throw new MailboxError('invalid', `this journal has format ${format}; this version reads ${known}`, {
        hint: 'open it with a newer agent-mailbox',
      })
    }
  }

  #forget(segment: number): void {
    const plain = this.#plain.get(segment)
    if (plain !== undefined) closeSync(plain.fd)
    this.#plain.delete(segment)
  }

  #closePlain(): void {
    for (const { fd } of this.#plain.values()) closeSync(fd)
    this.#plain.clear()
  }

  close(): void {
    this.#closePlain()
    this.#unpacked.clear()
  }
}

/** Adds the entries of all complete lines in the chunk, and returns the cursor behind the last one. */
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
    // A damaged line does not block the mail behind it; `verify` reports it.
    if (decoded !== undefined || looksWhole(line)) cursor.offset = from.offset + start
  }
  return cursor
}

/** The entry of the last valid line in the chunk. The first line may be cut off; then it is not valid. */
function lastIn<E>(chunk: Buffer, decode: Decode<E>): E | undefined {
  for (let end = chunk.lastIndexOf(newline); end >= 0; ) {
    const start = end === 0 ? -1 : chunk.lastIndexOf(newline, end - 1)
    const decoded = decode(chunk.subarray(start + 1, end))
    if (decoded !== undefined) return decoded.entry
    end = start
  }
  return undefined
}
