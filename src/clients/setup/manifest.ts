import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { parseStrictJson } from '../../base/json.ts'
import type { Client } from '../../model/client.ts'
import type { Place, Scope } from './client-setup.ts'
import { inspectFile, replaceFile, sweepTemporaries } from './file.ts'

/**
 * What `init` has done, for `uninit`. It is written before the first file is touched, with the bytes of all
 * files as they were; so however `init` ends, each file is one of those that the manifest knows.
 */
export interface Manifest {
  format: 1
  scope: Scope
  /** The project, for that scope. */
  project: string | null
  files: FileRecord[]
}

export interface FileRecord {
  client: Client
  id: string
  path: string
  /** The space that was named for it. */
  space: string | null
  /** SHA-256 of the bytes before, which are kept in `backups/`; null: there was no file. */
  before: string | null
  /** SHA-256 of everything that we have made of it. */
  written: string[]
  /** Directories that had to be made for it, outermost first. */
  madeDirs: string[]
}

export const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * In the person's home for projects as well: a project is often under version control, and what is kept of
 * its files may hold secrets that their owner keeps out of it.
 */
export function setupDir(env: NodeJS.ProcessEnv, scope: Scope, project: string): string {
  const name = scope === 'user' ? 'user' : `${basename(project)}-${digest(Buffer.from(project)).slice(0, 12)}`
  return join(env['HOME'] ?? homedir(), '.mailbox', 'setup', name)
}

export function readManifest(dir: string): Manifest | undefined {
  const path = join(dir, 'manifest.json')
  if (!existsSync(path)) return undefined
  try {
    const manifest = parseStrictJson(readFileSync(path, 'utf8')) as Manifest
    if (manifest.format === 1 && Array.isArray(manifest.files)) return manifest
  } catch {}
  throw new MailboxError('damaged', `${path} cannot be read`, {
    hint: `move it away; then \`mailbox uninit\` takes our entries out of the files it finds`,
  })
}

export const emptyManifest = ({ scope, project }: Place): Manifest => ({
  format: 1,
  scope,
  project: scope === 'project' ? project : null,
  files: [],
})

export function writeManifest(dir: string, manifest: Manifest): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  replaceFile(inspectFile(join(dir, 'manifest.json')), content, 0o600)
}

const backupPath = (dir: string, sha: string) => join(dir, 'backups', sha)

/** Keeps the bytes; the same bytes are kept once. */
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
    hint: 'move the manifest beside it away; then `mailbox uninit` takes our entries out of the files it finds',
  })
}

/** Forgets the backups that no record speaks of; with no record left, the manifest and its directories. */
export function tidyManifest(dir: string, manifest: Manifest): void {
  const wanted = new Set(manifest.files.map(({ before }) => before))
  const backups = join(dir, 'backups')
  for (const name of existsSync(backups) ? readdirSync(backups) : [])
    if (!wanted.has(name)) rmSync(join(backups, name), { force: true })
  sweepTemporaries(join(dir, 'manifest.json'))
  if (manifest.files.length > 0) return
  rmSync(join(dir, 'manifest.json'), { force: true })
  for (const each of [backups, dir, dirname(dir), dirname(dirname(dir))]) removeEmpty(each)
}

/** True when the directory is gone. */
export function removeEmpty(dir: string): boolean {
  try {
    rmdirSync(dir)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
