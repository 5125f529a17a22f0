import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromSystem, MailboxError } from '../base/errors.ts'
import { syncDirectory } from '../base/files.ts'
import { sleepSync } from '../base/timers.ts'

/** Where a hub keeps what is its own: tokens, secrets, its certificate and its socket. Nobody else can look into it. */
export const hubDir = (dir: string): string => join(dir, 'hub')

export function makeHubDir(dir: string): void {
  try {
    // Not recursive: on a read-only file system that says that the space is not there.
    mkdirSync(hubDir(dir), { mode: 0o700 })
    syncDirectory(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

export function mustBePrivate(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & 0o077) === 0) return
  throw new MailboxError('not_permitted', `${file} is readable by other users`, {
    hint: `run chmod 600 ${file}; if somebody may have read it, delete it and a new one is created`,
  })
}

/** Whether it failed because nothing can be written there. */
export function isUnwritable(error: unknown): boolean {
  const code = fromSystem(error)?.code
  return code === 'not_permitted' || code === 'disk_full'
}

const changeWithinMs = 2_000
const abandonedAfterMs = 10_000

/** Changes a file while no other process does. */
export function whileLocked<T>(file: string, change: () => T): T {
  const lock = `${file}.new`
  takeLock(lock)
  try {
    return change()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(path: string): void {
  for (const deadline = Date.now() + changeWithinMs; ; ) {
    try {
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    // A process that was killed meanwhile has left it behind.
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > abandonedAfterMs) rmSync(path, { force: true })
    else if (Date.now() > deadline)
      throw new MailboxError('conflict', 'another process is changing the tokens', { hint: 'try again' })
    sleepSync(20)
  }
}
