import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
} from 'node:fs'
import { join } from 'node:path'

/** Segments are numbered from 1 without a gap, so that a reader at the end of one knows the next. */
const digits = 8
const namePattern = /^(\d{8})\.jsonl$/

export const segmentPath = (dir: string, segment: number): string =>
  join(dir, `${String(segment).padStart(digits, '0')}.jsonl`)

export const segmentExists = (dir: string, segment: number): boolean => existsSync(segmentPath(dir, segment))

/** Numbers of all segments, in order. */
export function listSegments(dir: string): number[] {
  const found: number[] = []
  for (const file of readdirSync(dir)) {
    const match = namePattern.exec(file)
    if (match) found.push(Number(match[1]))
  }
  return found.sort((a, b) => a - b)
}

export function openForAppend(dir: string, segment: number): number {
  return openSync(
    segmentPath(dir, segment),
    constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW,
    0o600,
  )
}

export const openForRead = (dir: string, segment: number): number =>
  openSync(segmentPath(dir, segment), constants.O_RDONLY | constants.O_NOFOLLOW)

/** A new file survives a power loss only when its directory entry does. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export const sizeOf = (fd: number): number => fstatSync(fd).size

/** Reads until `length` bytes are there or the file ends; one read may return less than was asked. */
export function readFully(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const got = readSync(fd, buffer, filled, length - filled, offset + filled)
    if (got === 0) break
    filled += got
  }
  return buffer.subarray(0, filled)
}
