import { hash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { constants, gunzipSync } from 'node:zlib'
import { readFully } from '../../base/files.ts'
import { noSum } from '../codec.ts'
import { listArchived, listSegments, openForRead, segmentPath, sizeOf } from '../file/segment.ts'
import { type FoundRecord, type Item, isRecord, itemsOf, type Junk } from './items.ts'

/** Where a chain stands: the number and sum of a record, and when it was written. */
export interface Link {
  seq: number
  sum: string
  prev: string
  at: string
}

/** A segment as it was found. */
export interface ScannedSegment {
  segment: number
  path: string
  archived: boolean
  /** Size of the file. */
  fileBytes: number
  /** Its first and last record; absent if it has none. */
  first?: Link
  last?: Link
  /** What is in it. Kept only if something is wrong: a sound segment is described by its ends. */
  items?: Item[]
  /** Its content, unpacked; kept with `items`. */
  bytes?: Buffer
  /** It belongs to another space: nothing of it is ours. */
  foreign: boolean
  /** The archived file could be unpacked only in part, or not at all. */
  unpackable: boolean
}

/** Called for each segment that has been read: how many, and of how many. */
export type OnSegment = (done: number, total: number) => void

/** Reads every segment of a journal, one at a time, and says which of them are as they were written. */
export function scanJournal(dir: string, space: string, onSegment?: OnSegment): ScannedSegment[] {
  const archived = listArchived(dir)
  const found: ScannedSegment[] = []
  const segments = listSegments(dir)
  for (const [at, segment] of segments.entries()) {
    onSegment?.(at, segments.length)
    const plain = readIfAny(segmentPath(dir, segment))
    const path = plain === undefined ? archived.get(segment) : segmentPath(dir, segment)
    const file = plain ?? (path === undefined ? undefined : readIfAny(path))
    if (file === undefined || path === undefined) continue
    const { bytes, whole } = plain === undefined ? gunzipWhatGoes(file) : { bytes: file, whole: true }
    found.push({
      ...describe(bytes, space, whole),
      ...{ segment, path, archived: plain === undefined, fileBytes: file.length },
    })
  }
  return found
}

type Content = Omit<ScannedSegment, 'segment' | 'path' | 'archived' | 'fileBytes'>

function describe(bytes: Buffer, space: string, whole: boolean): Content {
  const items = itemsOf(bytes)
  const records = items.filter(isRecord)
  const headers = records.flatMap(({ entry }) => (entry.kind === 'segment' ? entry.space : []))
  const foreign = headers.length > 0 && headers.every((one) => one !== space)
  const [first, last] = [records[0], records.at(-1)]
  const ends = first && last ? { first: linkOf(first), last: linkOf(last) } : {}
  // A copy tells whether a fragment at the end is the rest of a write or of something else.
  const endsInFragment = bytes.length > 0 && bytes.at(-1) !== 0x0a
  const kept = whole && !foreign && isSound(items) && !endsInFragment ? {} : { items, bytes }
  return { ...ends, ...kept, foreign, unpackable: !whole }
}

export const linkOf = ({ seq, sum, prev, entry }: FoundRecord): Link => ({ seq, sum, prev, at: entry.at })

/** Whether every line is an entry that follows from the one before, or the rest of a write that was cut off. */
export function isSound(items: readonly Item[]): boolean {
  if (!items.some(isRecord)) return false
  let before: FoundRecord | undefined
  let junk: Junk[] = []
  for (const item of items) {
    if (!isRecord(item)) {
      junk.push(item)
      continue
    }
    if (!item.intact || (before !== undefined && !follows(before, item))) return false
    if (item.entry.kind === 'torn') {
      if (junk[0]?.offset !== item.entry.offset || !isSealed(junk, item.entry)) return false
      junk = []
    }
    before = item
  }
  // What is left may be the rest of a write that failed at the end of a segment, or be sealed later.
  const [one] = junk
  return junk.length === 0 || (junk.length === 1 && !one!.ended && one!.offset > (before?.offset ?? -1))
}

export interface Torn {
  offset: number
  bytes: number
  digest: string
}

const follows = (before: FoundRecord, after: FoundRecord): boolean =>
  after.seq === before.seq + 1 && after.prev === before.sum

/** Whether these bytes, joined as they stand, are the fragment that the entry is about, and nothing else. */
export function isSealed(junk: readonly Junk[], torn: Torn): boolean {
  const bytes = joined(junk)
  // The newline behind it is not part of the fragment.
  if (bytes.length < torn.bytes || bytes.length > torn.bytes + 1) return false
  return hash('sha256', bytes.subarray(0, torn.bytes), 'hex') === torn.digest
}

export const joined = (junk: readonly Junk[]): Buffer =>
  Buffer.concat(junk.flatMap(({ bytes, ended }) => (ended ? [bytes, Buffer.from('\n')] : [bytes])))

/** The first line of a journal continues nothing. */
export const beforeFirst: Link = { seq: 0, sum: noSum, prev: '', at: '' }

export function readIfAny(path: string): Buffer | undefined {
  const fd = openForRead(path)
  if (fd === undefined) return undefined
  try {
    return readFully(fd, 0, sizeOf(fd))
  } finally {
    closeSync(fd)
  }
}

/** As much of a gzipped file as can be unpacked, and whether that is all of it. */
export function gunzipWhatGoes(file: Buffer): { bytes: Buffer; whole: boolean } {
  const whole = tryGunzip(file)
  if (whole !== undefined) return { bytes: whole, whole: true }
  // The longest beginning that unpacks: zlib gives nothing at all of one that has an error in it.
  let [good, bad] = [0, file.length + 1]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (tryGunzip(file.subarray(0, middle), constants.Z_SYNC_FLUSH) === undefined) bad = middle
    else good = middle
  }
  return { bytes: tryGunzip(file.subarray(0, good), constants.Z_SYNC_FLUSH) ?? Buffer.alloc(0), whole: false }
}

function tryGunzip(file: Buffer, finishFlush: number = constants.Z_FINISH): Buffer | undefined {
  try {
    return gunzipSync(file, { finishFlush })
  } catch {
    return undefined
  }
}
