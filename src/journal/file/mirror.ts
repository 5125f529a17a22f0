import { closeSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { moveFile, readFully, readJsonIfAny, syncDirectory } from '../../base/files.ts'
import { damagedDir } from '../damage.ts'
import { openForRead, segmentExists, segmentPath } from './segment.ts'
import { type Durability, SegmentFile } from './segment-file.ts'

/**
 * A mirror is a directory with the same `journal/` as the space: every segment byte for byte. Whoever appends
 * to the journal appends the same bytes to the mirror while it holds the writer lock, so the copy of a segment is
 * at every moment a beginning of the segment, and whoever comes next can continue it from there.
 *
 * The journal comes first. A mirror that cannot be written makes no send fail: it falls behind, `doctor` and the
 * hub say so, and it is brought up to date when it is there again.
 */
const identityFile = 'mirror.json'

/** What `mirror.json` says: whose mirror it is. */
export interface MirrorIdentity {
  space: string
}

export const mirrorJournal = (mirror: string): string => join(mirror, 'journal')
export const identityPath = (mirror: string): string => join(mirror, identityFile)
export const readIdentity = (mirror: string): MirrorIdentity | undefined =>
  readJsonIfAny<MirrorIdentity>(identityPath(mirror))

/** Why the directory is not the mirror of the space; undefined if it is. It is never created while mail is written. */
export function strangenessOf(mirror: string, space: string): string | undefined {
  const identity = readIdentity(mirror)
  if (identity === undefined) return `there is no mirror in ${mirror}`
  return identity.space === space ? undefined : `${mirror} is the mirror of another space`
}

/** After a failure it is left alone for so long: a broken disk may take its time to say so. */
const retryMs = 5_000
/** How much of what is missing is copied at once while other writers wait for the lock. */
const copyBytes = 16 * 1_048_576
/** How much of its end is compared with the journal when a copy is opened. */
const comparedBytes = 4_096

export class Mirror {
  readonly #dir: string
  readonly #copies: string
  readonly #mirror: string
  readonly #space: string
  readonly #file: SegmentFile
  /** What kept it from being written last. */
  fault: unknown
  #inode = 0
  #retryAt = 0
  /** A segment whose copy may have lost pages in a failed sync: it is copied again. */
  #distrusted = 0

  /** `dir` is the journal's directory, `mirror` that of the mirror, and `space` the journal's identity. */
  constructor(dir: string, mirror: string, space: string, durability: Durability) {
    this.#dir = dir
    this.#mirror = mirror
    this.#copies = mirrorJournal(mirror)
    this.#space = space
    this.#file = new SegmentFile(this.#copies, durability)
  }

  /**
   * Appends to the copy what the journal's segment has more than it: usually `written`, which was just written.
   * Only with the writer lock. Never throws. Returns how many bytes are still missing; undefined if it failed.
   */
  follow(segment: number, written?: Buffer): number | undefined {
    if (performance.now() < this.#retryAt) return undefined
    try {
      if (!this.#file.isOpen(segment) || !this.#isInPlace()) this.#open(segment)
      const { size } = statSync(segmentPath(this.#dir, segment))
      // The journal has lost something that the copy has: begin another copy.
      if (this.#file.size > size) this.#open(segment)
      const missing = size - this.#file.size
      if (missing === written?.length) this.#write(written)
      else if (missing > 0) {
        // Others have written without it, or the segment was repaired.
        this.#open(segment)
        this.#copy(segment, size)
      }
      return Math.max(0, size - this.#file.size)
    } catch (error) {
      this.#giveUp(error)
      return undefined
    }
  }

  #open(segment: number): void {
    const problem = strangenessOf(this.#mirror, this.#space)
    if (problem !== undefined) throw new Error(problem)
    const path = segmentPath(this.#copies, segment)
    if (existsSync(path) && (segment === this.#distrusted || !isBeginning(this.#dir, this.#copies, segment)))
      setAside(path)
    this.#distrusted = 0
    const isNew = !existsSync(path)
    // Whoever wrote the end of the segment before may not have reached the mirror.
    if (isNew && segmentExists(this.#dir, segment - 1)) this.#complete(segment - 1)
    this.#file.open(segment)
    this.#file.syncName()
    this.#inode = statSync(path).ino
  }

  /** Whether the open copy is the one in the mirror: a repair may have moved it aside, or its disk may be away. */
  #isInPlace(): boolean {
    const found = statSync(segmentPath(this.#copies, this.#file.segment), { throwIfNoEntry: false })
    return found?.ino === this.#inode
  }

  #complete(segment: number): void {
    const { size } = statSync(segmentPath(this.#dir, segment))
    const path = segmentPath(this.#copies, segment)
    const isNew = !existsSync(path)
    if (!isNew && statSync(path).size >= size) return
    this.#file.open(segment)
    this.#file.syncName()
    this.#copy(segment, size)
  }

  /** Copies what the journal has and the copy has not, up to a limit. */
  #copy(segment: number, size: number): void {
    const have = this.#file.size
    const fd = openForRead(segmentPath(this.#dir, segment))
    if (fd === undefined) return
    try {
      this.#write(readFully(fd, have, Math.min(size - have, copyBytes)))
    } finally {
      closeSync(fd)
    }
  }

  #write(bytes: Buffer): void {
    const { error } = this.#file.write(bytes)
    if (error !== undefined) throw error
  }

  /** Confirms what was written to the copy, at the same time as the journal is confirmed. */
  sync(done: () => void): void {
    this.#file.sync(false, (error) => {
      if (error !== undefined) this.#distrust(error)
      done()
    })
  }

  syncNow(): void {
    if (!this.#file.isOpen(this.#file.segment)) return
    try {
      this.#file.syncNow()
    } catch (error) {
      this.#distrust(error)
    }
  }

  #distrust(error: unknown): void {
    this.#distrusted = this.#file.segment
    this.#giveUp(error)
  }

  #giveUp(error: unknown): void {
    this.fault = error
    this.#retryAt = performance.now() + retryMs
    this.#file.close()
  }

  close(): void {
    this.#file.close()
  }
}

/** Whether the copy of a segment is a beginning of the segment, as far as its end tells. */
export function isBeginning(dir: string, copies: string, segment: number): boolean {
  const { size } = statSync(segmentPath(copies, segment))
  const from = Math.max(0, size - comparedBytes)
  const ends = [dir, copies].map((one) => {
    const fd = openForRead(segmentPath(one, segment))
    if (fd === undefined) return undefined
    try {
      return readFully(fd, from, size - from)
    } finally {
      closeSync(fd)
    }
  })
  const [ours, theirs] = ends
  return ours !== undefined && theirs !== undefined && ours.equals(theirs)
}

/** Moves a file of a mirror out of the way. What it has may be all that is left of something. */
export function setAside(path: string): void {
  const dir = join(path, '..', damagedDir)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  syncDirectory(join(path, '..'))
  moveFile(path, join(dir, `${basename(path)}.${new Date().toISOString().replace(/[:.]/g, '-')}`))
}
