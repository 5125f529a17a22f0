import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { writeFileAtomically } from '../../base/files.ts'
import { pidExists } from '../../base/process.ts'

/** A file as it is, or where one will be. */
export interface FileState {
  /** Where its bytes are: symbolic links are followed, and kept. */
  target: string
  bytes: Buffer | undefined
  stats: Stats | undefined
}

/** Reads a file that is to be replaced, and refuses one that cannot or should not be. */
export function inspectFile(path: string): FileState {
  const target = targetOf(path)
  if (!existsSync(target)) {
    checkDirectory(nearestDirectory(dirname(target)))
    return { target, bytes: undefined, stats: undefined }
  }
  const stats = statSync(target)
  if (!stats.isFile()) throw new MailboxError('invalid', 'it is not a file')
  // Root may write anything, but somebody has made the file read-only on purpose.
  if ((stats.mode & 0o222) === 0 || !mayWrite(target))
    throw new MailboxError('not_permitted', 'it is read-only', {
      hint: `make it writable: chmod u+w ${target}`,
    })
  if (stats.nlink > 1) {
    throw new MailboxError('not_permitted', 'it is a hard link, and replacing it would break the link', {
      hint: 'use a symbolic link instead',
    })
  }
  const uid = process.getuid?.()
  if (uid !== undefined && uid !== 0 && stats.uid !== uid)
    throw new MailboxError('not_permitted', 'it belongs to another user')
  checkDirectory(dirname(target))
  return { target, bytes: readFileSync(target), stats }
}

/** Where a file's bytes are; the path itself when there is no file. */
export function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (!isLink && (error as NodeJS.ErrnoException).code === 'ENOENT') return path
    throw new MailboxError('invalid', isLink ? 'it is a broken symbolic link' : (error as Error).message, {
      cause: error,
    })
  }
}

function nearestDirectory(dir: string): string {
  return existsSync(dir) ? dir : nearestDirectory(dirname(dir))
}

function checkDirectory(dir: string): void {
  if (!statSync(dir).isDirectory()) throw new MailboxError('invalid', `${dir} is not a directory`)
  if (!mayWrite(dir)) {
    throw new MailboxError('not_permitted', `its directory ${dir} is read-only`, {
      hint: `make it writable: chmod u+w ${dir}`,
    })
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const temporaryEnd = '.mailbox-tmp'

/**
 * Replaces a file as a whole: readers see the old file or the new one, also after a crash. Its mode and owner are
 * kept.
 */
export function replaceFile({ target, bytes, stats }: FileState, content: Buffer, newMode: number): void {
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}${temporaryEnd}`)
  const isOurs = stats === undefined || (stats.uid === process.getuid?.() && stats.gid === process.getgid?.())
  writeFileAtomically(target, content, {
    mode: stats === undefined ? newMode : stats.mode & 0o7777,
    ...(isOurs ? {} : { owner: stats }),
    durable: true,
    temporary,
    beforeRename: () => {
      if (!isStill(target, bytes))
        throw new MailboxError('conflict', 'another program has changed it in the meantime', {
          hint: 'try again',
        })
    },
  })
}

const isStill = (path: string, bytes: Buffer | undefined): boolean =>
  existsSync(path) ? bytes?.equals(readFileSync(path)) === true : bytes === undefined

const isOther = (pid: number): boolean => pid !== process.pid && pidExists(pid)

/** Removes temporary files that killed runs have left beside a file. */
export function sweepTemporaries(target: string): void {
  const dir = dirname(target)
  if (!existsSync(dir)) return
  const left = readdirSync(dir).filter((name) => name.startsWith(`.${basename(target)}.`))
  for (const name of left) {
    const pid = /\.(\d+)\.mailbox-tmp$/.exec(name)?.[1]
    if (pid !== undefined && !isOther(Number(pid))) rmSync(join(dir, name), { force: true })
  }
}
