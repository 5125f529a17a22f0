import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  linkSync,
  openSync,
  promises,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { MailboxError } from './errors.ts'

export interface WriteFileOptions {
  /** @default 0o600 */
  mode?: number
  /** Another owner than this process. */
  owner?: { uid: number; gid: number }
  /** The modification time it gets. @default now */
  modifiedMs?: number
  /**
   * Do not wait for the disk: after a power loss the file may be old, empty or gone. Only for what means nothing
   * after a restart of the machine, or is soon written again. @default false
   */
  expendable?: boolean
  /** Where the content is written first; in the same directory. @default the path with the pid and `.tmp` */
  temporary?: string
  /** Runs when the new content is complete. If it throws, the old file stays. */
  beforeRename?: () => void
}

/**
 * Replaces a file as a whole: the content is written to a temporary file, synced, and renamed into place.
 * Readers see the old file or the new one, never half of one, even after a power loss: without the sync, the new
 * name could be on disk before the content.
 */
export function writeFileAtomically(
  path: string,
  content: string | Buffer,
  options: WriteFileOptions = {},
): void {
  const { temporary = temporaryFor(path) } = options
  try {
    writeNewFile(temporary, content, options)
    options.beforeRename?.()
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  if (!options.expendable) syncDirectory(dirname(path))
}

/**
 * Creates a file with its content, or leaves the one that is there. A link appears with its content or not at
 * all, so of several processes that do this at once all find the same.
 */
export function createFileAtomically(path: string, content: string): void {
  const temporary = temporaryFor(path)
  try {
    writeNewFile(temporary, content, {})
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  // Also for a file that was there: its maker may have been killed before it came this far.
  syncDirectory(dirname(path))
}

const temporaryFor = (path: string): string => `${path}.${process.pid}.tmp`

function writeNewFile(path: string, content: string | Buffer, options: WriteFileOptions): void {
  const { mode, owner, modifiedMs, expendable } = options
  // A killed process that had our pid may have left one.
  rmSync(path, { force: true })
  const fd = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(fd, content)
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
    if (mode !== undefined) fchmodSync(fd, mode)
    if (modifiedMs !== undefined) futimesSync(fd, modifiedMs / 1_000, modifiedMs / 1_000)
    if (!expendable) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The same for content that is long or slow to produce. If `write` throws, the old file stays. */
export async function streamFileAtomically(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  temporary = temporaryFor(path),
): Promise<void> {
  try {
    await promises.rm(temporary, { force: true })
    await using file = await promises.open(temporary, 'wx', 0o600)
    await write(file)
    await file.sync()
    await promises.rename(temporary, path)
  } catch (error) {
    await promises.rm(temporary, { force: true })
    throw error
  }
  syncDirectory(dirname(path))
}

/** Moves a file to another name on the same disk, and makes that durable. */
export function moveFile(from: string, to: string): void {
  renameSync(from, to)
  syncDirectory(dirname(to))
  if (dirname(from) !== dirname(to)) syncDirectory(dirname(from))
}

/**
 * Syncs every directory entry on the way to a new directory, as far up as they can be of this user's making:
 * whoever made them may have been killed before it could.
 */
export function syncPathTo(dir: string): void {
  for (let at = dir; ; at = dirname(at)) {
    try {
      syncDirectory(at)
    } catch (error) {
      if (at !== dir && ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return
      throw error
    }
    if (at === dirname(at) || statSync(at).uid !== process.getuid?.()) return
  }
}

/** A new, renamed or deleted file survives a power loss that way only when its directory entry does. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } catch (error) {
    // Some file systems, mostly network ones, cannot sync a directory.
    if (!['EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(fd)
  }
}

/**
 * The text of a file; undefined when there is none. Something else at its path is an error, and does not make us
 * wait: a FIFO without a writer would.
 */
export function readTextFile(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  const fd = openRegular(path, constants.O_RDONLY)
  if (fd === undefined) return undefined
  try {
    return readFileSync(fd, encoding)
  } finally {
    closeSync(fd)
  }
}

/** Opens a regular file; undefined when there is none. */
export function openRegular(path: string, flags: number, mode?: number): number | undefined {
  let fd: number
  try {
    fd = openSync(path, flags | constants.O_NONBLOCK, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    // A directory, a symbolic link, a socket, or a FIFO that nobody reads.
    if (['EISDIR', 'ELOOP', 'ENXIO'].includes(code ?? '')) throw notAFile(path, error)
    throw error
  }
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw notAFile(path)
}

export const notAFile = (path: string, cause?: unknown) =>
  new MailboxError('damaged', `${path} is not a regular file`, {
    cause,
    hint: 'a directory, a link or a FIFO is in the place of a file of the mailbox: move it away and try again',
  })

/** Which file is at a path; empty if there is none. Another file at the same path has another identity. */
export function identityAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? '' : identityOf(found)
}

export const identityOf = ({ dev, ino }: { dev: number; ino: number }): string => `${dev}:${ino}`

/** The text of a file; undefined when there is none or it cannot be read. */
export function readFileIfAny(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readTextFile(path, encoding)
  } catch {
    return undefined
  }
}

/** The value in a JSON file; undefined when there is no such file, or no JSON in it. Its shape is not checked. */
export function readJsonIfAny<T>(path: string): T | undefined {
  try {
    const text = readTextFile(path)
    return text === undefined ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined
  }
}

/** The names in a directory; none when there is no such directory. */
export function listIfAny(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** Reads `length` bytes, or up to the end of the file; a single read may return less than asked. */
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
