import type { Gist } from '../../model/entry.ts'
import { sumText } from '../codec.ts'
import {
  type Cursor,
  type DamagedLine,
  type Place,
  type ReadResult,
  type SummedEntry,
  startCursor,
} from '../journal.ts'
import { type Decode, wasNewline } from '../salvage.ts'
import { LineCounter } from './line-counter.ts'
import { LineWalk, lastIn } from './line-walk.ts'
import { OpenSegments } from './open-segments.ts'
import { listSegments, segmentExists } from './segment.ts'
import { Archive, type SegmentBytes } from './segment-bytes.ts'
import { SegmentOrder } from './segment-order.ts'

const newline = 0x0a
/** Reading goes on by this much when it has to find the next entry. */
const leastBytes = 65_536

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

/**
 * Reads segments from a cursor on. It keeps no partial line in memory: a writer on a full disk removes its
 * partial line, and the next writer may put other bytes there. Nor does it skip a partial line before a
 * complete line follows: the next writer has to seal it.
 */
export class SegmentReader<E extends Gist> {
  readonly #dir: string
  readonly #decode: Decode<E>
  readonly #files: OpenSegments
  /** The segment that was found to be the last one, so that it is looked up only once. */
  #last = 0
  /** How often the segment at the end was found to be gone, or to be another file than before. */
  replaced = 0
  /** The space that the segments belong to, once it is known. Those of another one are not read. */
  space: string | undefined
  /** The last segment read, and its size then. */
  #seen = { segment: 0, size: 0 }
  readonly #lines = new LineCounter()

  /** `order`: one for all readers of a journal that hand cursors to each other. */
  constructor(
    dir: string,
    decode: Decode<E>,
    { archive = new Archive(dir), order = new SegmentOrder() } = {},
  ) {
    this.#dir = dir
    this.#decode = decode
    this.#files = new OpenSegments(dir, archive, order)
  }

  /** `inOrder`: whether it looks for the file that follows; otherwise it takes them by their numbers. */
  read(from: Cursor, maxBytes: number, inOrder = true): ReadResult<E> {
    const walk = new LineWalk(from, this.#decode)
    const { cursor } = walk
    let budget = maxBytes
    while (budget > 0 || walk.isUnsettled) {
      if (inOrder && cursor.offset === 0) this.#findOrder(cursor)
      const look = this.#look(cursor.segment)
      if (cursor.offset === 0 && this.isForeign(cursor.segment)) cursor.offset = look.size
      if (look.bytes !== undefined && cursor.offset < look.size) {
        const before = cursor.offset
        this.#readLines(look.bytes, walk, budget > 0 ? budget : leastBytes, look.size)
        budget -= Math.max(1, cursor.offset - before)
        if (cursor.offset > before) continue
      }
      // No complete line is left here.
      const next = this.#nextSegment(cursor.segment, look)
      if (next === undefined) break
      const { segment, offset } = cursor
      const rest = { segment, offset, bytes: look.size - offset }
      const isLine =
        rest.bytes > 0 && walk.takeLast(look.bytes!.read(offset, rest.bytes), this.head(next)?.seq)
      walk.leave(rest.bytes > 0 && !isLine ? rest : undefined, next)
    }
    walk.end()
    return { entries: walk.entries, damaged: walk.lost.map((lost) => this.#numbered(lost)), cursor }
  }

  /** Before a segment is read: the line that it begins with follows the last one, unless files were swapped. */
  #findOrder({ segment, seq }: Cursor): void {
    const first = this.head(segment)?.seq
    if (first !== undefined && first !== seq + 1) this.reorder()
  }

  /** Finds out again in which order the files belong. Returns whether it is another than before. */
  reorder(): boolean {
    return this.#files.reorder((start) => {
      const entry: Gist | undefined = this.#decode(firstLineOf(start))?.entry
      const isOurs = entry?.kind === 'segment' && (this.space === undefined || entry.space === this.space)
      return isOurs ? entry.seq : undefined
    })
  }

  #readLines(bytes: SegmentBytes, walk: LineWalk<E>, wanted: number, size: number): void {
    const { offset } = walk.cursor
    for (let end = Math.min(size, offset + wanted), before = -1; ; ) {
      const chunk = bytes.read(offset, end - offset)
      walk.take(chunk)
      if (walk.cursor.offset > offset) return
      if (end >= size) walk.takeUnended(chunk)
      // A line or a fragment longer than the chunk: read on until something follows it, or the file turns
      // out to be shorter than it was.
      if (end >= size || chunk.length <= before) return
      before = chunk.length
      end = Math.min(size, offset + chunk.length * 4)
    }
  }

  /**
   * Checks for the next segment first and for this one after that, never the other way round. Once the next
   * one exists, this one is closed and its size is final. If the next one does not exist, either it never did,
   * or it has left the journal; segments leave one by one, the oldest first, so this one left before it. Every
   * write and every query comes through here, so it costs these two system calls and no more.
   */
  #look(segment: number): SegmentView {
    const followed = segmentExists(this.#dir, segment + 1)
    const plain = this.#files.plain(segment)
    const { size, live } = plain?.look() ?? { size: 0, live: false }
    if (plain !== undefined && live) return { bytes: plain, size, live, followed }
    // Our open file may be all that is left of it. It was removed: no index may be built from it any more.
    this.#files.forget(segment)
    const again = plain === undefined ? undefined : this.#files.plain(segment)
    const bytes = again ?? this.#files.unpack(segment)
    const isReplaced = again !== undefined || (bytes === undefined && !this.#hasAfter(segment))
    if (plain !== undefined && isReplaced) {
      this.replaced++
      this.#files.forgetOrder()
    }
    return { bytes, ...(bytes?.look() ?? { size: 0, live: false }), followed }
  }

  #hasAfter(segment: number): boolean {
    return listSegments(this.#dir).some((number) => number > segment)
  }

  #nextSegment(segment: number, { followed, live }: SegmentView): number | undefined {
    if (followed) return segment + 1
    if (live && this.#last === segment) return undefined
    // It was archived or removed, so it was not the last one; or the file of the next one is missing. Continue with
    // the next one that exists.
    const next = listSegments(this.#dir).find((number) => number > segment)
    if (!live) return next
    if (next === undefined) this.#last = segment
    // One that was begun just now is found the next time, after what was written to this one before.
    return next === segment + 1 && segmentExists(this.#dir, next) ? undefined : next
  }

  atEnd(cursor: Cursor): boolean {
    const look = this.#look(cursor.segment)
    this.#seen = { segment: cursor.segment, size: look.size }
    return look.size <= cursor.offset && this.#nextSegment(cursor.segment, look) === undefined
  }

  /** Whether the segment ends before the cursor, by what {@link atEnd} saw. */
  isCut({ segment, offset }: Cursor): boolean {
    return this.#seen.segment === segment && this.#seen.size < offset
  }

  /** What follows the last line. Only with the writer lock. */
  fragment({ segment, offset }: Cursor): Fragment | undefined {
    const opened = this.#files.any(segment)
    const size = opened?.look().size ?? 0
    if (opened === undefined || size <= offset) return undefined
    return { offset, bytes: opened.read(offset, size - offset) }
  }

  fits(cursor: Cursor): boolean {
    return this.#isAt(cursor) || (this.reorder() && this.#isAt(cursor))
  }

  #isAt(cursor: Cursor): boolean {
    if (cursor.seq === 0) return true
    const { bytes, size } = this.#look(cursor.segment)
    // Removed: what was built from it is about mail that is gone.
    if (bytes === undefined) return false
    // The line before a cursor at the start of a segment is in the segment before.
    if (cursor.offset === 0) return true
    if (size < cursor.offset) return false
    const from = Math.max(0, cursor.offset - 256)
    const line = bytes.read(from, cursor.offset - from)
    const end = line.at(-1)
    if (end !== newline && !wasNewline(end)) return false
    return sumText(line.subarray(0, line.at(-2) === 0x0d ? -2 : -1)) === cursor.sum
  }

  at(place: Place): E | undefined {
    return this.lineAt(place)?.entry
  }

  lineAt(place: Place): SummedEntry<E> | undefined {
    const { segment, offset, bytes } = place
    const line = this.#files.any(segment)?.read(offset, bytes)
    const decoded = line && this.#decode(line)
    if (decoded !== undefined) return decoded
    // A repair has replaced the file since it was opened, or files were swapped.
    const isReplaced = this.#files.isReplaced(segment)
    if (isReplaced) this.#files.forget(segment)
    return isReplaced || this.reorder() ? this.lineAt(place) : undefined
  }

  damageAt(place: Place): Omit<DamagedLine, 'seq'> | undefined {
    const { segment, offset, bytes } = place
    const start = Math.max(0, offset - 1)
    const opened = this.#files.any(segment)
    const around = opened?.read(start, offset + bytes + 1 - start)
    if (around === undefined) return undefined
    // The segment ends before it.
    if (around.length < offset + bytes + 1 - start) return this.#numbered(place)
    const isEnd = (byte: number | undefined) => byte === newline || wasNewline(byte)
    const isLine = opened!.isPartial || ((offset === 0 || isEnd(around[0])) && isEnd(around.at(-1)))
    const isBroken = this.#decode(around.subarray(offset - start, -1)) === undefined
    return isLine && isBroken ? this.#numbered(place) : undefined
  }

  #numbered<P extends Place>(place: P): P & { line: number } {
    return { ...place, line: this.#lines.lineOf(place, this.#files.any(place.segment)) }
  }

  /** The first entry of a segment, after whatever a torn first write left there. */
  first(segment: number): E | undefined {
    const [found] = this.read({ ...startCursor, segment }, 1, false).entries
    return found?.place.segment === segment ? found.entry : undefined
  }

  /** The last entry of a segment, searched from its end, where a failed write may have left something. */
  last(segment: number): E | undefined {
    const bytes = this.#files.any(segment)
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
    return this.#files.any(segment)?.look().size ?? 0
  }

  /** Number and time of a segment's first line, without reading the rest. Undefined if it cannot be read. */
  head(segment: number): { seq: number; at: string } | undefined {
    return this.#decode(this.firstLine(segment))?.entry
  }

  /** The first line of a segment, whatever it is. Empty if it is not complete, or too long for a header. */
  firstLine(segment: number): Buffer {
    return firstLineOf(this.#files.start(segment))
  }

  /** Whether the segment belongs to another space. A damaged first line does not tell. */
  isForeign(segment: number): boolean {
    if (this.space === undefined) return false
    const entry: Gist | undefined = this.#decode(this.firstLine(segment))?.entry
    return entry?.kind === 'segment' && entry.space !== this.space
  }

  /** Whether the file at this number is the segment that belongs there, as far as its first line tells. */
  isOurs(segment: number): boolean {
    const [before, own] = [this.head(segment - 1)?.seq, this.head(segment)?.seq]
    const isMisplaced = before !== undefined && own !== undefined && own <= before
    return this.#files.isInPlace(segment) && !isMisplaced && !this.isForeign(segment)
  }

  close(): void {
    this.#files.close()
  }
}

const firstLineOf = (start: Buffer): Buffer => start.subarray(0, Math.max(0, start.indexOf(newline)))

/** A cursor from which reading yields every entry after `seq`. */
export function locateIn<E extends Gist>(reader: SegmentReader<E>, dir: string, seq: number): Cursor {
  if (seq <= 0) return startCursor
  // From the end: most followers start there, and the archive is slower to read.
  for (const segment of listSegments(dir).reverse()) {
    // Files were swapped.
    if (!reader.isOurs(segment) && reader.reorder()) return locateIn(reader, dir, seq)
    const first = reader.head(segment)?.seq
    if (first !== undefined && first <= seq + 1) return { ...startCursor, seq: first - 1, segment }
  }
  return startCursor
}
