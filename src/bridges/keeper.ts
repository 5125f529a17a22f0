import { backoffMs, pause } from '../base/timers.ts'
import type { BridgedSpace } from '../space/bridged.ts'
import type { DiskSpace } from '../space/space.ts'
import { Bridge } from './bridge.ts'
import { BridgeTaken } from './memory.ts'
import type { Problem } from './problem.ts'
import { formatNamed } from './registry.ts'
import {
  endStatus,
  memoryPath,
  type Remembered,
  type Runner,
  rememberedBridges,
  runnerOf,
  writeStatus,
} from './remembered.ts'

/** How often to look for bridges that were added, stopped, or left by a process that has ended. */
const lookMs = 1_000
/** The same for a process that lets others go first. */
const laterMs = 3_000
/** How often a running bridge says how it is doing, unless something happens. */
const statusMs = 2_000
const problemsKept = 20
/** One that has failed is started again after this long, and then less and less often. */
const againMs = 1_000
const againAtMostMs = 60_000

export interface KeepOptions {
  signal: AbortSignal
  /** The verb that this process runs. */
  program: string
  /** The space, for whom there is a bridge to run. */
  space: () => Promise<DiskSpace | BridgedSpace>
  /** Only this bridge, until it is stopped. @default all that the space remembers */
  only?: string
  /** Whether others, such as the desk, go first. @default nobody */
  isSecond?: () => boolean
  onStart?: (bridge: Remembered) => void
  /** Another process runs it. */
  onTaken?: (bridge: Remembered, runner: Runner) => void
  onProblem?: (bridge: Remembered, problem: Problem) => void
  onError?: (bridge: Remembered, error: unknown) => void
}

/**
 * Runs the bridges that the space remembers, and follows what is added and stopped, until the signal ends it. Every
 * process that stays calls this, and each bridge runs in one of them at a time: whoever has its memory first. When
 * that one ends, another takes the bridge up at its next look.
 */
export async function keepBridges(dir: string, options: KeepOptions): Promise<void> {
  const { signal, only, isSecond = () => false } = options
  const running = new Map<string, AbortController>()
  const work = new Set<Promise<void>>()
  const failed = new Map<string, { tries: number; until: number }>()
  const start = (bridge: Remembered) => {
    const { id } = bridge
    const stop = new AbortController()
    const since = performance.now()
    running.set(id, stop)
    const fail = (error: unknown) => {
      // Whoever was faster runs it.
      if (error instanceof BridgeTaken) return
      const isNew = performance.now() - since > againAtMostMs
      const tries = isNew ? 0 : (failed.get(id)?.tries ?? 0)
      const until = performance.now() + backoffMs(tries, againMs, againAtMostMs)
      failed.set(id, { tries: tries + 1, until })
      tryTo(() => endStatus(dir, id, (error as Error).message))
      options.onError?.(bridge, error)
    }
    const ended = runBridge(dir, bridge, { ...options, signal: AbortSignal.any([stop.signal, signal]) })
      .catch(fail)
      .finally(() => {
        running.delete(id)
        work.delete(ended)
      })
    work.add(ended)
  }
  while (!signal.aborted) {
    const wanted = rememberedBridges(dir).filter(
      ({ id, runs }) => runs && (only === undefined || id === only),
    )
    for (const [id, stop] of running) if (wanted.every((bridge) => bridge.id !== id)) stop.abort()
    if (only !== undefined && wanted.length === 0) break
    for (const bridge of wanted) {
      if (running.has(bridge.id) || performance.now() < (failed.get(bridge.id)?.until ?? 0)) continue
      const runner = runnerOf(dir, bridge.id)
      if (runner === undefined) start(bridge)
      else options.onTaken?.(bridge, runner)
    }
    await pause(isSecond() && running.size === 0 ? laterMs : lookMs, signal)
  }
  await Promise.all(work)
}

/** Runs one bridge until the signal ends it. */
async function runBridge(dir: string, remembered: Remembered, options: KeepOptions): Promise<void> {
  const { id, format, path, direction } = remembered
  const { signal, program, onProblem, onStart } = options
  const space = await options.space()
  const bridge = new Bridge({
    ...{ space, path, direction, format: formatNamed(format), memory: memoryPath(dir, id) },
    onProblem: (problem) => onProblem?.(remembered, problem),
    onChange: () => say(),
  })
  const say = () => {
    const problems = bridge.problems.slice(-problemsKept)
    const { tally, linkCount: linked, lag } = bridge
    tryTo(() => writeStatus(dir, id, { program, at: space.now(), tally, linked, problems, lag: lag.figures }))
  }
  say()
  onStart?.(remembered)
  const telling = setInterval(say, statusMs)
  try {
    await bridge.run(signal)
  } finally {
    clearInterval(telling)
    say()
    // Free before anybody is told so.
    bridge.close()
    tryTo(() => endStatus(dir, id))
  }
}

/** Whether a status can be written is no matter of the bridge, nor of the process around it. */
function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // It is said again soon.
  }
}
