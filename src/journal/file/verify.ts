import { hash } from 'node:crypto'
import { closeSync } from 'node:fs'
import type { MailboxError } from '../../base/errors.ts'
import { maxJsonDepth, parseStrictJson } from '../../base/json.ts'
import type { Entry } from '../../model/entry.ts'
import { draftSchema } from '../../model/schemas.ts'
import { decodeLine, noSum } from '../codec.ts'
import { listArchived, listPlain, openForRead, segmentPath, sizeOf } from './segment.ts'
import { type ArchivedFile, PlainSegment, type SegmentBytes, unpack } from './segment-bytes.ts'

export interface VerifyOptions {
  onProgress?: (done: { bytes: number; total: number }) => void
  signal?: AbortSignal
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
  /** Damage: changed, missing or duplicate lines. */
  problems: string[]
}

const chunkBytes = 4 * 1_048_576

/** Checks every line of every segment: its checksum, its link to the line before, its number. */
export async function verifyJournal(dir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const report: VerifyReport = { segments: 0, entries: 0, messages: 0, bytes: 0, torn: [], problems: [] }
  const check = createChainCheck(report)
  const files = openAll(dir)
  try {
    const total = files.reduce((sum, { fileBytes }) => sum + fileBytes, 0)
    let done = 0
    for (const [at, file] of files.entries()) {
      check.startSegment(file.segment)
      const bytes = bytesOf(file, check.unreadable)
      const size = bytes?.look().size ?? 0
      for (const { line, offset, complete } of bytes === undefined ? [] : linesOf(bytes, size)) {
        if (complete) check.line(line, offset)
        else check.fragment(line, offset, at + 1 < files.length)
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

interface SegmentFile extends ArchivedFile {
  segment: number
  fileBytes: number
  archived: boolean
}

/** Opens all files at once, so that what others archive or remove meanwhile stays readable. */
function openAll(dir: string): SegmentFile[] {
  const files = new Map<number, SegmentFile>()
  const open = (segment: number, path: string, archived: boolean) => {
    const fd = files.has(segment) ? undefined : openForRead(path)
    if (fd !== undefined) files.set(segment, { segment, path, fd, fileBytes: sizeOf(fd), archived })
  }
  // In this order: a segment is in the archive before it leaves the journal.
  for (const segment of listPlain(dir)) open(segment, segmentPath(dir, segment), false)
  for (const [segment, path] of listArchived(dir)) open(segment, path, true)
  return [...files.values()].sort((a, b) => a.segment - b.segment)
}

function bytesOf(file: SegmentFile, onDamage: (problem: string) => void): SegmentBytes | undefined {
  if (!file.archived) return new PlainSegment(file.fd)
  try {
    return unpack(file)
  } catch (error) {
    onDamage((error as MailboxError).message)
    return undefined
  }
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

/** What strict parsing of a line objects to. Normal reading is faster and more lenient. */
function flawOf(line: Buffer): string | undefined {
  try {
    const read = parseStrictJson(line.toString('utf8'), maxJsonDepth + 2) as Record<string, unknown>
    const { seq, at, prev, sum, ...draft } = read
    const issue = draftSchema.safeParse(draft).error?.issues[0]
    return issue && `${issue.path.join('.')}: ${issue.message}`
  } catch (error) {
    return (error as Error).message
  }
}

interface BrokenLine {
  segment: number
  offset: number
  line: Buffer
}

/** Follows the chain, and holds back a broken line until it is clear whether a torn write explains it. */
function createChainCheck(report: VerifyReport) {
  let segment = 0
  let lastGood = -1
  let seq = 0
  let sum = noSum
  /** False until the first line if older segments were removed: there is nothing to compare it with. */
  let linked = false
  let broken: BrokenLine[] = []
  /** The segment before, until the first line of this one tells why it ended. */
  let previous: { broken: BrokenLine[]; lastGood: number } | undefined
  const problem = (offset: number, what: string, where = segment) =>
    report.problems.push(`segment ${where}, byte ${offset}: ${what}`)
  const toTorn = ({ segment: where, offset, line }: BrokenLine) =>
    report.torn.push({ segment: where, offset, bytes: line.length, sealed: true })

  /** A seal covers everything between the last line and itself: usually one fragment, more if a seal was torn. */
  function seal(torn: { offset: number; bytes: number; digest: string }): boolean {
    const inside = ({ offset }: BrokenLine) => offset >= torn.offset && offset < torn.offset + torn.bytes
    const pieces = broken.filter(inside)
    const joined = Buffer.concat(pieces.flatMap(({ line }) => [line, newline])).subarray(0, torn.bytes)
    if (joined.length !== torn.bytes || hash('sha256', joined, 'hex') !== torn.digest) return false
    pieces.forEach(toTorn)
    broken = broken.filter((one) => !inside(one))
    return true
  }

  /** What is still unexplained at the end of a segment. After its last line it may be a failed write. */
  function closePrevious(nextReason?: string): void {
    const failed = nextReason === 'write_failed' || nextReason === 'sync_failed'
    for (const one of previous?.broken ?? []) {
      if (failed && one.offset > previous!.lastGood) toTorn(one)
      else problem(one.offset, 'a line was changed or damaged (its checksum does not match)', one.segment)
    }
    previous = undefined
  }

  function checkLink(entry: Entry, prev: string, offset: number): void {
    if (linked && prev !== sum)
      problem(offset, 'the chain is broken: a line before it was changed, removed or added')
    if (linked && entry.seq !== seq + 1) problem(offset, `entry ${entry.seq} follows entry ${seq}`)
    linked = true
    seq = entry.seq
  }

  return {
    startSegment(number: number): void {
      closePrevious()
      if (segment !== 0) previous = { broken, lastGood }
      broken = []
      lastGood = -1
      if (segment === 0) linked = number === 1
      else if (number !== segment + 1)
        report.problems.push(`segments ${segment + 1} to ${number - 1} are missing`)
      segment = number
    },
    line(line: Buffer, offset: number): void {
      const decoded = decodeLine(line)
      if (decoded === undefined) {
        broken.push({ segment, offset, line: Buffer.from(line) })
        return
      }
      const { entry, prev } = decoded
      closePrevious(entry.kind === 'segment' ? entry.reason : undefined)
      checkLink(entry, prev, offset)
      if (entry.kind === 'torn' && !seal(entry)) problem(offset, 'it seals a torn write that does not exist')
      const flaw = flawOf(line)
      if (flaw !== undefined) problem(offset, flaw)
      report.entries++
      if (entry.kind === 'message') report.messages++
      sum = decoded.sum
      lastGood = offset
    },
    /** Its lines cannot be checked, nor the next segment's link to them. */
    unreadable(what: string): void {
      report.problems.push(`segment ${segment}: ${what}`)
      linked = false
    },
    fragment(line: Buffer, offset: number, closed: boolean): void {
      report.torn.push({ segment, offset, bytes: line.length, sealed: closed })
    },
    end(): void {
      closePrevious()
      previous = { broken, lastGood }
      closePrevious()
    },
  }
}

const newline = Buffer.from('\n')
