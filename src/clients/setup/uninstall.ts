import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../../base/files.ts'
import type { Client } from '../../model/client.ts'
import { clientSetups } from '../registry.ts'
import type { Place, SettingsFile } from './client-setup.ts'
import { editBytes, inspectFile, isBlank, replaceFile, sweepTemporaries, targetOf } from './file.ts'
import {
  digest,
  type FileRecord,
  readBackup,
  readManifest,
  removeMadeDirs,
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
  /** What the file is to contain; undefined when it is removed or not touched. */
  content: Buffer | undefined
}

export interface UninstallOptions {
  clients: readonly Client[]
  /** Only report what would be done. @default false */
  dryRun?: boolean
}

/** Restores the files. Every step can be repeated, so the next run continues after an interruption. */
export function uninstall(place: Place, { clients, dryRun = false }: UninstallOptions): UndoneFile[] {
  const dir = setupDir(place)
  const manifest = readManifest(place)
  const files = clientSetups.flatMap((setup) => setup.files(place))
  const records = manifest.files.filter(({ client }) => clients.includes(client))
  const recorded = records.map((record) => undoRecord(record, dir, files))
  const known = new Set(records.map(({ path }) => path))
  const unrecorded = files.filter(({ client, path }) => clients.includes(client) && !known.has(path))
  const undos = [...recorded, ...unrecorded.map(undoUnrecorded)]
  if (!dryRun) {
    for (const undo of undos) carryOut(undo)
    removeMadeDirs(records)
    const rest = { ...manifest, files: manifest.files.filter((record) => !records.includes(record)) }
    if (rest.files.length > 0) writeManifest(dir, rest)
    tidyManifest(dir, rest)
  }
  return undos.map(({ content: _, ...undone }) => undone)
}

function undoBy(file: SettingsFile, how: UndoneFile['how'], content?: Buffer, olderEntries = false): Undo {
  const { client, path } = file
  return { client, path, how, olderEntries, content }
}

function undoRecord(record: FileRecord, dir: string, files: readonly SettingsFile[]): Undo {
  const { client, id, path, before, written } = record
  const file = { ...files.find((each) => each.client === client && each.id === id)!, path }
  return about(file, () => {
    const now = existsSync(path) ? readFileSync(path) : undefined
    if (now === undefined || digest(now) === before) return undoBy(file, 'untouched')
    if (!written.includes(digest(now))) return takeOut(file, now, before === null)
    if (before === null) return undoBy(file, 'removed')
    const content = readBackup(dir, before)
    return undoBy(file, 'restored', content, takeOutIfPossible(file, () => content).how !== 'untouched')
  })
}

/** A file without a record may have our entries: copied from another machine, or the manifest was lost. */
const undoUnrecorded = (file: SettingsFile): Undo => takeOutIfPossible(file, () => readFileSync(file.path))

/** For content that we have never touched: that we cannot read it is no problem. */
function takeOutIfPossible(file: SettingsFile, read: () => Buffer): Undo {
  try {
    return takeOut(file, read(), true)
  } catch {
    return undoBy(file, 'untouched')
  }
}

function takeOut(file: SettingsFile, now: Buffer, isMadeByUs: boolean): Undo {
  const content = editBytes(now, file.uninstall)
  if (content.equals(now)) return undoBy(file, 'untouched')
  return isBlank(content) && isMadeByUs ? undoBy(file, 'removed') : undoBy(file, 'edited', content)
}

function carryOut(undo: Undo): void {
  about(undo, () => {
    sweepTemporaries(targetOf(undo.path))
    if (undo.how === 'untouched') return
    const state = inspectFile(undo.path)
    if (undo.content !== undefined) return replaceFile(state, undo.content, 0o600)
    rmSync(state.target, { force: true })
    syncDirectory(dirname(state.target))
  })
}
