import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface StartOptions {
  env?: Record<string, string>
  /** A command that runs the process, such as `['strace', '-f', ...]`. */
  under?: readonly string[]
}

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process of the test. Killed at the end of the test if it is still there. */
export interface Running {
  readonly process: ChildProcess
  /** Everything it has printed so far, by line. */
  readonly lines: string[]
  readonly stderr: () => string
  /** Resolves with the first line, past or future, that matches; rejects when the process ends without one. */
  line(match: RegExp | string): Promise<string>
  /** Writes a line to its standard input. */
  tell(line: string): void
  kill(signal: NodeJS.Signals): void
  readonly exit: Promise<Exit>
}

/** Starts a script that stands beside the tests, in a Node of its own. */
export function startScript(script: URL, args: readonly string[], options: StartOptions = {}): Running {
  const running = startProcess(script, args, options)
  onTestFinished(async () => {
    // A stopped process dies of SIGKILL all the same.
    running.kill('SIGKILL')
    await running.exit
  })
  return running
}

/** The same for a process whose end the test sees to itself. */
export function startProcess(script: URL, args: readonly string[], options: StartOptions = {}): Running {
  const { env = {}, under = [] } = options
  const [command, ...rest] = [...under, process.execPath, fileURLToPath(script), ...args]
  const child = spawn(command!, rest, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let stderr = ''
  let ended = false
  const wake = () => {
    for (const look of [...waiting]) look()
  }
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  child.stdin.on('error', () => {}) // It may die before it reads.
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    wake()
  })
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      ended = true
      wake()
      resolve({ code, signal })
    })
  })
  return {
    process: child,
    lines,
    stderr: () => stderr,
    line: (match) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => (typeof match === 'string' ? line === match : match.test(line)))
          if (found === undefined && !ended) return
          waiting.delete(look)
          if (found !== undefined) resolve(found)
          else
            reject(
              new Error(
                `the process ended without printing ${match}: ${lines.slice(-3).join(' | ')} ${stderr}`,
              ),
            )
        }
        waiting.add(look)
        look()
      }),
    tell: (line) => void child.stdin.write(`${line}\n`),
    kill: (signal) => void child.kill(signal),
    exit,
  }
}

export interface RunOptions extends StartOptions {
  timeoutMs?: number
}

export interface Finished {
  status: number | null
  stdout: string
  stderr: string
}

/** Runs a script to its end. It is killed when it takes longer than that: `status` is null then. */
export function runScript(script: URL, args: readonly string[], options: RunOptions = {}): Finished {
  const { env = {}, under = [], timeoutMs = 30_000 } = options
  const [command, ...rest] = [...under, process.execPath, fileURLToPath(script), ...args]
  const { status, stdout, stderr, error } = spawnSync(command!, rest, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  if (error !== undefined && (error as NodeJS.ErrnoException).code !== 'ETIMEDOUT') throw error
  return { status, stdout, stderr }
}

/** Resolves when the kernel reports the process as stopped. */
export async function untilStopped(pid: number): Promise<void> {
  while (!/^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await new Promise(setImmediate)
}
