import { decodeLine, hasItsSum, looksWhole, prevText, sumText } from '../codec.ts'

/** A place in a file that is not as it was written. */
export interface ScrubFinding {
  segment: number
  offset: number
  /** Which of the copies it is in. */
  where: 'journal' | 'archive' | 'mirror'
  /** When it was found. */
  at?: string
}

const newline = 0x0a
const tornMark = Buffer.from('"kind":"torn"')
const headerMark = Buffer.from('"kind":"segment"')

/**
 * Checks the lines of a closed segment as they are read, a part at a time: their checksums, and that each follows the
 * one before. What writes that were cut off have left is explained by a later `torn` entry.
 */
export class LineScrub {
  /** Offsets of what is wrong. */
  readonly wrong: number[] = []
  #suspects: { offset: number; isWhole: boolean }[] = []
  #sum: string
  #rest = Buffer.alloc(0)
  #offset = 0

  /** `sum` is that of the line before the segment; empty if it is not known. */
  constructor(sum: string) {
    this.#sum = sum
  }

  /** The sum of the last line. */
  get sum(): string {
    return this.#sum
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      this.#line(bytes.subarray(start, end), this.#offset + start)
      start = end + 1
    }
    this.#offset += start
    this.#rest = Buffer.from(bytes.subarray(start))
  }

  #line(line: Buffer, offset: number): void {
    if (!hasItsSum(line)) {
      this.#suspects.push({ offset, isWhole: looksWhole(line) })
      return
    }
    const isLinked = this.#sum === '' || prevText(line) === this.#sum
    this.#sum = sumText(line)
    if (line.includes(tornMark)) this.#unseal(line)
    // A seal in a segment without a header comes after the header.
    else if (line.includes(headerMark)) return
    if (this.#suspects.length > 0) this.#blame()
    else if (!isLinked) this.wrong.push(offset)
  }

  #unseal(line: Buffer): void {
    const entry = decodeLine(line)?.entry
    if (entry?.kind !== 'torn') return
    const end = entry.offset + entry.bytes
    this.#suspects = this.#suspects.filter(({ offset }) => offset < entry.offset || offset >= end)
  }

  #blame(): void {
    for (const { offset } of this.#suspects) this.wrong.push(offset)
    this.#suspects = []
  }

  /** At the end of a segment a write that failed may have left something, but nothing that ends like a line. */
  end(): void {
    this.#suspects = this.#suspects.filter(({ isWhole }) => isWhole)
    this.#blame()
  }
}
