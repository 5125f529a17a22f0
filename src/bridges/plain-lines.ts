import { closeSync, fstatSync } from 'node:fs'
import { readFully } from '../base/files.ts'
import type { Folder } from './folder.ts'

const chunkBytes = 1_048_576
/** No line is longer than that. */
export const maxLineBytes = 16 * 1_048_576

/** The lines of a file from an offset on that have an end. Returns what comes after the last of them. */
export function* wholeLines(
  fd: number,
  from: number,
  size: number,
): Generator<{ bytes: Buffer; end: number }, Buffer> {
  let offset = from
  let rest: Buffer = Buffer.alloc(0)
  while (offset + rest.length < size && rest.length <= maxLineBytes) {
    const chunk = readFully(fd, offset + rest.length, Math.min(chunkBytes, size - offset - rest.length))
    if (chunk.length === 0) break
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      yield { bytes: rest.subarray(start, end), end: offset + end + 1 }
      start = end + 1
    }
    offset += start
    rest = rest.subarray(start)
  }
  return rest
}

/** A line of a file as it is, and where the next one begins. */
export interface PlainLine {
  text: string
  end: number
}

/** The lines of a file from an offset on, without the blank ones, whether they were read before or not. */
export function* linesAfter(folder: Folder, path: string, offset: number): Generator<PlainLine> {
  const fd = folder.openLines(path)
  if (fd === undefined) return
  try {
    for (const { bytes, end } of wholeLines(fd, offset, fstatSync(fd).size)) {
      const text = bytes.toString('utf8')
      if (text.trim() !== '') yield { text, end }
    }
  } finally {
    closeSync(fd)
  }
}
