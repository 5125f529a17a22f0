import { createHash } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import { readFully } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import { type Folder, utf8 } from './folder.ts'
import type { Mark } from './format.ts'
import { maxLineBytes, wholeLines } from './plain-lines.ts'

/** A line that was appended to a file. */
export interface Line {
  text: string
  /** From 1. */
  line: number
  /** The file is read up to its end. */
  mark: Mark
  /** The file was long when it was first seen: what is in it may be old. */
  isBacklog: boolean
}

/** A file that is longer than this when it is first seen has a history. */
const backlogBytes = 262_144
/** What the beginning of a file is recognized by. */
const headBytes = 256

interface Position {
  ino: number
  offset: number
  line: number
  /** The digest of the first bytes, up to 256. */
  head: string
}

/**
 * The lines of a file that were not read before. A file that was begun again, or replaced by another, is read from its
 * beginning: whoever takes in its lines knows them by their ids. A last line without an end is still being written,
 * unless it is whole and nobody has touched the file for a while.
 */
export function* newLines(folder: Folder, path: string): Generator<Line> {
  const stat = folder.stat(path)
  if (stat === undefined) return
  const known = parsePosition(folder.memory.mark(path))
  if (known !== undefined && known.ino === stat.ino && known.offset === stat.size) return
  const fd = folder.openLines(path)
  if (fd === undefined) return
  try {
    yield* linesFrom(folder, path, fd, known)
  } finally {
    closeSync(fd)
  }
}

function* linesFrom(folder: Folder, path: string, fd: number, known: Position | undefined): Generator<Line> {
  const { ino, size } = fstatSync(fd)
  const head = (offset: number) => digest(readFully(fd, 0, Math.min(offset, headBytes, size)))
  const isSame =
    known !== undefined && known.ino === ino && known.offset <= size && head(known.offset) === known.head
  const isBacklog = known === undefined && size > backlogBytes
  let { offset, line } = isSame ? known : { offset: 0, line: 0 }
  const whole = head(headBytes)
  const markAt = (end: number, number: number): Mark => {
    const fixed = end >= headBytes ? whole : head(end)
    return { path, stamp: `${ino} ${end} ${number} ${fixed}` }
  }
  const lines = wholeLines(fd, offset, size)
  let next = lines.next()
  for (; next.done !== true; next = lines.next()) {
    line++
    offset = next.value.end
    const mark = markAt(offset, line)
    const text = utf8(next.value.bytes)
    if (text === undefined) folder.problem(path, 'is not UTF-8', line, mark)
    else if (text.trim() !== '') yield { text, line, mark, isBacklog }
  }
  const rest = next.value
  if (rest.length > maxLineBytes) {
    folder.problem(path, `has a line of more than ${maxLineBytes} bytes`, line + 1)
    return
  }
  if (rest.length === 0) return
  const text = utf8(rest) ?? ''
  if (!folder.isSettled(path)) return
  if (isJson(text)) yield { text, line: line + 1, mark: markAt(offset + rest.length, line + 1), isBacklog }
  else folder.problem(path, 'ends in the middle of a line', line + 1)
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

function parsePosition(stamp: string | undefined): Position | undefined {
  if (stamp === undefined) return undefined
  const [ino, offset, line, head = ''] = stamp.split(' ')
  return { ino: Number(ino), offset: Number(offset), line: Number(line), head }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The object that a line is; undefined, and reported, if it is none. */
export function objectIn(
  folder: Folder,
  path: string,
  { text, line, mark }: Line,
): Record<string, unknown> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    folder.problem(path, 'is not JSON', line, mark)
    return undefined
  }
  if (isObject(value)) return value
  folder.problem(path, 'is not a JSON object', line, mark)
  return undefined
}

/** What was written an hour ago or earlier is history where a file is long when it is first seen. */
export const isOld = (folder: Folder, { isBacklog }: Line, at: string | undefined): boolean =>
  isBacklog && at !== undefined && folder.now() - Date.parse(at) > 3_600_000
