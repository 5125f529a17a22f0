import { existsSync, readFileSync } from 'node:fs'
import { asMailboxError } from '../../base/errors.ts'
import { lastRunOf } from '../hook/last-run.ts'
import { findClients } from '../registry.ts'
import type { ClientSetup, Place } from './client-setup.ts'
import { editBytes } from './edit-bytes.ts'
import { findOurHooks } from './json-hooks.ts'
import { parseSettings } from './json-value.ts'
import { readManifest, setupDir } from './manifest.ts'
import { hookPath } from './our-entries.ts'

/** The state of a client's setup, in one sentence, and what to do about it. */
export interface ClientHealth {
  client: ClientSetup
  state: 'ok' | 'warn' | 'fail'
  found: string
  next?: string
}

export interface HealthOptions {
  place: Place
  /** The directory of the space. */
  space: string
  /** How long ago something was, in words. */
  ago: (at: number) => string
  /** A mailbox command, ready to copy. */
  command: (words: string) => string
}

/** Checks every client on this machine: is it set up, may it run our hooks, and has it run them? */
export async function* clientsHealth(options: HealthOptions): AsyncGenerator<ClientHealth> {
  for (const client of findClients(options.place.env)) {
    yield { client, ...(await checkClient(client, options).catch(asFinding)) }
  }
}

function asFinding(thrown: unknown): Omit<ClientHealth, 'client'> {
  const { message, hint } = asMailboxError(thrown)
  return { state: 'fail', found: message, ...(hint === undefined ? {} : { next: hint }) }
}

async function checkClient(
  client: ClientSetup,
  options: HealthOptions,
): Promise<Omit<ClientHealth, 'client'>> {
  const { place, command } = options
  const again = command(`init --client ${client.name}`)
  const scopes = (['user', 'project'] as const).map((scope) => ({ ...place, scope }))
  const parts = scopes.map((each) => partsIn(client, each))
  const [best = [], ...more] = parts.filter((each) => each.some(({ state }) => state !== 'absent'))
  const broken = parts.flat().find(({ state }) => state === 'broken')
  if (broken !== undefined)
    return { state: 'fail', found: `cannot parse ${broken.path}`, next: 'fix its syntax' }
  if (best.length === 0) {
    if (client.hasPlugin?.(place) === true) return running(client, options, 'set up as a plugin')
    return { state: 'warn', found: 'not set up: its agents get no mail automatically', next: again }
  }
  const gone = best.flatMap(({ programs }) => programs).find((path) => !existsSync(path))
  if (gone !== undefined)
    return { state: 'fail', found: `its hooks run ${gone}, which does not exist`, next: again }
  if (best.some(({ state }) => state !== 'current'))
    return {
      state: 'warn',
      found: 'set up by another copy or version of the mailbox, or incompletely',
      next: again,
    }
  const isTwice = client.hasPlugin?.(place) === true || more.some(([part]) => part?.path !== best[0]?.path)
  if (isTwice) {
    const found = 'set up twice (for you, for this project or as a plugin), so its hooks may run twice'
    return { state: 'warn', found, next: command(`uninit --client ${client.name}`) }
  }
  return running(client, options, 'set up')
}

interface Part {
  path: string
  state: 'absent' | 'current' | 'outdated' | 'broken'
  /** The programs its hooks run. */
  programs: string[]
}

function partsIn(client: ClientSetup, place: Place): Part[] {
  const records = readManifest(setupDir(place.env, place.scope, place.project))?.files ?? []
  const { space = null } = records.find((record) => record.client === client.name) ?? {}
  const files = client.files({ ...place, space: space ?? undefined })
  return files.map(({ path, install, uninstall }): Part => {
    if (!existsSync(path)) return { path, state: 'absent', programs: [] }
    try {
      const bytes = readFileSync(path)
      if (editBytes(bytes, uninstall).equals(bytes)) return { path, state: 'absent', programs: [] }
      const isCurrent = editBytes(bytes, install).equals(bytes)
      return { path, state: isCurrent ? 'current' : 'outdated', programs: programsIn(path, bytes) }
    } catch {
      return { path, state: 'broken', programs: [] }
    }
  })
}

function programsIn(path: string, bytes: Buffer): string[] {
  if (!path.endsWith('.json')) return []
  const paths = findOurHooks(parseSettings(bytes.toString('utf8').replace(/^\ufeff/, '')))
  return paths.map(({ hook }) => hookPath(hook.command)).filter((each) => each !== undefined)
}

/** Whether its hooks may run, and have: that they have is the only proof. */
async function running(
  client: ClientSetup,
  { place, space, ago }: HealthOptions,
  how: string,
): Promise<Omit<ClientHealth, 'client'>> {
  const obstacle = await client.obstacle?.(place)
  if (obstacle !== undefined)
    return { state: 'warn', found: `${how}, but ${obstacle.found}`, next: obstacle.next }
  const at = lastRunOf(space, client.name)
  if (at !== undefined) return { state: 'ok', found: `${how}; a hook last ran ${ago(at)}` }
  return {
    state: 'warn',
    found: `${how}; no hook has run in this space yet`,
    next: `restart ${client.label}, send it a prompt, and check again`,
  }
}
