import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../../base/files.ts'
import type { Client } from '../../model/client.ts'
import { clientSetups } from '../registry.ts'
import type { Place, SettingsFile } from './client-setup.ts'
import { editBytes, isBlank } from './edit-bytes.ts'
import { inspectFile, replaceFile, sweepTemporaries, targetOf } from './file.ts'
import {
  digest,
  emptyManifest,
  type FileRecord,
  readBackup,
  readManifest,
  removeEmpty,
  setupDir,
  tidyManifest,
  writeManifest,
} from './manifest.ts'
import { about } from './plan.ts'

/** What happens to a file. */
export interface UndoneFile {
  client: Client
  path: string
  how:
    | 'restored' // to its original bytes
    | 'removed' // there was none before
    | 'edited' // changed since `init`: only our entries are removed
    | 'untouched' // it has no entries of ours
  /** It had entries of ours before `init`, and has them again. */
  olderEntries: boolean
}

interface Undo extends UndoneFile {
  /** undefined: the file is removed. */
  content: Buffer | undefined
}

export interface UninstallOptions {
  clients: readonly Client[]
  /** Only report what would be done. @default false */
  dryRun?: boolean
}

/** Restores the files. Every step can be repeated, so the next run continues after an interruption. */
export function uninstall(place: Place, { clients, dryRun = false }: UninstallOptions): UndoneFile[] {
  const dir = setupDir(place.env, place.scope, place.project)
  const manifest = readManifest(dir) ?? emptyManifest(place)
  const files = clientSetups
    .filter(({ name }) => clients.includes(name))
    .flatMap((client) => client.files(place))
  const records = manifest.files.filter(({ client }) => clients.includes(client))
  const recorded = records.map((record) => undoRecord(record, dir, place))
  const known = new Set(records.map(({ path }) => path))
  const unrecorded = files.filter(({ path }) => !known.has(path)).map(undoUnrecorded)
  const undos = [...recorded, ...unrecorded]
  if (dryRun) return undos.map(withoutContent)
  for (const undo of undos) carryOut(undo)
  for (const each of records.flatMap(({ madeDirs }) => madeDirs.toReversed())) removeEmpty(each)
  const rest = { ...manifest, files: manifest.files.filter((record) => !records.includes(record)) }
  if (rest.files.length > 0) writeManifest(dir, rest)
  tidyManifest(dir, rest)
  return undos.map(withoutContent)
}

const withoutContent = ({ content: _, ...undone }: Undo): UndoneFile => undone

function undoRecord(record: FileRecord, dir: string, place: Place): Undo {
  const { client, id, path, before, written } = record
  const file = { ...fileOf(client, id, place), path }
  return about(file, () => {
    const now = existsSync(path) ? readFileSync(path) : undefined
    const sha = now === undefined ? null : digest(now)
    const same = { client, path, olderEntries: false }
    if (now === undefined || sha === before) return { ...same, how: 'untouched', content: now }
    if (!written.includes(sha!)) return takeOut(file, now, before === null)
    if (before === null) return { ...same, how: 'removed', content: undefined }
    const content = readBackup(dir, before)
    return { ...same, how: 'restored', content, olderEntries: hasOurs(file, content) }
  })
}

/** A file without a record may have our entries: copied from another machine, or the manifest was lost. */
function undoUnrecorded(file: SettingsFile): Undo {
  const untouched = { client: file.client, path: file.path, how: 'untouched', olderEntries: false } as const
  if (!existsSync(file.path)) return { ...untouched, content: undefined }
  try {
    return takeOut(file, readFileSync(file.path), true)
  } catch {
    // We have never touched this file, so that we cannot read it is no problem.
    return { ...untouched, content: undefined }
  }
}

function takeOut(file: SettingsFile, now: Buffer, isMadeByUs: boolean): Undo {
  const content = editBytes(now, file.uninstall)
  const { client, path } = file
  const undone = { client, path, olderEntries: false }
  if (content.equals(now)) return { ...undone, how: 'untouched', content: now }
  if (isBlank(content) && isMadeByUs) return { ...undone, how: 'removed', content: undefined }
  return { ...undone, how: 'edited', content }
}

function hasOurs(file: SettingsFile, bytes: Buffer): boolean {
  try {
    return !editBytes(bytes, file.uninstall).equals(bytes)
  } catch {
    return false
  }
}

function fileOf(client: Client, id: string, place: Place): SettingsFile {
  const files = clientSetups.flatMap((setup) => setup.files(place))
  return files.find((file) => file.client === client && file.id === id)!
}

function carryOut(undo: Undo): void {
  about(undo, () => {
    sweepTemporaries(targetOf(undo.path))
    if (undo.how === 'untouched') return
    const state = inspectFile(undo.path)
    if (undo.content !== undefined) replaceFile(state, undo.content, 0o600)
    else {
      rmSync(state.target, { force: true })
      syncDirectory(dirname(state.target))
    }
  })
}
