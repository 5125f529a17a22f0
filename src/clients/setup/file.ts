import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny, writeFileAtomically } from '../../base/files.ts'
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
  if ((stats.mode & 0o222) === 0 || !mayAccess(target, constants.W_OK))
    throw refusal('it is read-only', `make it writable: chmod u+w ${target}`)
  if (stats.nlink > 1)
    throw refusal('it is a hard link, and replacing it would break the link', 'use a symbolic link instead')
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

/** Refuses a file of a project that leads out of it: whoever made the project may have linked it to anywhere. */
export function mustStayIn(project: string, path: string): void {
  const within = (dir: string, one: string) => one.startsWith(dir.endsWith(sep) ? dir : `${dir}${sep}`)
  if (!within(project, path)) return
  const target = targetOf(path)
  const real = existsSync(target)
    ? target
    : join(realpathSync(nearestDirectory(dirname(target))), basename(target))
  if (!within(realpathSync(project), real))
    throw refusal(
      'it leads out of the project through a symbolic link',
      'replace the link with a directory of the project',
    )
}

function nearestDirectory(dir: string): string {
  return existsSync(dir) ? dir : nearestDirectory(dirname(dir))
}

function checkDirectory(dir: string): void {
  if (!statSync(dir).isDirectory()) throw new MailboxError('invalid', `${dir} is not a directory`)
  if (!mayAccess(dir, constants.W_OK))
    throw refusal(`its directory ${dir} is read-only`, `make it writable: chmod u+w ${dir}`)
}

const refusal = (why: string, hint: string): MailboxError => new MailboxError('not_permitted', why, { hint })

/** Whether the file exists and this process may do that with it. */
export function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Replaces a file that was inspected. Its mode and owner are kept. */
export function replaceFile({ target, bytes, stats }: FileState, content: Buffer, newMode: number): void {
  const isOurs = stats === undefined || (stats.uid === process.getuid?.() && stats.gid === process.getgid?.())
  writeFileAtomically(target, content, {
    mode: stats === undefined ? newMode : stats.mode & 0o7777,
    ...(isOurs ? {} : { owner: stats }),
    temporary: temporaryOf(target, process.pid),
    beforeRename: () => {
      const isSame = existsSync(target) ? bytes?.equals(readFileSync(target)) : bytes === undefined
      if (isSame) return
      const message = 'another program has changed it in the meantime'
      throw new MailboxError('conflict', message, { hint: 'try again' })
    },
  })
}

const temporaryOf = (target: string, pid: number): string =>
  join(dirname(target), `.${basename(target)}.${pid}.mailbox-tmp`)

/** Removes temporary files that killed runs have left beside a file. */
export function sweepTemporaries(target: string): void {
  for (const name of listIfAny(dirname(target))) {
    const pid = Number(/\.(\d+)\.mailbox-tmp$/.exec(name)?.[1])
    const path = temporaryOf(target, pid)
    if (basename(path) === name && (pid === process.pid || !pidExists(pid))) rmSync(path, { force: true })
  }
}

/** Applies an edit to a file's bytes. Anything but UTF-8 is refused; a byte order mark is kept. */
export function editBytes(bytes: Buffer | undefined, edit: (text: string) => string): Buffer {
  const [, mark = '', text = ''] = /^(\ufeff?)(.*)$/s.exec(decode(bytes ?? Buffer.alloc(0)))!
  return Buffer.from(mark + edit(text))
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new MailboxError('invalid', 'it is not UTF-8', { cause, hint: 'convert it: iconv -t UTF-8' })
  }
}

/** Whether a settings file is empty, without even a comment. */
export const isBlank = (bytes: Buffer): boolean => /^\ufeff?\s*(\{\s*\})?\s*$/.test(bytes.toString('utf8'))
