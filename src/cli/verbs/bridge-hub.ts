import { fits, pathFor } from '../../bridges/discover.ts'
import { dryMemory } from '../../bridges/dry.ts'
import { formatNamed } from '../../bridges/registry.ts'
import { bridgeId, memoryPath, remember, rememberedBridges, resolveFolder } from '../../bridges/remembered.ts'
import { type BridgedSpace, BridgeEnded } from '../../space/bridged.ts'
import type { HubPlace } from '../../space/place.ts'
import type { Cli } from '../cli.ts'
import { serviceSignal } from '../interrupt.ts'
import { openForBridge } from '../open-hub.ts'
import { type BridgeFlags, list, runHere, runOnce, stop } from './bridge.ts'

/** How long a look may take to come to its end when the bridge is stopped. */
const lastLookMs = 1_000

/** The bridges between folders of this machine and a space behind a hub. What they know is kept on this machine. */
export async function bridgeAtHub(
  cli: Cli,
  place: HubPlace,
  first: string | undefined,
  second: string | undefined,
  flags: BridgeFlags,
): Promise<void> {
  const isOnce = first === undefined || first === 'stop' || flags.once === true || flags.dryRun === true
  const { space, close } = await openForBridge(cli, place, { untilItIsBack: !isOnce })
  try {
    if (first === undefined) await list(cli, space.dir)
    else if (first === 'stop') await stop(cli, space.dir, second)
    else await start(cli, space, { formatName: first, given: second, flags, close })
  } catch (error) {
    throw error instanceof BridgeEnded ? error.cause : error
  } finally {
    close()
  }
}

interface Start {
  formatName: string
  given: string | undefined
  flags: BridgeFlags
  close: () => void
}

async function start(cli: Cli, space: BridgedSpace, { formatName, given, flags, close }: Start) {
  const { once = false, direction, dryRun = false } = flags
  const format = formatNamed(formatName)
  const path = resolveFolder(given ?? pathFor(format, process.env, process.cwd()))
  if (!fits(format, path))
    cli.hint(`nothing of ${format.name} is in ${path} yet; docs/bridges.md says which folder it is`)
  if (once || dryRun) {
    const id = bridgeId(format.name, path)
    if (!dryRun && rememberedBridges(space.dir).every((one) => one.id !== id))
      remember(space.dir, { format: format.name, path, direction, runs: false })
    const file = memoryPath(space.dir, id)
    const memory = dryRun ? dryMemory(file) : { path: file, remove: () => {} }
    const options = { space, format, path, direction, dry: dryRun, memory: memory.path }
    return runOnce(cli, options).finally(memory.remove)
  }
  const remembered = remember(space.dir, { format: format.name, path, direction, runs: true })
  const stopped = serviceSignal()
  // A hub that does not answer must not keep it from ending.
  stopped.addEventListener('abort', () => setTimeout(close, lastLookMs).unref())
  await runHere(cli, space, remembered, stopped)
}
