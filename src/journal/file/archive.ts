import { closeSync, fsyncSync, mkdirSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { type FileHandle, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { MailboxError } from '../../base/errors.ts'
import { streamFileAtomically, syncDirectory } from '../../base/files.ts'
import { monthOf } from '../../model/time.ts'
import { WriterLock } from './lock.ts'
import { archiveDirOf, archivedName, listArchived, openForRead, segmentPath } from './segment.ts'
import { upkeepError } from './write-error.ts'

/**
 * Moves closed segments into the archive, and deletes archived ones. A process that is killed here leaves a
 * temporary file, which the next one deletes, or two copies of a segment, of which the next one deletes the
 * plain one. Readers use the plain one while it exists.
 */
const toGzip = promisify(gzip)
const fromGzip = promisify(gunzip)
const temporaryEnd = '.tmp'

/**
 * Runs work while no other process archives. It is a lock like the writers', on a separate file, so writers
 * and readers are not blocked.
 */
export async function withArchive<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const archive = archiveDirOf(dir)
  try {
    mkdirSync(archive, { recursive: true, mode: 0o700 })
    syncDirectory(dirname(archive))
  } catch (error) {
    throw archiveError(error)
  }
  const lock = new WriterLock(join(archive, 'lock'))
  try {
    const done = await lock.tryWith(() => {
      // No other process is archiving, so these were left by one that was killed.
      for (const file of readdirSync(archive)) if (file.endsWith(temporaryEnd)) rmSync(join(archive, file))
      return work()
    })
    if (done !== undefined) return done.value
  } finally {
    lock.close()
  }
  throw new MailboxError('conflict', 'another process is archiving this space', {
    hint: 'wait until it is done, then try again',
  })
}

/** Where the segment is once it is archived. */
export const archivedPath = (dir: string, segment: number, lastAt: string): string =>
  join(archiveDirOf(dir), archivedName(segment, monthOf(lastAt)))

/** Moves a closed segment into the archive, gzipped. Returns the size of the archived file. */
export async function packSegment(
  dir: string,
  segment: number,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const plain = segmentPath(dir, segment)
  try {
    const bytes = await readFile(plain)
    if (!(await hasGzipped(path, bytes))) await writePacked(path, bytes, signal)
    // Its name must be on disk before the other copy is deleted.
    syncDirectory(archiveDirOf(dir))
    unlinkSync(plain)
    // Readers rely on the order in which segments leave, so this deletion is durable before the next.
    syncDirectory(dir)
    return statSync(path).size
  } catch (error) {
    throw archiveError(error)
  }
}

async function writePacked(path: string, bytes: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const temporary = path + temporaryEnd
  const write = async (file: FileHandle) => {
    await file.writeFile(await toGzip(bytes))
    await file.sync()
    // The only other copy is deleted next, so read back what was written.
    if (!(await hasGzipped(temporary, bytes))) {
      throw new MailboxError('damaged', `${temporary} does not contain what was written to it`, {
        hint: 'check the disk (dmesg); the journal is unchanged',
      })
    }
    signal?.throwIfAborted()
  }
  await streamFileAtomically(path, write, temporary)
}

/** Whether the file exists and contains these bytes, gzipped. */
async function hasGzipped(path: string, bytes: Buffer): Promise<boolean> {
  try {
    return (await fromGzip(await readFile(path))).equals(bytes)
  } catch {
    return false
  }
}

/** Deletes archived segments in this order, each durably before the next. */
export function removeArchived(dir: string, segments: readonly number[]): void {
  try {
    for (const segment of segments) {
      for (let path = listArchived(dir).get(segment); path; path = listArchived(dir).get(segment))
        unlinkSync(path)
      syncDirectory(archiveDirOf(dir))
    }
  } catch (error) {
    throw archiveError(error)
  }
}

/** Deletes segments that are not archived, of a journal that is kept elsewhere. */
export function removePlain(dir: string, segments: readonly number[]): void {
  for (const segment of segments) rmSync(segmentPath(dir, segment), { force: true })
}

/** Syncs a segment to disk, whatever durability its writers use. */
export function syncSegment(dir: string, segment: number): void {
  const fd = openForRead(segmentPath(dir, segment))
  if (fd === undefined) return
  try {
    fsyncSync(fd)
  } catch (error) {
    throw archiveError(error)
  } finally {
    closeSync(fd)
  }
}

const archiveError = (cause: unknown): unknown => upkeepError(cause, 'archiving failed', 'no mail is lost')
