import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { readFileIfAny, readFully, writeFileAtomically } from '../../base/files.ts'
import { bootId } from '../../base/process.ts'
import { hasItsSum, prevText, sumText } from '../codec.ts'
import { HeadMark } from '../file/head-mark.ts'
import { WriterLock } from '../file/lock.ts'
import {
  archiveDirOf,
  isArchivedName,
  listArchived,
  listPlain,
  openForAppend,
  openForRead,
  segmentPath,
  sizeOf,
} from '../file/segment.ts'
import { Archive, PlainSegment, type SegmentBytes, unpack } from '../file/segment-bytes.ts'
import { writeError } from '../file/write-error.ts'
import { type Cursor, startCursor } from '../journal.ts'
import { after, lineStart } from './line-place.ts'

const newline = 0x0a
const lockTimeoutMs = 60_000

/** The lines do not follow what is here: one of the two is another journal, or a part of one. */
export class Unconnected extends Error {
  readonly seq: number
  constructor(seq: number) {
    super(`entry ${seq} does not follow the one before`)
    this.seq = seq
  }
}

export class BrokenLine extends Error {
  readonly seq: number
  constructor(seq: number) {
    super(`entry ${seq} has another checksum than its own`)
    this.seq = seq
  }
}

/**
 * A copy of a journal that is kept elsewhere, as ordinary segments. Every line is written where it would be in any
 * other copy, so a place or a cursor means the same to all processes, whoever of them has written the line. Nothing is
 * synced: what is lost is fetched again. Everything here needs no more than the lock of this machine.
 */
export class LineCopy {
  readonly dir: string
  readonly lock: WriterLock
  readonly #journal: string
  #mark: HeadMark | undefined
  #known: Cursor = startCursor
  /** The number of the first file, while there is none: older ones may have been removed from the journal. */
  firstSegment = 1

  /** `dir` is the directory of the space on this machine. */
  constructor(dir: string) {
    this.dir = dir
    this.#journal = join(dir, 'journal')
    mkdirSync(this.#journal, { recursive: true, mode: 0o700 })
    this.lock = new WriterLock(join(dir, 'lock'))
    this.locked(() => this.#startAfterBoot())
  }

  locked<T>(work: () => T): T {
    return this.lock.withSync(work, lockTimeoutMs)
  }

  /** Behind the last complete line. */
  end(): Cursor {
    if (this.#isStillLast()) return this.#known
    this.#known = this.#findEnd()
    return this.#known
  }

  #isStillLast(): boolean {
    const { segment, offset, seq } = this.#known
    if (seq === 0 || existsSync(segmentPath(this.#journal, segment + 1))) return false
    return statSync(segmentPath(this.#journal, segment), { throwIfNoEntry: false })?.size === offset
  }

  #findEnd(): Cursor {
    mkdirSync(this.#journal, { recursive: true, mode: 0o700 })
    for (const segment of listPlain(this.#journal).reverse()) {
      const fd = openForRead(segmentPath(this.#journal, segment))
      if (fd === undefined) continue
      try {
        const found = lastLineOf(new PlainSegment(fd))
        if (found !== undefined) return { ...found, segment }
      } finally {
        closeSync(fd)
      }
    }
    return this.#archivedEnd() ?? { ...startCursor, segment: this.firstSegment }
  }

  /** A copy that was begun with what is archived, and has no plain file yet. */
  #archivedEnd(): Cursor | undefined {
    const segment = [...listArchived(this.#journal).keys()].sort((a, b) => a - b).at(-1)
    const bytes = segment === undefined ? undefined : new Archive(this.#journal, unpack).unpack(segment)
    const found = bytes && lastLineOf(bytes)
    return found && { ...found, segment: segment! }
  }

  /**
   * Takes a segment of the archive as a file of the archive. Only into a copy without plain files: whoever has read one
   * to its end looks for what follows in the next plain one. Returns false if it has to be added by its lines.
   */
  addPacked({ name, content }: { name: string; content: Buffer }, lines: readonly string[]): boolean {
    return this.locked(() => {
      const end = this.end()
      const first = Buffer.from(lines[0] ?? '')
      const start = lineStart(lines[0] ?? '')
      if (!isArchivedName(name) || start === undefined) throw new BrokenLine(end.seq + 1)
      if (listPlain(this.#journal).length > 0 || (end.seq > 0 && start.seq !== end.seq + 1)) return false
      if (end.seq > 0 && prevText(first) !== end.sum) throw new Unconnected(start.seq)
      const archive = archiveDirOf(this.#journal)
      mkdirSync(archive, { recursive: true, mode: 0o700 })
      writeFileAtomically(join(archive, name), content)
      this.#known = startCursor
      return true
    })
  }

  /**
   * Adds lines that follow the end. Those that are here already are passed over: another process of this machine was
   * faster. Returns false if lines are missing in between, because the copy was removed meanwhile.
   */
  add(lines: readonly string[], space: string): boolean {
    return this.locked(() => {
      let end = this.end()
      let chunk: Buffer[] = []
      const flush = () => {
        if (chunk.length > 0) this.#write(end, Buffer.concat(chunk))
        chunk = []
      }
      for (const text of lines) {
        const line = Buffer.from(text)
        const start = lineStart(text)
        if (start === undefined || !hasItsSum(line)) throw new BrokenLine(start?.seq ?? end.seq + 1)
        if (start.seq <= end.seq) continue
        // A journal begins with the header of a segment.
        if (end.seq === 0 ? start.kind !== 'segment' : start.seq !== end.seq + 1) {
          flush()
          return false
        }
        if (end.seq > 0 && prevText(line) !== end.sum) {
          flush()
          throw new Unconnected(start.seq)
        }
        if (start.kind === 'segment' && end.seq > 0) flush()
        end = after(end, start, line)
        chunk.push(line, Buffer.of(newline))
      }
      flush()
      if (end.seq > 0) this.#head(space).write({ ...end, end: end.offset })
      return true
    })
  }

  /** Writes what ends at the cursor. A process that was killed may have left a part of a line, which is cut off. */
  #write(end: Cursor, bytes: Buffer): void {
    const fd = openForAppend(this.#journal, end.segment)
    const start = end.offset - bytes.length
    try {
      if (sizeOf(fd) !== start) ftruncateSync(fd, start)
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
      this.#known = end
    } catch (error) {
      cutTo(fd, start)
      throw writeError(error)
    } finally {
      closeSync(fd)
    }
  }

  #head(space: string): HeadMark {
    this.#mark ??= new HeadMark(this.#journal, space)
    return this.#mark
  }

  /** When a process of this machine last knew where the journal ends, in ms since 1970. */
  get checkedAt(): number | undefined {
    return statSync(join(this.dir, 'checked'), { throwIfNoEntry: false })?.mtimeMs
  }

  checked(): void {
    try {
      writeFileSync(join(this.dir, 'checked'), '', { mode: 0o600 })
    } catch {
      // Then others know it less exactly.
    }
  }

  /** Forgets everything. The next use fetches it again. */
  drop(): void {
    this.locked(() => {
      for (const segment of existsSync(this.#journal) ? listPlain(this.#journal) : [])
        rmSync(segmentPath(this.#journal, segment), { force: true })
      for (const path of listArchived(this.#journal).values()) rmSync(path, { force: true })
      this.#known = startCursor
      this.#mark?.close()
      this.#mark = undefined
      rmSync(join(this.dir, 'head'), { force: true })
    })
  }

  /** A power failure can leave holes in what was not synced. */
  #startAfterBoot(): void {
    const file = join(this.dir, 'boot')
    const boot = `${bootId() ?? 'unknown'}\n`
    if (readFileIfAny(file) === boot) return
    if (!this.#isWhole()) this.drop()
    writeFileAtomically(file, boot, { expendable: true })
  }

  #isWhole(): boolean {
    for (const segment of listPlain(this.#journal)) {
      const fd = openForRead(segmentPath(this.#journal, segment))!
      try {
        const bytes = readFully(fd, 0, sizeOf(fd))
        for (
          let start = 0, end = bytes.indexOf(newline);
          end >= 0;
          start = end + 1, end = bytes.indexOf(newline, start)
        )
          if (!hasItsSum(bytes.subarray(start, end))) return false
      } finally {
        closeSync(fd)
      }
    }
    return true
  }

  close(): void {
    this.#mark?.close()
    this.lock.close()
  }
}

function cutTo(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // The next one who writes tries again.
  }
}

/** The last complete line of a segment: where it ends, and what it says. */
function lastLineOf(file: SegmentBytes): Omit<Cursor, 'segment'> | undefined {
  const { size } = file.look()
  for (let span = 65_536; ; span *= 8) {
    const from = Math.max(0, size - span)
    const bytes = file.read(from, size - from)
    const last = bytes.lastIndexOf(newline)
    const before = last <= 0 ? -1 : bytes.lastIndexOf(newline, last - 1)
    if (last >= 0 && (before >= 0 || from === 0)) {
      const line = bytes.subarray(before + 1, last)
      const start = lineStart(line.toString('latin1', 0, 200))
      if (start === undefined || !hasItsSum(line))
        throw new MailboxError('damaged', 'the local copy of the journal is damaged', {
          hint: 'fetch it again: mailbox rebuild',
        })
      return { seq: start.seq, offset: from + last + 1, sum: sumText(line) }
    }
    if (from === 0) return undefined
  }
}
