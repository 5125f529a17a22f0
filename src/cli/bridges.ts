import { existsSync } from 'node:fs'
import { pause } from '../base/timers.ts'
import { bridgesDir } from '../bridges/remembered.ts'
import { openDisk } from '../space/open.ts'
import type { DiskSpace } from '../space/space.ts'

/** How often to look whether the space has bridges. */
const lookMs = 3_000

/**
 * Runs the bridges of a space in a process that stays for something else, whenever no other process does. What fails in
 * them is shown where the bridges are listed: it is no matter of this process.
 */
export async function runBridges(
  program: string,
  { dir, core }: DiskSpace,
  signal: AbortSignal,
): Promise<void> {
  while (!existsSync(bridgesDir(dir)) && !signal.aborted) await pause(lookMs, signal, false)
  if (signal.aborted) return
  const { keepBridges } = await import('../bridges/keeper.ts')
  const own = ownSpace(dir)
  try {
    await keepBridges(dir, {
      ...{ signal, program, space: own.open },
      isSecond: () => core.desk?.isDesk !== true,
    })
  } finally {
    await own.close()
  }
}

/**
 * The space once more. The person has set up the bridges, so they bring whatever is in the folders, whoever the process
 * may act as otherwise, and nothing that they do wrong reaches its work.
 */
function ownSpace(dir: string) {
  let opening: Promise<DiskSpace> | undefined
  const openOnce = async () => {
    const space = await openDisk({ dir })
    space.core.actsForAll = true
    return space
  }
  return {
    open() {
      opening ??= openOnce().catch((error: unknown) => {
        opening = undefined
        throw error
      })
      return opening
    },
    close: async () => (await opening)?.close(),
  }
}
