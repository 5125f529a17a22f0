import { closeSync } from 'node:fs'
import type { Damage } from '../damage.ts'
import { ChainCheck } from './chain-check.ts'
import { readFirst } from './first-mark.ts'
import { readHead } from './head-mark.ts'
import type { SegmentBytes } from './segment-bytes.ts'
import { bytesOf, inOrderOfSeq, openAll, spaceOf } from './segment-set.ts'

export interface VerifyOptions {
  onProgress?: (done: { bytes: number; total: number }) => void
  signal?: AbortSignal
  /** Damage that was found before. */
  known?: readonly KnownDamage[]
  /** What is known from outside of an entry of a space. */
  seenIn?: (space: string) => SeenEntry | undefined
}

/** Damage that was found before, and when. */
export interface KnownDamage {
  segment: number
  offset: number
  at?: string
}

/** What is known of an entry from outside the journal. */
export interface SeenEntry {
  seq: number
  sum: string
  at: string
}

/** What a check knows before it begins. */
export interface Beforehand {
  known: readonly KnownDamage[]
  seen: SeenEntry | undefined
}

interface TornWrite {
  segment: number
  offset: number
  bytes: number
  /** Whether a later writer has sealed it; the last one may not be sealed yet. */
  sealed: boolean
}

export interface VerifyReport {
  segments: number
  entries: number
  messages: number
  bytes: number
  /** Writes that were cut off. Nothing in them was ever acknowledged. */
  torn: TornWrite[]
  /** Messages without a signature, of senders that had signed before: their seqs. */
  unsigned: number[]
  /** What is damaged, one sentence each; with `deep` also where the index differs. */
  problems: string[]
  /** The damage to the journal, by name and place. */
  damage: Damage[]
}

const chunkBytes = 4 * 1_048_576

/**
 * Checks every line of every segment: its checksum, its link to the line before, its number; and the end of the
 * journal against the mark of what was acknowledged. It opens files for reading only, and takes no lock.
 */
export async function verifyJournal(dir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  // First: everything that was acknowledged by now is in the files that are opened next.
  const head = readHead(dir)
  const report: VerifyReport = {
    segments: 0,
    entries: 0,
    messages: 0,
    bytes: 0,
    torn: [],
    unsigned: [],
    problems: [],
    damage: [],
  }
  const files = openAll(dir)
  try {
    const total = files.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
    const space = spaceOf(files, head?.space)
    const check = new ChainCheck(report, head?.space === space ? head : undefined, {
      known: options.known ?? [],
      seen: space === undefined ? undefined : options.seenIn?.(space),
    })
    check.numbers(
      files.map(({ segment }) => segment),
      readFirst(dir, space),
    )
    let done = 0
    for (const { file, slot } of inOrderOfSeq(files, space)) {
      const { segment } = file
      const isForeign = file.space !== undefined && file.space !== space
      const bytes = isForeign ? undefined : bytesOf(file, (what) => check.unreadable(segment, what))
      const size = bytes?.look().size ?? 0
      check.startSegment(segment, slot, bytes && size)
      if (isForeign) check.foreign(segment)
      for (const { line, offset, complete } of bytes === undefined ? [] : linesOf(bytes, size)) {
        check.line(line, offset, complete)
        if ((report.entries & 0x3ff) === 0) {
          options.signal?.throwIfAborted()
          options.onProgress?.({ bytes: done + Math.round(file.fileBytes * (offset / size)), total })
          await new Promise(setImmediate)
        }
      }
      report.segments++
      report.bytes += size
      done += file.fileBytes
      options.onProgress?.({ bytes: done, total })
    }
    check.end()
  } finally {
    for (const { fd } of files) closeSync(fd)
  }
  return report
}

interface RawLine {
  line: Buffer
  offset: number
  complete: boolean
}

function* linesOf(bytes: SegmentBytes, size: number): Generator<RawLine> {
  let offset = 0
  let wanted = chunkBytes
  while (offset < size) {
    const chunk = bytes.read(offset, Math.min(wanted, size - offset))
    let start = 0
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      yield { line: chunk.subarray(start, end), offset: offset + start, complete: true }
      start = end + 1
    }
    if (start === 0 && offset + chunk.length >= size) {
      yield { line: chunk, offset, complete: false }
      return
    }
    wanted = start === 0 ? wanted * 2 : chunkBytes
    offset += start
  }
}
