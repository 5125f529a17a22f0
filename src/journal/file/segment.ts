import { constants, existsSync, fstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { openRegular } from '../../base/files.ts'

/** Segments are numbered from 1 without gaps, so that a reader at the end of one knows the next. */
const digits = 8
const namePattern = /^(\d{8})\.jsonl$/
const archivedPattern = /^\d{4}-\d\d-(\d{8})\.jsonl\.gz$/

const segmentName = (segment: number): string => `${String(segment).padStart(digits, '0')}.jsonl`

export const segmentPath = (dir: string, segment: number): string => join(dir, segmentName(segment))

export const segmentExists = (dir: string, segment: number): boolean => existsSync(segmentPath(dir, segment))

/** Gzipped segments are in a directory beside the journal. */
export const archiveDirOf = (dir: string): string => join(dirname(dir), 'archive')

/** An archived segment is filed under the month of its last entry. */
export const archivedName = (segment: number, month: string): string => `${month}-${segmentName(segment)}.gz`

export const isArchivedName = (name: string): boolean => archivedPattern.test(name)

/**
 * Numbers of all segments, in order, plain and archived. A segment that is being archived is in the archive
 * before it leaves the journal, so listing them in this order misses none.
 */
export function listSegments(dir: string): number[] {
  const plain = listPlain(dir)
  return [...new Set([...listArchived(dir).keys(), ...plain])].sort((a, b) => a - b)
}

/** Numbers of the segments that are not archived, in order. */
export const listPlain = (dir: string): number[] =>
  namesIn(dir)
    .flatMap((file) => namePattern.exec(file)?.slice(1).map(Number) ?? [])
    .sort((a, b) => a - b)

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? goneError(dirname(dir)) : error
  }
}

/** The directory of a space was moved or deleted under us. */
export const goneError = (space: string): MailboxError =>
  new MailboxError('damaged', `the space in ${space} is gone`, {
    hint: 'it was moved or deleted: put it back, or use another with --space DIR',
  })

export interface LastSegment {
  name: string
  /** The name that the segment after it will have. */
  next: string
  /** When it was last written. */
  writtenMs: number
}

/** The segment that the journal of a space appends to. Every append changes its time, or starts the next one. */
export function lastSegment(space: string): LastSegment {
  const dir = join(space, 'journal')
  const number = listPlain(dir).at(-1)!
  const { mtimeMs } = statSync(segmentPath(dir, number))
  return { name: segmentName(number), next: segmentName(number + 1), writtenMs: mtimeMs }
}

/** Paths of the archived segments, by number. */
export function listArchived(dir: string): Map<number, string> {
  const archive = archiveDirOf(dir)
  const found = new Map<number, string>()
  for (const file of existsSync(archive) ? readdirSync(archive).sort() : []) {
    const match = archivedPattern.exec(file)
    if (match) found.set(Number(match[1]), join(archive, file))
  }
  return found
}

export function openForAppend(dir: string, segment: number): number {
  const { O_CREAT, O_RDWR, O_APPEND, O_NOFOLLOW } = constants
  const path = segmentPath(dir, segment)
  const fd = openRegular(path, O_CREAT | O_RDWR | O_APPEND | O_NOFOLLOW, 0o600)
  if (fd === undefined) throw goneError(dirname(dir))
  return fd
}

/** Undefined if there is no such file. */
export const openForRead = (path: string): number | undefined =>
  openRegular(path, constants.O_RDONLY | constants.O_NOFOLLOW)

export const sizeOf = (fd: number): number => fstatSync(fd).size
