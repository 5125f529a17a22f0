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

/** A file as it stands, or the place for one. */
export interface FileState {
  /** Where its bytes are: behind symbolic links, which stay. */
  target: string
  bytes: Buffer | undefined
  stats: Stats | undefined
}

/** Looks at a file that is to be replaced, and refuses one that could not be or should not be. */
export function inspectFile(path: string): FileState {
  const target = targetOf(path)
  if (!existsSync(target)) {
    checkDirectory(nearestDirectory(dirname(target)))
    return { target, bytes: undefined, stats: undefined }
  }
  const stats = statSync(target)
  if (!stats.isFile()) throw new MailboxError('invalid', 'it is not a file')
  // To root everything is writable; that the file says otherwise is somebody's will all the same.
  if ((stats.mode & 0o222) === 0 || !mayWrite(target))
    throw new MailboxError('not_permitted', 'it is read-only', { hint: `allow it: chmod u+w ${target}` })
  if (stats.nlink > 1) {
    throw new MailboxError('not_permitted', 'it has a second name (a hard link), which it would part from', {
      hint: 'make the other one a symbolic link',
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
    throw new MailboxError('invalid', isLink ? 'it is a link to nowhere' : (error as Error).message, {
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
      hint: `allow it: chmod u+w ${dir}`,
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
 * Replaces a file as a whole: whoever looks sees the old one or the new one, and so does whoever comes
 * after a crash. Mode and owner stay.
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
        throw new MailboxError('conflict', 'it was changed by somebody else meanwhile', { hint: 'try again' })
    },
  })
}

const isStill = (path: string, bytes: Buffer | undefined): boolean =>
  existsSync(path) ? bytes?.equals(readFileSync(path)) === true : bytes === undefined

const isOther = (pid: number): boolean => pid !== process.pid && pidExists(pid)

/** Removes what an earlier run that was killed has left beside a file. */
export function sweepTemporaries(target: string): void {
  const dir = dirname(target)
  if (!existsSync(dir)) return
  const left = readdirSync(dir).filter((name) => name.startsWith(`.${basename(target)}.`))
  for (const name of left) {
    const pid = /\.(\d+)\.mailbox-tmp$/.exec(name)?.[1]
    if (pid !== undefined && !isOther(Number(pid))) rmSync(join(dir, name), { force: true })
  }
}
