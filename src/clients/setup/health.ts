import { existsSync, readFileSync } from 'node:fs'
import { asMailboxError } from '../../base/errors.ts'
import { lastRunOf } from '../hook/last-run.ts'
import { findClients } from '../registry.ts'
import type { ClientSetup, Place, SettingsFile } from './client-setup.ts'
import { editBytes } from './file.ts'
import { findProgram } from './find-program.ts'
import { findOurHooks } from './json-hooks.ts'
import { readSettingsFile } from './json-value.ts'
import { readManifest } from './manifest.ts'
import { hookPath } from './our-entries.ts'

/** The state of a client's setup, in one sentence, and what to do about it. */
interface Finding {
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
export async function* clientsHealth(
  options: HealthOptions,
): AsyncGenerator<Finding & { client: ClientSetup }> {
  for (const client of findClients(options.place.env))
    yield { client, ...(await checkClient(client, options).catch(asFinding)) }
}

function asFinding(thrown: unknown): Finding {
  const { message, hint } = asMailboxError(thrown)
  return { state: 'fail', found: message, ...(hint === undefined ? {} : { next: hint }) }
}

async function checkClient(client: ClientSetup, options: HealthOptions): Promise<Finding> {
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
  if (best.some(({ state }) => state !== 'current')) {
    const found = 'set up by another copy or version of the mailbox, or incompletely'
    return { state: 'warn', found, next: again }
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
  const record = readManifest(place).files.find(({ client: name }) => name === client.name)
  const files = client.files({ ...place, space: record?.space ?? undefined })
  return files.map((file) => ({ path: file.path, state: stateOf(file), programs: programsIn(file.path) }))
}

function stateOf({ path, install, uninstall }: SettingsFile): Part['state'] {
  if (!existsSync(path)) return 'absent'
  try {
    const bytes = readFileSync(path)
    if (editBytes(bytes, uninstall).equals(bytes)) return 'absent'
    return editBytes(bytes, install).equals(bytes) ? 'current' : 'outdated'
  } catch {
    return 'broken'
  }
}

const programsIn = (path: string): string[] =>
  findOurHooks(readSettingsFile(path) ?? {}).flatMap(({ hook }) => hookPath(hook.command) ?? [])

const recentMs = 86_400_000

/** Whether its hooks may run, and have: that they have is the only proof. */
async function running(client: ClientSetup, options: HealthOptions, how: string): Promise<Finding> {
  const { place, space, ago, command } = options
  const obstacle = await client.obstacle?.(place)
  if (obstacle !== undefined)
    return { state: 'warn', found: `${how}, but ${obstacle.found}`, next: obstacle.next }
  const at = lastRunOf(space, client.name)
  const found = `${how}; ${at === undefined ? 'no hook has run in this space yet' : `a hook last ran ${ago(at)}`}`
  // Where it is started by other means than a shell, its hooks prove that it is there.
  const isRecent = at !== undefined && Date.now() - at < recentMs
  if (!isRecent && findProgram(client.binary, place.env) === undefined) {
    const next = `install it or put it on the PATH, or undo the setup: ${command(`uninit --client ${client.name}`)}`
    return { state: 'warn', found: `${found}, and there is no ${client.binary} on the PATH`, next }
  }
  if (at !== undefined) return { state: 'ok', found }
  return { state: 'warn', found, next: `restart ${client.label}, send it a prompt, and check again` }
}
