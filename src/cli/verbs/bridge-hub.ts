import { remember } from '../../bridges/remembered.ts'
import { type BridgedSpace, BridgeEnded } from '../../space/bridged.ts'
import type { HubPlace } from '../../space/place.ts'
import type { Cli } from '../cli.ts'
import { serviceSignal } from '../interrupt.ts'
import { openForBridge } from '../open-hub.ts'
import { type BridgeFlags, folderFor, list, lookOnce, runHere, stop } from './bridge.ts'

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
  const { format, path } = await folderFor(cli, formatName, given)
  if (once || dryRun) return lookOnce(cli, { space, format, path, direction, dry: dryRun })
  const remembered = remember(space.dir, { format: format.name, path, direction, runs: true })
  const stopped = serviceSignal()
  // A hub that does not answer must not keep it from ending.
  stopped.addEventListener('abort', () => setTimeout(close, lastLookMs).unref())
  await runHere(cli, space, remembered, stopped)
}
