import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import type { Place } from './client-setup.ts'
import { editBytes, inspectFile, isBlank, replaceFile, sweepTemporaries } from './file.ts'
import {
  digest,
  type FileRecord,
  keepBackup,
  type Manifest,
  readManifest,
  removeMadeDirs,
  setupDir,
  tidyManifest,
  writeManifest,
} from './manifest.ts'
import { about, type PlannedFile } from './plan.ts'

/** Everybody who works on a project may read its files. */
const newFileMode = { user: 0o600, project: 0o644 }

/** Makes all planned changes, or none. */
export function install(plan: readonly PlannedFile[], place: Place): void {
  const changes = plan.filter(({ isChanged }) => isChanged)
  for (const { state } of plan) sweepTemporaries(state.target)
  if (changes.length === 0) return
  const dir = setupDir(place)
  const before = readManifest(place)
  let after = before
  const begun: PlannedFile[] = []
  try {
    after = about({ path: dir }, () => writeAhead(dir, changes, before, place))
    for (const change of changes) {
      begun.push(change)
      about(change.file, () => {
        mkdirSync(dirname(change.state.target), { recursive: true })
        replaceFile(change.state, change.after, newFileMode[place.scope])
      })
    }
  } catch (error) {
    putAllBack(begun, after, error)
    if (existsSync(dir) && before.files.length > 0) writeManifest(dir, before)
    tidyManifest(dir, before)
    throw error
  }
  tidyManifest(dir, after)
}

/** Backs the files up and records what is about to change. From then on `uninit` can undo it. */
function writeAhead(dir: string, changes: readonly PlannedFile[], before: Manifest, place: Place): Manifest {
  const records = changes.map((change) => ({ ...recordOf(dir, change, before), space: place.space ?? null }))
  const others = before.files.filter(({ path }) => !records.some((record) => record.path === path))
  const after = { ...before, files: [...others, ...records] }
  writeManifest(dir, after)
  return after
}

/** What `uninit` needs to know about a file, after this change and any earlier ones. */
function recordOf(dir: string, change: PlannedFile, { files }: Manifest): Omit<FileRecord, 'space'> {
  const { file, state, after } = change
  const { client, id, path } = file
  const known = files.find((record) => record.path === path)
  const now = state.bytes === undefined ? null : digest(state.bytes)
  const written = digest(after)
  if (known !== undefined && (known.before === now || known.written.includes(now ?? '')))
    return { ...known, written: [...new Set([...known.written, written])] }
  const madeDirs = known?.madeDirs ?? missingDirs(dirname(state.target))
  const record = { client, id, path, written: [written], madeDirs }
  if (state.bytes === undefined) return { ...record, before: null }
  // Somebody has changed it since we set it up: `uninit` restores their version without our entries.
  const own = known === undefined ? state.bytes : editBytes(state.bytes, file.uninstall)
  return { ...record, before: known?.before === null && isBlank(own) ? null : keepBackup(dir, own) }
}

/** Undoes what was begun. If that fails too, the manifest stays, and `uninit` can do it later. */
function putAllBack(begun: readonly PlannedFile[], { files }: Manifest, cause: unknown): void {
  try {
    for (const change of begun.toReversed()) putBack(change)
  } catch (error) {
    const message = `${(cause as Error).message}; restoring the other files failed too: ${(error as Error).message}`
    throw new MailboxError('internal', message, { cause, hint: 'fix the problem, then run: mailbox uninit' })
  }
  removeMadeDirs(files)
}

/** It may have failed before or after the new file was in place. */
function putBack({ state: { target, bytes }, after }: PlannedFile): void {
  if (!existsSync(target) || !readFileSync(target).equals(after)) return
  if (bytes === undefined) rmSync(target)
  else replaceFile(inspectFile(target), bytes, 0o600)
}

function missingDirs(dir: string): string[] {
  return existsSync(dir) ? [] : [...missingDirs(dirname(dir)), dir]
}
