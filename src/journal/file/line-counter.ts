import type { Place } from '../journal.ts'
import type { SegmentBytes } from './segment-bytes.ts'

const newline = 0x0a
const chunkBytes = 1_048_576

/** Numbers the lines of segments, for those few that are damaged. It goes on from where it counted last. */
export class LineCounter {
  #counted = { segment: 0, offset: 0, line: 1 }

  /** The number of the line at a place, counted from 1. */
  lineOf({ segment, offset }: Place, bytes: SegmentBytes | undefined): number {
    if (this.#counted.segment !== segment || this.#counted.offset > offset)
      this.#counted = { segment, offset: 0, line: 1 }
    const counted = this.#counted
    while (bytes !== undefined && counted.offset < offset) {
      const chunk = bytes.read(counted.offset, Math.min(offset - counted.offset, chunkBytes))
      if (chunk.length === 0) break
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) counted.line++
      counted.offset += chunk.length
    }
    return counted.line
  }
}
