import type { Gist } from '../../model/entry.ts'
import { looksWhole, sumText } from '../codec.ts'
import type { Cursor, Place, Placed } from '../journal.ts'
import { type Decode, type Piece, salvage, wasNewline } from '../salvage.ts'

const newline = 0x0a

/** Bytes that are no entry and may have been one. */
interface Suspect {
  place: Place
  /** It ends like a line, so it was one. The beginning of a line may be all that ever was written of it. */
  isSure: boolean
}

/** A record that cannot be read, and the seq that it took. */
export type LostRecord = Place & { seq: number }

/**
 * A way through the lines of a journal, from a cursor on. A line that does not check costs its own record and no
 * other. How many records are lost between two entries follows from their seqs, so that neither the two halves of a
 * line nor the rest of a write that was cut off count as more than they were.
 */
export class LineWalk<E extends Gist> {
  readonly entries: Placed<E>[] = []
  readonly lost: LostRecord[] = []
  readonly cursor: Cursor
  readonly #decode: Decode<E>
  /** The seq of the last entry. */
  #seq: number
  /** What stands between the last entry and the cursor. */
  #suspects: Suspect[] = []

  constructor(from: Cursor, decode: Decode<E>) {
    this.cursor = { ...from }
    this.#decode = decode
    this.#seq = from.seq
  }

  /** Whether the next entry tells more about what was met last. */
  get isUnsettled(): boolean {
    return this.#suspects.length > 0 || this.entries.length === 0
  }

  /**
   * Takes all complete lines of the bytes that begin at the cursor. It stays in front of what may be the beginning
   * of a line that is still being written, until a complete line follows.
   */
  take(chunk: Buffer): void {
    const { cursor } = this
    const { segment, offset: base } = cursor
    let start = 0
    let broken = -1
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end)
      const decoded = this.#decode(line)
      if (broken < 0 && (isBlank(line) || this.#isStray(decoded?.entry, chunk, end + 1))) {
        cursor.offset = base + end + 1
      } else if (decoded !== undefined && broken < 0 && this.#isNext(decoded.entry)) {
        this.entries.push({
          entry: decoded.entry,
          place: { segment, offset: base + start, bytes: end - start },
        })
        this.#seq = cursor.seq = decoded.entry.seq
        cursor.sum = decoded.sum
        cursor.offset = base + end + 1
      } else {
        const pieces =
          decoded === undefined ? salvage(line, this.#decode) : [{ start: 0, end: line.length, decoded }]
        broken = this.#takePieces(line, pieces, base, start, broken)
      }
      start = end + 1
    }
  }

  /**
   * Whether an entry is out of place: its seq is too high for what is before it and for what follows it. Where lines
   * are missing, the seqs rise from there on.
   */
  #isStray(entry: E | undefined, chunk: Buffer, after: number): boolean {
    if (entry === undefined || entry.seq <= this.#seq + 1) return false
    const end = chunk.indexOf(newline, after)
    const next = (end < 0 ? undefined : this.#decode(chunk.subarray(after, end))?.entry.seq) ?? 0
    return next > this.#seq && next <= entry.seq
  }

  #isNext({ seq }: Gist): boolean {
    return seq === this.cursor.seq + 1 && this.#suspects.length === 0
  }

  /**
   * The last line of a file whose newline has a flipped bit: it is complete, because the newline is written after
   * it. What is appended then follows on the same line.
   */
  takeUnended(rest: Buffer): void {
    if (!wasNewline(rest.at(-1))) return
    const pieces = salvage(rest.subarray(0, -1), this.#decode)
    if (pieces.at(-1)!.decoded !== undefined)
      this.#takePieces(rest.subarray(0, -1), pieces, this.cursor.offset, 0, -1)
  }

  /**
   * The end of a closed segment without its newline: it is a line if the next segment, which begins with `next`, goes
   * on after it. Otherwise it is what a write that failed has left.
   */
  takeLast(rest: Buffer, next: number | undefined): boolean {
    const pieces = salvage(rest, this.#decode)
    const last = pieces.at(-1)!.decoded?.entry.seq
    if (last === undefined || last + 1 !== next) return false
    this.#takePieces(rest, pieces, this.cursor.offset, 0, -1)
    return true
  }

  /** `broken`: where bytes begin that are not explained yet, -1 if there are none. Returns that for what follows. */
  #takePieces(line: Buffer, pieces: Piece<E>[], base: number, start: number, broken: number): number {
    const { cursor } = this
    const placeOf = (from: number, to: number): Place => {
      return { segment: cursor.segment, offset: base + from, bytes: to - from }
    }
    let open = broken
    for (const piece of pieces) {
      const [from, to] = [start + piece.start, start + piece.end]
      const { decoded } = piece
      if (decoded !== undefined) {
        if (open >= 0 && !seals(decoded.entry, base + open))
          this.#suspects.push({ place: placeOf(open, from - 1), isSure: false })
        this.#accept({ entry: decoded.entry, place: placeOf(from, to) }, decoded.sum)
      } else if (looksWhole(line.subarray(piece.start, piece.end))) {
        // What stands before it is its first half, if it has none of its own.
        const isHalf = open >= 0 && !line.subarray(piece.start).toString('latin1', 0, 7).startsWith('{"seq":')
        this.#suspects.push({ place: placeOf(isHalf ? open : from, to), isSure: true })
        cursor.sum = sumText(line.subarray(piece.start, piece.end))
        cursor.seq++
      } else {
        if (open < 0) open = from
        continue
      }
      open = -1
      cursor.offset = base + start + line.length + 1
    }
    return open
  }

  #accept(placed: Placed<E>, sum: string): void {
    const { seq } = placed.entry
    // It was read before: a copy of an older line.
    if (seq <= this.#seq) return
    this.cursor.sum = sum
    this.#settle(seq - this.#seq - 1)
    this.entries.push(placed)
    this.#seq = this.cursor.seq = seq
  }

  /** Where a segment ends with something that is no line. The next entry tells whether a record was lost with it. */
  leave(rest: Place | undefined, next: number): void {
    if (rest !== undefined) this.#suspects.push({ place: rest, isSure: false })
    this.cursor.segment = next
    this.cursor.offset = 0
  }

  /** At the end of reading: what ends like a line was one. */
  end(): void {
    this.#settle(this.cursor.seq - this.#seq)
  }

  /** Names as many suspects as there are seqs missing. */
  #settle(missing: number): void {
    if (this.#suspects.length === 0) return
    const all = this.#suspects
    this.#suspects = []
    const surestFirst = all.toSorted((a, b) => Number(b.isSure) - Number(a.isSure))
    const named = new Set(surestFirst.slice(0, missing))
    for (const one of all) if (named.has(one)) this.lost.push({ ...one.place, seq: ++this.#seq })
  }
}

/** Whether an entry says that what begins at this offset is the rest of a write that was cut off. */
const seals = (entry: Gist, offset: number): boolean =>
  entry.kind === 'torn' && offset >= entry.offset && offset < entry.offset + entry.bytes

/** An empty line is an editor's: no write that was cut off leaves one. */
const isBlank = (line: Buffer): boolean => line.length === 0 || (line.length === 1 && line[0] === 0x0d)

/** The entry of the last valid line in the chunk. The first line may be cut off; then it is not valid. */
export function lastIn<E>(chunk: Buffer, decode: Decode<E>): E | undefined {
  for (let end = chunk.lastIndexOf(newline); end >= 0; ) {
    const start = chunk.subarray(0, end).lastIndexOf(newline)
    const decoded = decode(chunk.subarray(start + 1, end))
    if (decoded !== undefined) return decoded.entry
    end = start
  }
  return undefined
}
