import { hash } from 'node:crypto'
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { identityAt, identityOf, syncDirectory } from '../../base/files.ts'

/**
 * How far the journal has been confirmed, kept outside of it. What a killed writer leaves after the mark was never
 * acknowledged; what is missing before the mark was.
 *
 * `SPACE/head` has one page of slots, a line of text each: seq, segment, the end of the entry's line in it, its sum, the
 * space, and a checksum of these. A writer has a slot of its own and overwrites it after the disk has confirmed a
 * batch, before the batch is acknowledged. The mark is the slot with the highest seq. It is never synced: after a
 * power failure it can be some seconds old, and never says more than the disk has.
 */
export interface Head {
  seq: number
  segment: number
  /** Where its line ends in the segment, the newline included. */
  end: number
  sum: string
}

export const slotBytes = 128
const slotCount = 32
const seqDigits = 16
const segmentDigits = 8
/** What the slots take. The mark of the first segment is behind them. */
export const fileBytes = slotBytes * slotCount
/** How often a writer looks whether its file is still in place. */
const lookMs = 1_000
/** A new writer takes one of the slots that were not written for the longest time, by chance. */
const choiceOfSlots = 8

export const headPath = (dir: string): string => join(dirname(dir), 'head')

/** The mark of the process that appends. Reading and comparing needs the writer lock, writing does not. */
export class HeadMark {
  readonly #path: string
  readonly #space: string
  readonly #onNew: (fd: number) => void
  readonly #page = Buffer.alloc(fileBytes)
  #fd: number | undefined
  #identity = ''
  #lookedAt = 0
  #slot = -1
  /** What this process wrote last. */
  #own = 0

  /** `dir` is the journal's directory. `onNew`: called with the open file while it does not say where the journal begins. */
  constructor(dir: string, space: string, onNew: (fd: number) => void = () => {}) {
    this.#path = headPath(dir)
    this.#space = space
    this.#onNew = onNew
  }

  /**
   * The mark, if it is beyond `seq`. With the writer lock, after everything was read: then entries are missing.
   * One read and a comparison of digits; it is parsed only in that case.
   */
  beyond(seq: number): Head | undefined {
    if (!this.#load()) return undefined
    const digits = Buffer.from(padded(seq, seqDigits), 'latin1')
    for (let slot = 0; slot < slotCount; slot++) {
      const at = slot * slotBytes
      if (this.#page.compare(digits, 0, seqDigits, at, at + seqDigits) <= 0) continue
      const head = newest(this.#page, this.#space)
      return head !== undefined && head.seq > seq ? head : undefined
    }
    return undefined
  }

  /** The sum that the mark has for this seq. */
  sumAt(seq: number): string | undefined {
    const head = this.#load() ? newest(this.#page, this.#space) : undefined
    return head?.seq === seq ? head.sum : undefined
  }

  /** Everything up to this entry is confirmed. Never throws: what is confirmed stays so without a mark. */
  write(head: Head): void {
    if (head.seq <= this.#own) return
    try {
      this.#openInPlace()
      if (this.#slot < 0) this.#chooseSlot()
      writeSync(this.#fd!, slotText(head, this.#space), this.#slot * slotBytes, 'latin1')
      this.#own = head.seq
    } catch {
      // The disk is failing. The mark stays where it was, which is still true.
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #load(): boolean {
    try {
      this.#openInPlace()
      const bytes = readSync(this.#fd!, this.#page, 0, fileBytes, 0)
      this.#page.fill(0, bytes)
      // Another process writes to this slot as well, so the lower mark of the two could be left in it.
      if (this.#slot >= 0 && seqIn(this.#page, this.#slot) > this.#own) this.#slot = -1
      return true
    } catch {
      return false
    }
  }

  #openInPlace(): void {
    const now = performance.now()
    if (this.#fd !== undefined && now - this.#lookedAt < lookMs) return
    this.#lookedAt = now
    if (this.#fd !== undefined && identityAt(this.#path) === this.#identity) return
    this.close()
    this.#fd = openForMarks(this.#path)
    const found = fstatSync(this.#fd)
    this.#identity = identityOf(found)
    this.#own = 0
    if (found.size <= fileBytes) this.#onNew(this.#fd)
  }

  #chooseSlot(): void {
    const oldest = Array.from({ length: slotCount }, (_, slot) => ({ slot, seq: seqIn(this.#page, slot) }))
      .sort((a, b) => a.seq - b.seq)
      .slice(0, choiceOfSlots)
    this.#slot = oldest[Math.floor(Math.random() * oldest.length)]!.slot
  }
}

export function openForMarks(path: string): number {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW
  try {
    return openSync(path, flags)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const fd = openSync(path, flags | constants.O_CREAT, 0o600)
  // Its blocks are there from now on, so a full disk keeps nobody from writing a mark.
  if (fstatSync(fd).size < fileBytes) writeSync(fd, Buffer.alloc(fileBytes, blankSlot), 0, fileBytes, 0)
  fdatasyncSync(fd)
  syncDirectory(dirname(path))
  return fd
}

/** What the marks of a space say, for those who only read. `space`: only its own; undefined: whoever's. */
export function readHead(dir: string, space?: string): (Head & { space: string }) | undefined {
  const page = readMarks(dir, 0, fileBytes)
  return page === undefined ? undefined : newest(page, space)
}

/** A part of the file of marks; undefined when it cannot be read. */
export function readMarks(dir: string, offset: number, bytes: number): Buffer | undefined {
  let fd: number
  try {
    fd = openSync(headPath(dir), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const page = Buffer.alloc(bytes)
    readSync(fd, page, 0, bytes, offset)
    return page
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}

export const padded = (value: number, digits: number) => String(value).padStart(digits, '0')
export const checkOf = (text: string) => hash('sha256', text, 'hex').slice(0, 16)
const blankSlot = `${' '.repeat(slotBytes - 1)}\n`

function slotText({ seq, segment, end, sum }: Head, space: string): string {
  const numbers = `${padded(seq, seqDigits)} ${padded(segment, segmentDigits)} ${padded(end, segmentDigits)}`
  const text = `${numbers} ${sum} ${space}`
  return `${`${text} ${checkOf(text)}`.padEnd(slotBytes - 1)}\n`
}

const slotPattern = /^((\d{16}) (\d{8,}) (\d{8,}) ([0-9a-f]{32}) (\S+)) ([0-9a-f]{16}) *\n$/

function seqIn(page: Buffer, slot: number): number {
  const digits = page.toString('latin1', slot * slotBytes, slot * slotBytes + seqDigits)
  return /^\d+$/.test(digits) ? Number(digits) : 0
}

/** The slot with the highest seq whose checksum holds. */
function newest(page: Buffer, space?: string): (Head & { space: string }) | undefined {
  let found: (Head & { space: string }) | undefined
  for (let slot = 0; slot < slotCount; slot++) {
    const seq = seqIn(page, slot)
    if (seq <= (found?.seq ?? 0)) continue
    const match = slotPattern.exec(page.toString('latin1', slot * slotBytes, (slot + 1) * slotBytes))
    if (match === null || checkOf(match[1]!) !== match[7]) continue
    if (space !== undefined && match[6] !== space) continue
    found = { seq, segment: Number(match[3]), end: Number(match[4]), sum: match[5]!, space: match[6]! }
  }
  return found
}
