import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Place } from './client.ts'
import { type FileState, inspectFile, replaceFile, sweepTemporaries } from './file.ts'
import {
  digest,
  emptyManifest,
  type FileRecord,
  keepBackup,
  type Manifest,
  readManifest,
  removeEmpty,
  setupDir,
  tidyManifest,
  writeManifest,
} from './manifest.ts'
import { about, type PlannedFile } from './plan.ts'
import { editBytes, isBlank } from './text.ts'

/** A project's files are for everybody who works on it. */
const newFileMode = { user: 0o600, project: 0o644 }

/** Carries a plan out: all of it, or nothing. */
export function install(plan: readonly PlannedFile[], place: Place): void {
  const changes = plan.filter(({ isChanged }) => isChanged)
  for (const { state } of plan) sweepTemporaries(state.target)
  if (changes.length === 0) return
  const dir = setupDir(place.env, place.scope, place.project)
  const before = readManifest(dir) ?? emptyManifest(place)
  const records = changes.map((change) => recordOf(dir, change, before))
  const others = before.files.filter(({ path }) => !records.some((record) => record.path === path))
  // From here on `uninit` knows what to do, wherever this process ends.
  writeManifest(dir, { ...before, files: [...others, ...records] })
  const done: PlannedFile[] = []
  try {
    for (const change of changes) {
      about(change.file, () => {
        mkdirSync(dirname(change.state.target), { recursive: true })
        replaceFile(change.state, change.after, newFileMode[place.scope])
      })
      done.push(change)
    }
  } catch (error) {
    for (const { state } of done.reverse()) putBack(state)
    for (const { madeDirs } of records) for (const each of madeDirs.toReversed()) removeEmpty(each)
    writeManifest(dir, before)
    tidyManifest(dir, before)
    throw error
  }
  tidyManifest(dir, { ...before, files: [...others, ...records] })
}

/** What `uninit` will need to know of a file, after this change as well as after those before it. */
function recordOf(dir: string, { file, state, after }: PlannedFile, manifest: Manifest): FileRecord {
  const { client, id, path } = file
  const known = manifest.files.find((record) => record.path === path)
  const now = state.bytes === undefined ? null : digest(state.bytes)
  const written = digest(after)
  if (known !== undefined && (known.before === now || known.written.includes(now ?? '')))
    return { ...known, written: [...new Set([...known.written, written])] }
  const madeDirs = known?.madeDirs ?? missingDirs(dirname(state.target))
  const record = { client, id, path, written: [written], madeDirs }
  if (state.bytes === undefined) return { ...record, before: null }
  // Changed by somebody since we set it up: what they have without us is what it goes back to.
  const own = known === undefined ? state.bytes : editBytes(state.bytes, file.uninstall)
  return { ...record, before: known?.before === null && isBlank(own) ? null : keepBackup(dir, own) }
}

function putBack({ target, bytes }: FileState): void {
  if (bytes === undefined) rmSync(target, { force: true })
  else replaceFile(inspectFile(target), bytes, 0o600)
}

function missingDirs(dir: string): string[] {
  return existsSync(dir) ? [] : [...missingDirs(dirname(dir)), dir]
}
