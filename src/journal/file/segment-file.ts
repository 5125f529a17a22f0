import { closeSync, fdatasync, fdatasyncSync, fstatSync, ftruncateSync, writeSync } from 'node:fs'
import type { MailboxError } from '../../base/errors.ts'
import { identityAt, identityOf, syncDirectory } from '../../base/files.ts'
import { listArchived, openForAppend, segmentPath, sizeOf } from './segment.ts'
import { misplacedError, syncError, syncing, writeError } from './write-error.ts'

/** A disk that syncs faster than this may block the event loop. */
const quickSyncMs = 0.5

/** `os`: an append is done when the kernel has the bytes. `disk`: when the disk has confirmed them. */
export type Durability = 'disk' | 'os'

export interface WriteOutcome {
  bytes: number
  error: unknown
}

/** The file of the segment that is being appended to: opens it, writes to it, and has the disk confirm it. */
export class SegmentFile {
  readonly #dir: string
  readonly #durability: Durability
  #fd: number | undefined
  #segment = 0
  #identity = ''
  /** True while the directory entry of the segment may be lost in a power loss. */
  #nameUnsynced = false
  /** True while something has been written that no sync was asked to confirm. */
  #unsynced = false
  #syncsRunning = 0
  /** Descriptors to close once no sync is running. */
  #retired: number[] = []
  /** What a sync has taken recently: a moving average. */
  #syncMs = 0
  #lateFailure: MailboxError | undefined
  /** After a failed sync the kernel counts the lost pages as clean, so this segment must not be trusted. */
  syncFailed = false

  constructor(dir: string, durability: Durability) {
    this.#dir = dir
    this.#durability = durability
  }

  get segment(): number {
    return this.#segment
  }

  isOpen(segment: number): boolean {
    return this.#fd !== undefined && this.#segment === segment
  }

  /** Its size on disk now. */
  get size(): number {
    return sizeOf(this.#fd!)
  }

  /** `isLocked`: whether the lock that was taken is still the one in place. */
  open(segment: number, isLocked = () => true): void {
    this.#leave()
    const fd = openForAppend(this.#dir, segment)
    if (!isLocked()) {
      // The files of another space were put here since the lock was taken.
      closeSync(fd)
      throw misplacedError(this.#dir, segment)
    }
    const found = fstatSync(fd)
    // Whoever created it syncs its name before the first line. If it is empty, that may not have happened.
    this.#nameUnsynced ||= found.size === 0
    this.#fd = fd
    this.#segment = segment
    this.#identity = identityOf(found)
  }

  /** A new file survives a power loss only if its directory entry does. */
  syncName(): void {
    if (this.#nameUnsynced && this.#durability === 'disk') syncing(() => syncDirectory(this.#dir))
    this.#nameUnsynced = false
  }

  /** One `writeSync` may write less than asked without an error, so it goes by the count. */
  write(buffer: Buffer): WriteOutcome {
    this.#unsynced = true
    let bytes = 0
    try {
      while (bytes < buffer.length) {
        const count = writeSync(this.#fd!, buffer, bytes, buffer.length - bytes)
        if (count === 0) throw Object.assign(new Error('no progress'), { code: 'ENOSPC' })
        bytes += count
      }
      return { bytes, error: undefined }
    } catch (error) {
      return { bytes, error }
    }
  }

  truncate(bytes: number): void {
    ftruncateSync(this.#fd!, bytes)
  }

  /** Waits until the disk has confirmed everything written so far. */
  syncNow(): void {
    if (this.#durability === 'disk') {
      const cause = syncInPlace(this.#fd!)
      this.#unsynced = false
      if (cause !== null) {
        this.syncFailed = true
        throw syncError(cause)
      }
    }
    const misplaced = this.#misplaced()
    if (misplaced !== undefined) throw misplaced
  }

  /**
   * What is written to a file that was moved, replaced or unlinked meanwhile is in nobody's journal. Asked before every
   * answer, so it costs one system call. An archived segment was whole when it left.
   */
  #misplaced(segment = this.#segment, identity = this.#identity): MailboxError | undefined {
    try {
      if (identityAt(segmentPath(this.#dir, segment)) === identity) return undefined
      return listArchived(this.#dir).has(segment) ? undefined : misplacedError(this.#dir, segment)
    } catch (cause) {
      // Whoever waits is told: after a sync there is nobody else to throw to.
      return writeError(cause)
    }
  }

  /**
   * Confirms everything written so far, then calls back. `alone`: nothing else is waiting in this process,
   * so on a fast disk it blocks, which takes a quarter less time than going through a thread.
   */
  sync(alone: boolean, done: (error?: MailboxError) => void): void {
    const fd = this.#fd
    const late = this.#lateFailure
    this.#lateFailure = undefined
    if (late !== undefined || fd === undefined) {
      done(late)
      return
    }
    this.#unsynced = false
    if (this.#durability === 'os') {
      done(this.#misplaced())
      return
    }
    // By the time it is over, another segment may be open.
    const segment = this.#segment
    const identity = this.#identity
    const started = performance.now()
    const finish = (cause: NodeJS.ErrnoException | null) => {
      this.#syncMs += (performance.now() - started - this.#syncMs) / 8
      if (cause !== null) this.syncFailed = true
      done(cause === null ? this.#misplaced(segment, identity) : syncError(cause))
    }
    if (alone && this.#syncsRunning === 0 && this.#syncMs < quickSyncMs) {
      finish(syncInPlace(fd))
      return
    }
    this.#syncsRunning++
    fdatasync(fd, (cause) => {
      this.#syncsRunning--
      this.#closeRetired()
      finish(cause)
    })
  }

  /**
   * Another process has started the next segment. If it did so because its sync failed, ours has not been
   * tried yet, and no sync of the new segment would report on what we wrote to the old one.
   */
  #leave(): void {
    if (this.#unsynced && this.#fd !== undefined) {
      const cause = this.#durability === 'disk' ? syncInPlace(this.#fd) : null
      this.#lateFailure ??= cause === null ? this.#misplaced() : syncError(cause)
    }
    this.#unsynced = false
    this.#retire()
  }

  close(): void {
    this.#retire()
  }

  /** A descriptor is not closed under a running sync: its number could already belong to another file. */
  #retire(): void {
    if (this.#fd !== undefined) this.#retired.push(this.#fd)
    this.#fd = undefined
    this.#closeRetired()
  }

  #closeRetired(): void {
    if (this.#syncsRunning === 0) for (const fd of this.#retired.splice(0)) closeSync(fd)
  }
}

function syncInPlace(fd: number): NodeJS.ErrnoException | null {
  try {
    fdatasyncSync(fd)
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
