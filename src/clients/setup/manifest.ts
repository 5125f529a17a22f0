import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny } from '../../base/files.ts'
import { parseStrictJson } from '../../base/json.ts'
import type { Client } from '../../model/client.ts'
import { type Place, type Scope, userHome } from './client-setup.ts'
import { inspectFile, replaceFile, sweepTemporaries } from './file.ts'

/**
 * Records for `uninit` what `init` has done. It is written before the first file is changed, with backups of all
 * files; so however `init` ends, the manifest knows the content of every file.
 */
export interface Manifest {
  format: 1
  scope: Scope
  /** The directory of the project, for that scope. */
  project: string | null
  files: FileRecord[]
}

export interface FileRecord {
  client: Client
  id: string
  path: string
  /** The space it was set up with, if one was given. */
  space: string | null
  /** SHA-256 of the original bytes, which are kept in `backups/`; null: there was no file. */
  before: string | null
  /** SHA-256 of every version that we have written. */
  written: string[]
  /** Directories that were created for it, outermost first. */
  madeDirs: string[]
}

export const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * In the home directory for projects too: a project is often under version control, and backups of its files may
 * contain secrets that must not get there.
 */
export function setupDir({ env, scope, project }: Place): string {
  const name = scope === 'user' ? 'user' : `${basename(project)}-${digest(Buffer.from(project)).slice(0, 12)}`
  return join(userHome(env), '.mailbox', 'setup', name)
}

/** The manifest for a place; one without files where nothing is set up. */
export function readManifest(place: Place): Manifest {
  const { scope, project } = place
  const path = join(setupDir(place), 'manifest.json')
  if (!existsSync(path)) return { format: 1, scope, project: scope === 'project' ? project : null, files: [] }
  try {
    const manifest = parseStrictJson(readFileSync(path, 'utf8')) as Manifest
    if (manifest.format === 1 && Array.isArray(manifest.files)) return manifest
  } catch {}
  throw new MailboxError('damaged', `${path} cannot be read`, {
    hint: 'move it away; `mailbox uninit` then removes our entries from the files it finds',
  })
}

export function writeManifest(dir: string, manifest: Manifest): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  replaceFile(inspectFile(join(dir, 'manifest.json')), content, 0o600)
}

const backupPath = (dir: string, sha: string) => join(dir, 'backups', sha)

/** Backs the bytes up; equal bytes are kept once. */
export function keepBackup(dir: string, bytes: Buffer): string {
  const sha = digest(bytes)
  const path = backupPath(dir, sha)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const state = inspectFile(path)
  if (state.bytes === undefined || digest(state.bytes) !== sha) replaceFile(state, bytes, 0o600)
  return sha
}

export function readBackup(dir: string, sha: string): Buffer {
  const path = backupPath(dir, sha)
  const bytes = existsSync(path) ? readFileSync(path) : undefined
  if (bytes !== undefined && digest(bytes) === sha) return bytes
  throw new MailboxError('damaged', `${path} is missing or damaged`, {
    hint: 'move the manifest beside it away; `mailbox uninit` then removes our entries from the files it finds',
  })
}

/** Removes backups that no record needs; without any record, the manifest and its directories too. */
export function tidyManifest(dir: string, manifest: Manifest): void {
  const wanted = new Set(manifest.files.map(({ before }) => before))
  const backups = join(dir, 'backups')
  for (const name of listIfAny(backups)) if (!wanted.has(name)) rmSync(join(backups, name), { force: true })
  sweepTemporaries(join(dir, 'manifest.json'))
  if (manifest.files.length > 0) return
  rmSync(join(dir, 'manifest.json'), { force: true })
  removeEmpty([backups, dir, dirname(dir), dirname(dirname(dir))])
}

/** Removes the directories that were created for files, unless something else is in them now. */
export const removeMadeDirs = (files: readonly FileRecord[]): void =>
  removeEmpty(files.flatMap(({ madeDirs }) => madeDirs.toReversed()))

function removeEmpty(dirs: readonly string[]): void {
  for (const dir of dirs) {
    try {
      rmdirSync(dir)
    } catch {
      // It is not empty, or gone already.
    }
  }
}
