import { journalFormat, type SegmentReason } from '../../model/entry.ts'
import { isoTime, monthOf } from '../../model/time.ts'
import type { Cursor } from '../journal.ts'

export interface RotationOptions {
  segmentBytes: number
  /** Entries after which a new segment begins; 0: no limit. */
  segmentEntries: number
  /** `month`: a new segment also begins with every calendar month (UTC). */
  rotate: 'size' | 'month'
  now: () => number
}

/** Number and time of a segment's first entry. */
interface SegmentStart {
  seq: number
  at: string
  /** The format of its header; absent where there is none. */
  format?: number
}

/** Decides when a segment is full, and remembers why the current one was begun. */
export class Rotation {
  readonly #options: RotationOptions
  readonly #readStart: (segment: number) => SegmentStart | undefined
  #start: { segment: number; found: SegmentStart } | undefined
  /** The segment that was begun last, and why. Its first line may be refused and tried again. */
  #begun: { segment: number; reason: SegmentReason } | undefined

  constructor(options: RotationOptions, readStart: (segment: number) => SegmentStart | undefined) {
    this.#options = options
    this.#readStart = readStart
  }

  /**
   * What fills the segment; undefined while it may grow. Asked once per write, so a write of many entries
   * exceeds the limit, but is never split.
   */
  fullBy({ segment, offset, seq }: Cursor): SegmentReason | undefined {
    const { segmentBytes, segmentEntries, rotate, now } = this.#options
    if (offset === 0) return undefined
    if (offset >= segmentBytes) return 'size'
    const start = this.#startOf(segment)
    if (start === undefined) return undefined
    // An older program that reads the segment would take new kinds of entries for damage.
    if (start.format !== undefined && start.format < journalFormat) return 'upgraded'
    if (segmentEntries === 0 && rotate === 'size') return undefined
    if (segmentEntries > 0 && seq - start.seq + 1 >= segmentEntries) return 'count'
    return rotate === 'month' && monthOf(start.at) !== monthOf(isoTime(now())) ? 'month' : undefined
  }

  #startOf(segment: number): SegmentStart | undefined {
    if (this.#start?.segment !== segment) {
      const found = this.#readStart(segment)
      this.#start = found && { segment, found }
    }
    return this.#start?.found
  }

  begin(segment: number, reason: SegmentReason): void {
    this.#begun = { segment, reason }
  }

  /** Why the cursor's segment was begun. Another process may have begun it and died before it wrote the reason. */
  reasonFor({ seq, segment }: Cursor): SegmentReason {
    if (seq === 0) return 'created'
    return this.#begun?.segment === segment ? this.#begun.reason : 'size'
  }
}
