import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { clientSetups } from '../../../src/clients/registry.ts'
import type { Place } from '../../../src/clients/setup/client-setup.ts'
import { install } from '../../../src/clients/setup/install.ts'
import { type PlannedFile, planInstall } from '../../../src/clients/setup/plan.ts'
import { type UndoneFile, uninstall } from '../../../src/clients/setup/uninstall.ts'

const fixtures = new URL('fixtures/', import.meta.url).pathname

/** Where a client looks for what the fixtures of a kind hold. */
export const paths = {
  'claude-settings': '.claude/settings.json',
  'claude-servers': '.claude.json',
  'codex-config': '.codex/config.toml',
  'codex-hooks': '.codex/hooks.json',
  'gemini-settings': '.gemini/settings.json',
  'opencode-config': '.config/opencode/opencode.json',
}
export type Kind = keyof typeof paths
export const kinds = Object.keys(paths) as Kind[]

export interface Fixture {
  name: string
  kind: Kind
  bytes: Buffer
}

export const fixturesOf = (kind: Kind): Fixture[] =>
  readdirSync(join(fixtures, kind)).map((file) => ({
    name: file.replace('.txt', ''),
    kind,
    bytes: readFileSync(join(fixtures, kind, file)),
  }))

export const brokenFixtures = (): Fixture[] =>
  readdirSync(join(fixtures, 'broken')).map((file) => ({
    name: file.replace('.txt', ''),
    kind: kinds.find((kind) => file.startsWith(`${kind}-`))!,
    bytes: readFileSync(join(fixtures, 'broken', file)),
  }))

/** In memory where that can be had: these tests write a lot of small files, and each is synced. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A home with some files in it, as a test begins. */
export function homeWith(files: Partial<Record<Kind, Buffer | string>> = {}): string {
  const home = mkdtempSync(join(scratch, 'mailbox-setup-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  for (const [kind, content] of Object.entries(files)) put(home, paths[kind as Kind], content)
  return home
}

export function put(home: string, path: string, content: Buffer | string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), content)
}

export const placeIn = (home: string, more: Partial<Place> = {}): Place => ({
  scope: 'user',
  project: join(home, 'project'),
  env: { HOME: home },
  dist: '/opt/agent-mailbox/dist',
  ...more,
})

export function initHome(place: Place, clients = clientSetups): PlannedFile[] {
  const plan = planInstall(clients, place)
  install(plan, place)
  return plan
}

export const uninitHome = (place: Place, clients = clientSetups): UndoneFile[] =>
  uninstall(place, { clients: clients.map(({ name }) => name) })

/** Everything below a directory, to the byte: names, kinds, modes, links and contents. */
export function snapshot(dir: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(dir, name)
    const stats = lstatSync(path)
    const what = stats.isSymbolicLink()
      ? `link to ${readlinkSync(path)}`
      : stats.isDirectory()
        ? 'directory'
        : readFileSync(path).toString('base64')
    found[name] = `${(stats.mode & 0o7777).toString(8)} ${what}`
  }
  return found
}
