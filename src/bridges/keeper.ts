import { pause } from '../base/timers.ts'
import type { BridgedSpace } from '../space/bridged.ts'
import type { DiskSpace } from '../space/space.ts'
import { Bridge } from './bridge.ts'
import type { Problem } from './problem.ts'
import { formatNamed } from './registry.ts'
import {
  beKeeper,
  endStatus,
  memoryPath,
  type Remembered,
  rememberedBridges,
  runnerOf,
  writeStatus,
} from './remembered.ts'

/** How often to look for bridges that were added or stopped. */
const lookMs = 1_000
/** How often a running bridge says how it is doing, unless something happens. */
const statusMs = 2_000
const problemsKept = 20

export interface KeepOptions {
  signal: AbortSignal
  onProblem?: (bridge: Remembered, problem: Problem) => void
  onError?: (bridge: Remembered, error: unknown) => void
}

/**
 * Runs the bridges that the space remembers, and follows what is added and stopped, until the signal ends it. This is
 * what every process that stays calls: the hub does. Each bridge runs in one process at a time, whoever is first.
 */
export async function keepBridges(space: DiskSpace, options: KeepOptions): Promise<void> {
  const running = new Map<string, AbortController>()
  const ended = new Map<string, Promise<void>>()
  const start = (bridge: Remembered) => {
    const stop = new AbortController()
    running.set(bridge.id, stop)
    const signal = AbortSignal.any([stop.signal, options.signal])
    const work = runBridge(space, bridge, { ...options, signal })
      .catch((error: unknown) => options.onError?.(bridge, error))
      .finally(() => running.delete(bridge.id))
    ended.set(bridge.id, work)
  }
  beKeeper(space.dir)
  while (!options.signal.aborted) {
    const wanted = rememberedBridges(space.dir).filter(({ runs }) => runs)
    for (const [id, stop] of running) if (wanted.every((bridge) => bridge.id !== id)) stop.abort()
    for (const bridge of wanted)
      if (!running.has(bridge.id) && runnerOf(space.dir, bridge.id) === undefined) start(bridge)
    await pause(lookMs, options.signal)
  }
  await Promise.all(ended.values())
}

/** Runs one bridge until the signal ends it. */
export async function runBridge(
  space: DiskSpace | BridgedSpace,
  remembered: Remembered,
  { signal, onProblem }: KeepOptions,
): Promise<void> {
  const { id, format, path, direction } = remembered
  const bridge = new Bridge({
    ...{ space, path, direction, format: formatNamed(format), memory: memoryPath(space.dir, id) },
    onProblem: (problem) => onProblem?.(remembered, problem),
    onChange: () => say(),
  })
  const say = () => {
    const problems = bridge.problems.slice(-problemsKept)
    const { tally, linkCount: linked, lag } = bridge
    writeStatus(space.dir, id, { at: space.now(), tally, linked, problems, lag: lag.figures })
  }
  say()
  const telling = setInterval(say, statusMs)
  let why: string | undefined
  try {
    await bridge.run(signal)
  } catch (error) {
    why = (error as Error).message
    throw error
  } finally {
    clearInterval(telling)
    say()
    endStatus(space.dir, id, why)
    bridge.close()
  }
}
