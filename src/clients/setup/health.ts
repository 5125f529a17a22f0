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

/** How a client is set up, in one sentence, and what to do about it. */
export interface ClientHealth {
  client: ClientSetup
  state: 'ok' | 'warn' | 'fail'
  found: string
  next?: string
}

export interface HealthOptions {
  place: Place
  /** The space that is looked at. */
  space: string
  /** How long ago something was, in words. */
  ago: (at: number) => string
  /** A command line of ours, ready to copy. */
  command: (words: string) => string
}

/** Looks at every client on this machine: set up, allowed to run our hooks, and running them. */
export async function* clientsHealth(options: HealthOptions): AsyncGenerator<ClientHealth> {
  for (const client of findClients(options.place.env)) {
    yield { client, ...(await lookAt(client, options).catch(asFinding)) }
  }
}

function asFinding(thrown: unknown): Omit<ClientHealth, 'client'> {
  const { message, hint } = asMailboxError(thrown)
  return { state: 'fail', found: message, ...(hint === undefined ? {} : { next: hint }) }
}

async function lookAt(client: ClientSetup, options: HealthOptions): Promise<Omit<ClientHealth, 'client'>> {
  const { place, command } = options
  const again = command(`init --client ${client.name}`)
  const scopes = (['user', 'project'] as const).map((scope) => ({ ...place, scope }))
  const parts = scopes.map((each) => partsIn(client, each))
  const [best = [], ...more] = parts.filter((each) => each.some(({ state }) => state !== 'absent'))
  const broken = parts.flat().find(({ state }) => state === 'broken')
  if (broken !== undefined)
    return { state: 'fail', found: `${broken.path} cannot be read as settings`, next: 'mend it' }
  if (best.length === 0) {
    if (client.hasPlugin?.(place) === true) return running(client, options, 'set up as a plugin')
    return { state: 'warn', found: 'not set up: mail does not reach it by itself', next: again }
  }
  const gone = best.flatMap(({ programs }) => programs).find((path) => !existsSync(path))
  if (gone !== undefined)
    return { state: 'fail', found: `its hooks run ${gone}, which is not there`, next: again }
  if (best.some(({ state }) => state !== 'current'))
    return {
      state: 'warn',
      found: 'set up by another copy or version of the mailbox, or not completely',
      next: again,
    }
  const isTwice = client.hasPlugin?.(place) === true || more.some(([part]) => part?.path !== best[0]?.path)
  if (isTwice) {
    const found = 'set up twice (for you, for this project, or as a plugin): its hooks may run twice'
    return { state: 'warn', found, next: command(`uninit --client ${client.name}`) }
  }
  return running(client, options, 'set up')
}

interface Part {
  path: string
  state: 'absent' | 'current' | 'outdated' | 'broken'
  /** What its hooks run. */
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

/** Whether hooks may run, and have: that is the only proof. */
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
    next: `start ${client.label} anew and say something; then look again`,
  }
}
