import { closeSync, lstatSync, mkdirSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { MailboxError, systemName } from '../base/errors.ts'
import { sleepSync } from '../base/timers.ts'
import type { Folder } from './folder.ts'

export interface LockManner {
  /** What the lock is: a file that must not exist, or a directory. */
  kind: 'file' | 'directory'
  /** A lock that nobody has touched for so long belongs to a process that was killed. */
  staleMs: number
}

/** Somebody else has the lock. Try again later, and do something else meanwhile. */
export class LockHeld extends Error {
  readonly path: string
  readonly reason: string
  constructor(path: string, reason = 'is locked by another program') {
    super(`${path} ${reason}`)
    this.path = path
    this.reason = reason
  }
}

/** Whether something failed for a reason that may pass, and not for a mistake of ours. */
export const mayPass = (error: unknown): boolean =>
  error instanceof LockHeld || error instanceof MailboxError || systemName(error) !== undefined

/** Tries for about 40 ms: whoever has a lock needs it for a few. Longer would hold up everything else here. */
const tries = 8
const pauseMs = 5

/** Runs `work` with the lock of a file, as the programs of the format do. */
export function withLock<T>(folder: Folder, path: string, { kind, staleMs }: LockManner, work: () => T): T {
  const lock = folder.inside(path)
  for (let n = 1; !take(lock, kind); n++) {
    if (isStale(lock, staleMs)) release(lock, kind)
    else if (n === tries) throw new LockHeld(path)
    else sleepSync(pauseMs)
  }
  const own = identityOf(lock)
  try {
    return work()
  } finally {
    // A process that was stopped meanwhile has lost it to somebody else.
    if (identityOf(lock) === own) release(lock, kind)
  }
}

function take(lock: string, kind: LockManner['kind']): boolean {
  try {
    if (kind === 'directory') {
      mkdirSync(lock)
      return true
    }
    const fd = openSync(lock, 'wx', 0o644)
    writeSync(fd, String(process.pid))
    closeSync(fd)
    return true
  } catch (error) {
    if (systemName(error) === 'EEXIST') return false
    throw error
  }
}

function identityOf(lock: string): string | undefined {
  const stat = lstatSync(lock, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.birthtimeMs}`
}

function isStale(lock: string, staleMs: number): boolean {
  const stat = lstatSync(lock, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > staleMs
}

function release(lock: string, kind: LockManner['kind']): void {
  try {
    if (kind === 'directory') rmdirSync(lock)
    else rmSync(lock, { force: true })
  } catch (error) {
    // Somebody took it for abandoned, and removed it first.
    if (systemName(error) !== 'ENOENT') throw error
  }
}
