import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { identifyProcess, type ProcessIdentity, processState } from '../base/process.ts'
import { backoffMs, pause } from '../base/timers.ts'
import { Store } from './store.ts'
import type { WatchedSpace } from './watched.ts'

export interface SuperviseOptions {
  /** The command that starts a worker for this space. */
  command: readonly string[]
  signal: AbortSignal
  /** A line that a worker has printed. */
  onLine: (line: string) => void
  /** A worker has ended, and the next one starts after a pause. */
  onDeath: (why: string, pauseMs: number) => void
}

const firstPauseMs = 100
const longestPauseMs = 10_000
/** A worker that lived this long did not die of what killed the one before. */
const settledMs = 30_000
/** This many seconds without output: the worker is stopped or hangs. */
const patienceTicks = 10
/** It may have to build the index first. */
const startTicks = 120
const unseenMs = 60_000
const endWithinMs = 5_000

/**
 * Takes the right to watch a space. One process has it as long as it lives. Its pid and start time identify it
 * exactly, so nobody takes the right from a process that is merely slow. Check and take are one step, done while
 * nobody else writes to the space.
 */
export function takeWatch(space: WatchedSpace): Store {
  const store = new Store(space.stateDir)
  space.exclusively(() => {
    const holder = readJsonIfAny<ProcessIdentity>(store.paths.supervisor)
    if (holder !== undefined && isWatching(space, store, holder)) {
      const found = `a watcher is already running: process ${holder.pid} on ${holder.host}`
      const hint = 'add a pane to it: mailbox tmux attach AGENT --pane %N; or stop it first'
      throw new MailboxError('conflict', found, { hint })
    }
    writeFileAtomically(store.paths.supervisor, JSON.stringify(identifyProcess(process.pid)))
  })
  return store
}

/** A process on another machine or in a container cannot be seen from here; its heartbeat tells. */
function isWatching(space: WatchedSpace, store: Store, holder: ProcessIdentity): boolean {
  const state = processState(holder)
  if (state !== 'unknown') return state === 'running'
  return Math.abs(space.now() - (store.heartbeat()?.at ?? 0)) < unseenMs
}

/** Keeps a worker running until the signal aborts. */
export async function supervise(store: Store, options: SuperviseOptions): Promise<void> {
  const { signal, onDeath } = options
  await previousWorkerEnded(store)
  let retry = 0
  while (!signal.aborted) {
    const startedMs = performance.now()
    const why = await runWorker(options)
    if (signal.aborted) break
    if (performance.now() - startedMs > settledMs) retry = 0
    const pauseMs = backoffMs(retry++, firstPauseMs, longestPauseMs)
    onDeath(why, pauseMs)
    await pause(pauseMs, signal)
  }
}

/** The worker of a killed supervisor ends when it notices that. tmux would refuse it anyway. */
async function previousWorkerEnded(store: Store): Promise<void> {
  const worker = store.heartbeat()?.worker
  for (let waited = 0; worker !== undefined && processState(worker) === 'running' && waited < 50; waited++)
    await sleep(100)
}

/** Resolves when the worker has ended, with the reason. */
async function runWorker({ command, signal, onLine }: SuperviseOptions): Promise<string> {
  const [program = '', ...words] = command
  // It ends when its standard input closes, which happens however we end.
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  let silentTicks = -startTicks
  // Counted in ticks, not in time: a suspended machine does not tick.
  const ticking = setInterval(() => ++silentTicks > patienceTicks && child.kill('SIGKILL'), 1_000)
  createInterface({ input: child.stdout }).on('line', (line) => {
    silentTicks = 0
    onLine(line)
  })
  let ending: NodeJS.Timeout | undefined
  const stop = () => {
    child.kill('SIGTERM')
    ending = setTimeout(() => child.kill('SIGKILL'), endWithinMs)
  }
  signal.addEventListener('abort', stop)
  try {
    const [code, killed] = (await once(child, 'close')) as [number | null, string | null]
    return killed ?? `exit code ${code}`
  } catch (error) {
    return (error as Error).message
  } finally {
    clearInterval(ticking)
    clearTimeout(ending)
    signal.removeEventListener('abort', stop)
  }
}
