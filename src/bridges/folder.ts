import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { MailboxError, systemName } from '../base/errors.ts'
import { moveFile, openRegular, readFully, writeFileAtomically } from '../base/files.ts'
import type { Agent } from '../model/agent.ts'
import type { Fact, Mark } from './format.ts'
import { LockHeld } from './lock.ts'
import type { Memory } from './memory.ts'

/** A file that cannot be read may still be being written. After this long it is reported. */
const writingMs = 2_000
/** No message is as long as that. */
const maxFileBytes = 16 * 1_048_576

/** What a format may know of the space it is bridged with. */
export interface Host {
  readonly dir: string
  readonly id: string
  readonly agents: ReadonlyMap<string, Agent>
}

export interface ReadFile {
  text: string
  mark: Mark
}

export interface ReplaceOptions {
  temporary?: string
  mode?: number
  /** What the new text was made from: if somebody else has written since, theirs stays, and it is tried again. */
  since?: Mark
  /** What is to be done, or checked, at the last moment. */
  beforeRename?: () => void
}

/**
 * The folder of another system. Nothing outside of it is read or written: symbolic links are not followed. Paths are
 * relative to it.
 */
export class Folder {
  readonly root: string
  readonly memory: Memory
  /** By the clock of the space, in ms. */
  readonly now: () => number
  readonly host: Host | undefined
  /** The directories to look into; undefined for all of them. */
  #due: ReadonlySet<string> | undefined
  /** Something may be being written: look again soon, whether anything rings or not. */
  isUnsettled = false
  readonly problems: Fact[] = []

  constructor(root: string, memory: Memory, now: () => number, host?: Host) {
    this.root = root
    this.memory = memory
    this.now = now
    this.host = host
  }

  /** Whether somebody is an agent of the space that did not come by a bridge. */
  isHere(name: string): boolean {
    const agent = this.host?.agents.get(name)
    return agent !== undefined && agent.session.client !== 'bridge'
  }

  /**
   * The address here of a name that is only mentioned there: whoever has no mailbox of its own, and is no agent, may
   * have the role of that name.
   */
  addressOf(name: string): string {
    const { agents } = this.host ?? {}
    if (agents === undefined || agents.has(name)) return name
    const isRole = [...agents.values()].some(({ roles, gone }) => gone !== 'left' && roles.includes(name))
    return isRole ? `role:${name}` : name
  }

  /** Starts a new look, into some directories or all of them. */
  begin(due?: ReadonlySet<string>): void {
    this.#due = due
    this.isUnsettled = false
    this.problems.length = 0
  }

  isDue = (dir: string): boolean => this.#due === undefined || this.#due.has(dir)

  get exists(): boolean {
    return this.stat('')?.isDirectory() === true
  }

  stat(path: string): Stats | undefined {
    try {
      return lstatSync(join(this.root, path), { throwIfNoEntry: false })
    } catch (error) {
      const name = systemName(error)
      if (name === undefined) throw error
      if (name !== 'ENOTDIR') this.problem(path, `cannot be read: ${name}`)
      return undefined
    }
  }

  has = (path: string): boolean => this.stat(path) !== undefined

  #list(dir: string): Dirent[] {
    // A link in place of a directory leads elsewhere.
    if (dir !== '' && this.stat(dir)?.isSymbolicLink()) {
      this.problem(dir, 'is a symbolic link, which is not followed')
      return []
    }
    try {
      return readdirSync(join(this.root, dir), { withFileTypes: true })
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(systemName(error) ?? '')) return []
      this.problem(dir, `cannot be read: ${systemName(error)}`)
      return []
    }
  }

  /** The directories in a directory, by their names. */
  directories(dir: string): string[] {
    const found: string[] = []
    for (const entry of this.#list(dir)) {
      if (entry.isDirectory()) found.push(entry.name)
      else if (entry.isSymbolicLink())
        this.problem(join(dir, entry.name), 'is a symbolic link, which is not followed')
    }
    return found.sort()
  }

  /** The files in a directory whose names end in one way, in the order of their names. */
  files(dir: string, end: string): string[] {
    const found: string[] = []
    for (const entry of this.#list(dir)) {
      if (!entry.name.endsWith(end) || entry.isDirectory()) continue
      if (entry.isFile()) found.push(join(dir, entry.name))
      else this.problem(join(dir, entry.name), 'is not a regular file')
    }
    return found.sort()
  }

  problem(place: string, reason: string, line?: number, mark?: Mark): void {
    this.problems.push({ kind: 'problem', place, reason, line, mark })
  }

  /** The text of a file that has changed since it was last read; undefined for any other. */
  changed(path: string): ReadFile | undefined {
    const stat = this.stat(path)
    if (stat === undefined || !stat.isFile()) return undefined
    const stamp = stampOf(stat)
    return this.memory.mark(path) === stamp ? undefined : this.read(path)
  }

  /** The text of a file; undefined if there is none, or it is not a text. */
  read(path: string): ReadFile | undefined {
    const fd = this.#open(path)
    if (fd === undefined) return undefined
    try {
      const stat = fstatSync(fd)
      const mark = { path, stamp: stampOf(stat) }
      if (stat.size > maxFileBytes) {
        this.problem(path, `has ${stat.size} bytes; the limit is ${maxFileBytes}`, undefined, mark)
        return undefined
      }
      const text = utf8(readFully(fd, 0, stat.size))
      if (text === undefined) this.problem(path, 'is not UTF-8', undefined, mark)
      return text === undefined ? undefined : { text, mark }
    } finally {
      closeSync(fd)
    }
  }

  #open(path: string): number | undefined {
    try {
      return openRegular(this.inside(path), constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (error) {
      const name = systemName(error)
      if (name === 'ENOTDIR') return undefined
      this.problem(path, error instanceof MailboxError ? error.message : `cannot be read: ${name}`)
      return undefined
    }
  }

  /** Opens a file with many lines; the caller closes it. */
  openLines = (path: string): number | undefined => this.#open(path)

  /** Whether a file that cannot be understood is complete: nobody has written to it for a while. */
  isSettled(path: string): boolean {
    const stat = this.stat(path)
    const isSettled = stat === undefined || Date.now() - stat.mtimeMs >= writingMs
    if (!isSettled) this.isUnsettled = true
    return isSettled
  }

  /** The full path of something inside the folder. Throws if a link on the way leads out of it. */
  inside(path: string): string {
    const parts = path.split(sep)
    if (parts.includes('..') || path.startsWith(sep)) throw outside(path)
    for (let n = 1; n < parts.length; n++)
      if (this.stat(parts.slice(0, n).join(sep))?.isSymbolicLink()) throw outside(path)
    return join(this.root, path)
  }

  ensureDirectory(path: string, mode = 0o755): string {
    const full = this.inside(join(path, '.'))
    if (this.stat(path)?.isSymbolicLink()) throw outside(path)
    mkdirSync(full, { recursive: true, mode })
    return full
  }

  /** Replaces a file as a whole, through a temporary file with the name that the format gives it. */
  replace(
    path: string,
    text: string,
    { temporary = `${path}.tmp`, mode = 0o644, since, ...more }: ReplaceOptions = {},
  ): void {
    const beforeRename = () => {
      const now = since && this.stat(path)
      if (since !== undefined && (now === undefined || stampOf(now) !== since.stamp))
        throw new LockHeld(path, beingWritten)
      more.beforeRename?.()
    }
    writeFileAtomically(this.inside(path), text, {
      ...{ mode, temporary: join(this.root, temporary), beforeRename },
    })
  }

  move(from: string, to: string): void {
    moveFile(this.inside(from), this.inside(to))
  }

  remove(path: string): void {
    rmSync(this.inside(path), { force: true })
  }

  /**
   * Appends a line, and waits for the disk. A last line without an end may still be being written, and is left alone
   * for a while; one that was never finished is ended. Returns when others could see the new line, in ms.
   */
  append(path: string, line: string, mode = 0o644): number {
    const full = this.inside(path)
    mkdirSync(dirname(full), { recursive: true })
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
    const fd = openSync(full, flags, mode)
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) throw outside(path)
      const isEnded = stat.size === 0 || readFully(fd, stat.size - 1, 1).toString('latin1') === '\n'
      if (!isEnded && Date.now() - stat.mtimeMs < writingMs) throw new LockHeld(path, beingWritten)
      const bytes = Buffer.from(`${isEnded ? '' : '\n'}${line}\n`)
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      const seenFrom = Date.now()
      fsyncSync(fd)
      return seenFrom
    } finally {
      closeSync(fd)
    }
  }
}

const beingWritten = 'is being written by another program'

const outside = (path: string) =>
  new MailboxError('not_permitted', `${path} leads out of the folder`, {
    hint: 'replace the symbolic link with the file or folder that it points to',
  })

const stampOf = ({ ino, size, mtimeMs }: Pick<Stats, 'ino' | 'size' | 'mtimeMs'>): string =>
  `${ino}:${size}:${mtimeMs}`

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes; undefined if they are none. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
