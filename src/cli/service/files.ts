import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { readJsonIfAny, readTextFile, writeFileAtomically } from '../../base/files.ts'

/** A file that a service needs, where it goes. */
export interface PlannedFile {
  path: string
  text: string
}

/** What was installed, so that it can be undone: beside the tokens of the hub. */
interface Installed {
  files: {
    path: string
    /** Of what was written, to tell whether somebody has changed it since. */
    sum: string
    /** What was there before; null: nothing. */
    before: { text: string; mode: number } | null
  }[]
  /** Directories that were created for them, the outermost first. */
  dirs: string[]
}

const manifestIn = (dir: string): string => join(dir, 'hub', 'service.json')
const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const readInstalled = (dir: string): Installed | undefined => readJsonIfAny<Installed>(manifestIn(dir))

/** The files of the service of a space that are installed. */
export const installedFiles = (dir: string): string[] =>
  (readInstalled(dir)?.files ?? []).map(({ path }) => path)

/** What is different from what is there, by path. */
export const changedFiles = (files: readonly PlannedFile[]): PlannedFile[] =>
  files.filter(({ path, text }) => readTextFile(path) !== text)

/**
 * Writes the files. What was there is kept in the space first, so a kill in between loses nothing of it. Those of an
 * earlier installation that are not among them any more are removed.
 */
export function installFiles(dir: string, files: readonly PlannedFile[]): void {
  const earlier = readInstalled(dir) ?? { files: [], dirs: [] }
  const known = new Map(earlier.files.map((file) => [file.path, file]))
  const dirs = [...new Set([...earlier.dirs, ...files.flatMap(({ path }) => missingDirs(dirname(path)))])]
  const installed = files.map(({ path, text }) => {
    const before = known.has(path) ? known.get(path)!.before : stateOf(path)
    return { path, sum: sumOf(text), before }
  })
  const left = earlier.files.filter(({ path }) => files.every((file) => file.path !== path))
  for (const file of left) undo(file)
  writeFileAtomically(manifestIn(dir), `${JSON.stringify({ files: installed, dirs }, null, 2)}\n`)
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileAtomically(path, text)
  }
}

export interface Undone {
  path: string
  how: 'restored' | 'removed'
}

/** Undoes what was installed: every file is as it was before. */
export function uninstallFiles(dir: string): Undone[] {
  const installed = readInstalled(dir)
  if (installed === undefined) return []
  for (const { path, sum } of installed.files) {
    const text = readTextFile(path)
    if (text !== undefined && sumOf(text) !== sum)
      throw new MailboxError('conflict', `${path} was changed after it was installed`, {
        hint: 'to discard the changes, install it again first: mailbox serve --install --yes',
      })
  }
  for (const file of installed.files) undo(file)
  for (const one of installed.dirs.toReversed()) {
    try {
      rmdirSync(one)
    } catch {
      // Others have put something into it, or it is gone already.
    }
  }
  rmSync(manifestIn(dir), { force: true })
  return installed.files.map(({ path, before }) => ({ path, how: before === null ? 'removed' : 'restored' }))
}

function undo({ path, before }: Installed['files'][number]): void {
  if (before === null) rmSync(path, { force: true })
  else writeFileAtomically(path, before.text, { mode: before.mode })
}

function stateOf(path: string): Installed['files'][number]['before'] {
  const text = readTextFile(path)
  return text === undefined ? null : { text, mode: statSync(path).mode & 0o777 }
}

function missingDirs(dir: string): string[] {
  return existsSync(dir) ? [] : [...missingDirs(dirname(dir)), dir]
}
