import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { identifyProcess, type ProcessIdentity, processState } from '../base/process.ts'
import { backoffMs, pause } from '../base/timers.ts'
import type { Heartbeat } from '../delivery/watcher.ts'
import type { DiskSpace } from '../space/space.ts'
import { Store } from './store.ts'

export interface SuperviseOptions {
  /** The words that start a worker on this space. */
  command: readonly string[]
  signal: AbortSignal
  /** A line that a worker has printed, as it is. */
  onLine: (line: string) => void
  /** A worker has ended, and the next one comes after a pause. */
  onDeath: (why: string, pauseMs: number) => void
}

const firstPauseMs = 100
const longestPauseMs = 10_000
/** A worker that has lived so long did not die of what killed the one before. */
const settledMs = 30_000
/** So many seconds without a word: stopped, or going round in circles. */
const patienceTicks = 10
/** An index that has to be built first may take its time. */
const startTicks = 120
const unseenMs = 60_000
const endWithinMs = 5_000

/**
 * Takes the right to watch a space. One process has it, for as long as it lives: told exactly by its pid and
 * start, so that nobody takes it from one that is merely slow. Looking and taking is one step, done while
 * nobody else does anything in this space.
 */
export function takeWatch(space: DiskSpace): Store {
  const store = new Store(space.dir)
  space.core.exclusively(() => {
    const holder = readJsonIfAny<ProcessIdentity>(store.paths.supervisor)
    if (holder !== undefined && isWatching(space, store, holder)) {
      throw new MailboxError('conflict', `a watcher runs already: process ${holder.pid} on ${holder.host}`, {
        hint: 'add a pane to it: mailbox tmux attach AGENT --pane %N; or end it first',
      })
    }
    writeFileAtomically(store.paths.supervisor, JSON.stringify(identifyProcess(process.pid)))
  })
  return store
}

/** One that cannot be seen from here, on another machine or in a container, is known by its heartbeat. */
function isWatching(space: DiskSpace, { paths }: Store, holder: ProcessIdentity): boolean {
  const state = processState(holder)
  if (state !== 'unknown') return state === 'running'
  const at = readJsonIfAny<Heartbeat>(paths.heartbeat)?.at ?? 0
  return Math.abs(space.now() - at) < unseenMs
}

/** Keeps a worker going until the signal comes. */
export async function supervise(store: Store, options: SuperviseOptions): Promise<void> {
  const { signal, onDeath } = options
  await previousEnds(store)
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

/** The worker of a killed supervisor ends by itself when it notices; tmux would refuse it anyway. */
async function previousEnds(store: Store): Promise<void> {
  const worker = readJsonIfAny<Heartbeat>(store.paths.heartbeat)?.worker
  for (let waited = 0; worker !== undefined && processState(worker) === 'running' && waited < 50; waited++)
    await sleep(100)
}

/** Resolves when the worker has ended, with the reason. */
function runWorker({ command, signal, onLine }: SuperviseOptions): Promise<string> {
  const [program = '', ...words] = command
  // Its standard input is our life line: it ends with us, however we end.
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  let silentTicks = -startTicks
  // Counted in our own ticks, not in time: a machine that slept has counted none.
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
  return new Promise((resolve) => {
    const end = (why: string) => {
      clearInterval(ticking)
      clearTimeout(ending)
      signal.removeEventListener('abort', stop)
      resolve(why)
    }
    child.once('error', (error) => end(error.message))
    child.once('close', (code, killed) => end(killed === null ? `exit code ${code}` : killed))
  })
}
