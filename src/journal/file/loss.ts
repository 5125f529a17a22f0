import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory, writeFileAtomically } from '../../base/files.ts'
import type { DamageDraft, Gist } from '../../model/entry.ts'
import { damagedDir } from '../damage.ts'
import { type Cursor, startCursor } from '../journal.ts'
import { listSegments, openForAppend, segmentExists } from './segment.ts'
import type { SegmentReader } from './segment-reader.ts'

/** Entries that were acknowledged, and are not in the journal any more. */
export interface Loss {
  /** The last of them: what comes next continues after it, as if it were there. */
  known: Pick<Cursor, 'seq' | 'sum'>
  /** The segment to continue in. Nothing is appended to the one that is damaged. */
  next: number
  draft: DamageDraft
  /** What stands after the last entry that can be read. */
  remains: Buffer
}

/** Finds what is lost before `known`, which is beyond the last entry that can be read. Only with the writer lock. */
export function findLoss(
  reader: SegmentReader<Gist>,
  dir: string,
  known: Pick<Cursor, 'seq' | 'sum' | 'segment'>,
): Loss {
  const segments = listSegments(dir)
  const next = Math.max(known.segment, segments.at(-1) ?? 0) + 1
  const last = lastReadable(reader, segments)
  const fragment = reader.fragment({ ...startCursor, ...last })
  const remains = fragment?.bytes ?? Buffer.alloc(0)
  const kept = `${String(last.segment).padStart(8, '0')}-${last.offset}-before-${next}.bytes`
  return {
    known,
    next,
    remains,
    draft: {
      kind: 'damage',
      from: last.seq + 1,
      to: known.seq,
      segment: last.segment,
      offset: last.offset,
      bytes: remains.length,
      ...(remains.length > 0 && { kept }),
    },
  }
}

/** The last entry that can be read, and where its line ends. */
function lastReadable(reader: SegmentReader<Gist>, segments: readonly number[]) {
  for (const segment of segments.toReversed()) {
    const { entries } = reader.read({ ...startCursor, segment }, Number.MAX_SAFE_INTEGER)
    const last = entries.at(-1)
    if (last === undefined) continue
    const { place, entry } = last
    return { seq: entry.seq, segment: place.segment, offset: place.offset + place.bytes + 1 }
  }
  return { seq: 0, segment: segments[0] ?? 1, offset: 0 }
}

/** Keeps the damaged bytes aside, and makes sure that the next segment follows without a gap in the numbers. */
export function closeDamaged(dir: string, { draft: { kept }, remains, next }: Loss): void {
  if (kept !== undefined) {
    const aside = join(dir, damagedDir)
    mkdirSync(aside, { recursive: true, mode: 0o700 })
    syncDirectory(dir)
    writeFileAtomically(join(aside, kept), remains)
  }
  // Readers go from one number to the next.
  const last = listSegments(dir).at(-1) ?? 0
  for (let segment = last + 1; segment < next; segment++) {
    if (!segmentExists(dir, segment)) closeSync(openForAppend(dir, segment))
  }
}
