import { closeSync, fdatasyncSync, writeSync } from 'node:fs'
import { checkOf, fileBytes, headPath, openForMarks, padded, readMarks, slotBytes } from './head-mark.ts'
import { listSegments } from './segment.ts'

/**
 * Where the journal begins, behind the slots of the head mark. Old segments are removed from its beginning, and without
 * a mark nothing would tell that from the loss of its first files.
 */
export interface First {
  segment: number
  /** The seq of its first line. */
  seq: number
}

const pattern = /^((\d{16}) (\d{8,}) first (\S+)) ([0-9a-f]{16}) *\n$/

function textOf({ segment, seq }: First, space: string): string {
  const text = `${padded(seq, 16)} ${padded(segment, 8)} first ${space}`
  return `${`${text} ${checkOf(text)}`.padEnd(slotBytes - 1)}\n`
}

/** Puts the lowest segment that there is into the open file of marks; `seqOf` tells with which seq it begins. */
export function writeLowest(
  fd: number,
  dir: string,
  space: string,
  seqOf: (segment: number) => number | undefined,
): void {
  const [segment = 1] = listSegments(dir)
  const seq = segment === 1 ? 1 : seqOf(segment)
  if (seq !== undefined) writeSync(fd, textOf({ segment, seq }, space), fileBytes, 'latin1')
}

/** Before segments are removed from the beginning: the disk has the mark when it returns. */
export function markFirst(dir: string, space: string, first: First): void {
  const fd = openForMarks(headPath(dir))
  try {
    writeSync(fd, textOf(first, space), fileBytes, 'latin1')
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Undefined if there is no mark, or it is another space's. */
export function readFirst(dir: string, space: string | undefined): First | undefined {
  const match = pattern.exec(readMarks(dir, fileBytes, slotBytes)?.toString('latin1') ?? '')
  if (match === null || checkOf(match[1]!) !== match[5] || match[4] !== space) return undefined
  return { seq: Number(match[2]), segment: Number(match[3]) }
}
