import type { MailboxError } from '../../base/errors.ts'
import { decodeLine } from '../codec.ts'
import { salvage } from '../salvage.ts'
import { listArchived, listPlain, openForRead, segmentPath, sizeOf } from './segment.ts'
import { type ArchivedFile, PlainSegment, type SegmentBytes, unpack, unpackStart } from './segment-bytes.ts'

/** A file of the journal or its archive, open for reading. */
export interface OpenSegment extends ArchivedFile {
  segment: number
  fileBytes: number
  archived: boolean
  /** The space that its first line names; undefined if that line cannot be read. */
  space: string | undefined
  /** The seq of its first line; undefined if that line cannot be read. */
  firstSeq: number | undefined
}

/** More than the first line of a segment has. */
const headerBytes = 1_024

/** Opens all files at once, so that what others archive or remove meanwhile stays readable. */
export function openAll(dir: string): OpenSegment[] {
  const files = new Map<number, OpenSegment>()
  const open = (segment: number, path: string, archived: boolean) => {
    const fd = files.has(segment) ? undefined : openForRead(path)
    if (fd === undefined) return
    const file = { path, fd }
    files.set(segment, { ...file, segment, fileBytes: sizeOf(fd), archived, ...headerOf(file, archived) })
  }
  // In this order: a segment is in the archive before it leaves the journal.
  for (const segment of listPlain(dir)) open(segment, segmentPath(dir, segment), false)
  for (const [segment, path] of listArchived(dir)) open(segment, path, true)
  return [...files.values()].sort((a, b) => a.segment - b.segment)
}

function headerOf(file: ArchivedFile, archived: boolean): Pick<OpenSegment, 'space' | 'firstSeq'> {
  const start = archived ? unpackStart(file) : new PlainSegment(file.fd).read(0, headerBytes)
  const end = start.indexOf(0x0a)
  const [first] = salvage(start.subarray(0, end < 0 ? start.length : end), decodeLine)
  const entry = first?.decoded?.entry
  return { space: entry?.kind === 'segment' ? entry.space : undefined, firstSeq: entry?.seq }
}

/** The space that the journal belongs to: the one that was marked, if any segment has it. */
export function spaceOf(files: readonly OpenSegment[], marked: string | undefined): string | undefined {
  const spaces = files.flatMap(({ space }) => space ?? [])
  return marked !== undefined && spaces.includes(marked) ? marked : (spaces[0] ?? marked)
}

/**
 * The segments in the order of their entries, which is that of their numbers unless files were swapped. `slot` is
 * the number that the file should have.
 */
export function inOrderOfSeq(
  files: readonly OpenSegment[],
  space: string | undefined,
): { file: OpenSegment; slot: number }[] {
  const sorted = files.filter((file) => file.firstSeq !== undefined && file.space === space)
  const numbers = sorted.map(({ segment }) => segment)
  sorted.sort((a, b) => a.firstSeq! - b.firstSeq! || a.segment - b.segment)
  const byNumber = new Map(numbers.map((number, at) => [number, sorted[at]!]))
  return files.map((own) => ({ file: byNumber.get(own.segment) ?? own, slot: own.segment }))
}

export function bytesOf(file: OpenSegment, onDamage: (problem: string) => void): SegmentBytes | undefined {
  if (!file.archived) return new PlainSegment(file.fd)
  try {
    return unpack(file)
  } catch (error) {
    onDamage((error as MailboxError).message)
    return undefined
  }
}
