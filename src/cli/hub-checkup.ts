import { join } from 'node:path'
import { unreadableHint } from '../model/unreadable.ts'
import type { OpenedSpace } from '../space/api.ts'
import { type HubPlace, stateDirFor } from '../space/place.ts'
import { checkClients, checkHelper, checkNode, type Finding, failed } from './checkup.ts'
import { bridgeFindings } from './checkup-bridges.ts'
import type { Cli } from './cli.ts'
import { span } from './format/time.ts'
import { unreadableRecord } from './format/unreadable.ts'
import { open } from './open.ts'
import { count } from './progress.ts'

declare const __VERSION__: string

/** A clock that is further from the hub's makes the times of this machine hard to compare. Nothing else depends on it. */
const clockApartMs = 60_000

/** Checks what mail behind a hub depends on from here. What is wrong with its files is found on its own machine. */
export async function* hubCheckup(cli: Cli, place: HubPlace): AsyncGenerator<Finding> {
  yield checkNode()
  try {
    await using space = await open(cli)
    yield* checkHub(space)
  } catch (error) {
    yield failed('hub', error)
  }
  yield* checkClients(cli, stateDirFor(place.url, process.env))
}

async function* checkHub(space: OpenedSpace & { version?: string }): AsyncGenerator<Finding> {
  const { place, you = '', version = '' } = space
  yield { check: 'hub', state: 'ok', found: `${place}, ${count(await space.lastSeq())} entries, as ${you}` }
  if (version !== __VERSION__)
    yield {
      ...{ check: 'version', state: 'warn' },
      found: `the hub runs version ${version}, this is ${__VERSION__}`,
      next: 'what only the newer one knows is refused; install the same version on both machines',
    }
  const apartMs = space.now() - Date.now()
  if (Math.abs(apartMs) > clockApartMs)
    yield {
      ...{ check: 'clock', state: 'warn' },
      found: `this clock is ${span(Math.abs(apartMs))} ${apartMs > 0 ? 'behind' : 'ahead of'} that of the hub`,
      next: 'set the clock of this machine; mail goes by the clock of the hub',
    }
  for (const helper of space.helpers()) yield { check: helper.id, ...checkHelper(helper) }
  yield* await bridgeFindings(join(space.stateDir, space.id))
  for (const record of await space.unreadable())
    yield { check: 'damage', state: 'fail', found: unreadableRecord(record), next: unreadableHint }
}
