import { existsSync } from 'node:fs'
import { mirrorJournal, setAside } from '../file/mirror.ts'
import { listArchived, listSegments, segmentPath } from '../file/segment.ts'
import type { PlannedSegment } from './plan.ts'
import { gunzipWhatGoes, readIfAny } from './scan.ts'

/** Segments whose copy in a mirror is not what the journal has, or will have. A copy may be a beginning of its segment. */
export function differingCopies(dir: string, mirror: string, planned: readonly PlannedSegment[]): number[] {
  const archived = listArchived(dir)
  const contentOf = (segment: number): Buffer | undefined => {
    const file = planned.find((one) => one.segment === segment)
    if (file !== undefined) return file.content
    const packed = archived.get(segment)
    const plain = readIfAny(segmentPath(dir, segment))
    return plain ?? (packed === undefined ? undefined : gunzipWhatGoes(readIfAny(packed)!).bytes)
  }
  return listSegments(dir).filter((segment) => {
    const copy = readIfAny(segmentPath(mirrorJournal(mirror), segment))
    const content = copy && contentOf(segment)
    return copy !== undefined && content !== undefined && !content.subarray(0, copy.length).equals(copy)
  })
}

/** Moves damaged copies out of the way, so that they are begun again. */
export function setCopiesAside(mirror: string, segments: readonly number[]): void {
  for (const segment of segments) {
    const path = segmentPath(mirrorJournal(mirror), segment)
    if (existsSync(path)) setAside(path)
  }
}
