import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface WriteFileOptions {
  /** @default 0o600 */
  mode?: number
  /** Another owner than this process. */
  owner?: { uid: number; gid: number }
  /** The modification time it gets. @default now */
  modifiedMs?: number
  /** Sync the file and its directory, so that the new content survives a power loss. @default false */
  durable?: boolean
  /** Where the content is written first; in the same directory. @default the path with the pid and `.tmp` */
  temporary?: string
  /** Runs when the new content is complete. If it throws, the old file stays. */
  beforeRename?: () => void
}

/**
 * Replaces a file as a whole: the content is written to a temporary file, which is then renamed into place.
 * Readers see the old file or the new one, never half of one, even after a crash.
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
  if (options.durable) syncDirectory(dirname(path))
}

const temporaryFor = (path: string): string => `${path}.${process.pid}.tmp`

function writeNewFile(path: string, content: string | Buffer, options: WriteFileOptions): void {
  const { mode, owner, modifiedMs, durable } = options
  // A killed process that had our pid may have left one.
  rmSync(path, { force: true })
  const fd = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(fd, content)
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
    if (mode !== undefined) fchmodSync(fd, mode)
    if (modifiedMs !== undefined) futimesSync(fd, modifiedMs / 1_000, modifiedMs / 1_000)
    if (durable) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The same for content that is long or slow to produce, always durable. If `write` throws, the old file stays. */
export async function streamFileAtomically(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  temporary = temporaryFor(path),
): Promise<void> {
  try {
    await rm(temporary, { force: true })
    await using file = await open(temporary, 'wx', 0o600)
    await write(file)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
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

/** The text of a file; undefined when there is none or it cannot be read. */
export function readFileIfAny(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readFileSync(path, encoding)
  } catch {
    return undefined
  }
}

/** The value in a JSON file; undefined when there is no such file, or no JSON in it. Its shape is not checked. */
export function readJsonIfAny<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
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
