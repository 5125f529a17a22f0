import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { MailboxError } from './errors.ts'
import { readFileIfAny } from './files.ts'

/** What tells a process from every other one that has, had or will have its pid, on any machine. */
export interface ProcessIdentity {
  pid: number
  host: string
  /** `BOOT.NAMESPACE/START`: the run of the machine, the container, and when the process was started. */
  pidStart: string
}

/** Used as the start time if the system does not tell it. */
const unknownStart = '0'

/** The identity of a running process. */
export function identifyProcess(pid: number): ProcessIdentity {
  const start = findStartTime(pid)
  if (start === undefined) {
    throw new MailboxError('not_found', `there is no process ${pid}`, {
      hint: "pass the pid of the agent's own process; $$ is the shell itself",
    })
  }
  return localProcess(pid, start)
}

/** A process of this machine, by its pid and start time. */
export const localProcess = (pid: number, startTime: string): ProcessIdentity => ({
  pid,
  host: hostname(),
  pidStart: `${bootAndNamespace()}/${startTime}`,
})

/** A process as `hook.sh` sees it: by /proc alone, with the start time `0` where that does not tell. */
export const identifyByProc = (pid: number): ProcessIdentity =>
  localProcess(pid, readProcStat(pid)?.startTime ?? unknownStart)

export const startTimeOf = ({ pidStart }: Pick<ProcessIdentity, 'pidStart'>): string =>
  pidStart.slice(pidStart.lastIndexOf('/') + 1)

export type ProcessState = 'running' | 'gone' | 'unknown'

/**
 * Whether a process is still running. Exact where that can be told: a reused pid has another start time. We
 * cannot see the processes of another machine or container; those of an earlier boot of this one are gone.
 */
export function processState(
  identity: { [K in keyof ProcessIdentity]?: ProcessIdentity[K] | undefined },
): ProcessState {
  const { pid, pidStart, host } = identity
  if (pid === undefined || pidStart === undefined || host !== hostname()) return 'unknown'
  const place = pidStart.slice(0, pidStart.lastIndexOf('/'))
  const start = startTimeOf({ pidStart })
  if (place !== bootAndNamespace()) return bootOf(place) === bootOf(bootAndNamespace()) ? 'unknown' : 'gone'
  const isUntold = start === unknownStart && readProcStat(pid) === undefined
  return (isUntold ? pidExists(pid) : findStartTime(pid) === start) ? 'running' : 'gone'
}

/** Whether any process has this pid. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const bootOf = (place: string) => place.split('.')[0]

let here: string | undefined

/** This boot of this machine, and the set of processes that we can see (a container sees only its own). */
export function bootAndNamespace(): string {
  if (here === undefined) {
    let namespace = ''
    try {
      namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
    } catch {
      // Not Linux: there is only one.
    }
    here = `${(bootId() ?? 'unknown').slice(0, 8)}.${namespace}`
  }
  return here
}

let boot: string | undefined

/** Identifies this boot of the machine; undefined where the system does not tell. */
export function bootId(): string | undefined {
  boot ??= readFileIfAny('/proc/sys/kernel/random/boot_id', 'latin1')?.trim() ?? ''
  return boot === '' ? undefined : boot
}

/** When a process was started, in whatever form the system tells it; undefined when it is not running. */
function findStartTime(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readProcStat(pid)
    return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTime
  }
  const printed = runPs(pid, 'lstart=')
  return printed === undefined ? undefined : startWord(printed)
}

/** The processes above this one, the nearest first. */
export function processesAbove(): ProcessIdentity[] {
  const find = process.platform === 'linux' ? readProcStat : listProcesses()
  const above: ProcessIdentity[] = []
  for (let pid = process.ppid; pid > 1; ) {
    const found = find(pid)
    // A process that has ended meanwhile has no parent to go on with.
    if (found === undefined || above.some((one) => one.pid === pid)) break
    above.push(localProcess(pid, found.startTime))
    pid = found.parentPid
  }
  return above
}

/** All processes, from one run of `ps`. */
function listProcesses(): (pid: number) => Pick<ProcStat, 'parentPid' | 'startTime'> | undefined {
  const lines = askPs(['-A', '-o', 'pid=,ppid=,lstart=']).split('\n')
  const all = new Map(
    lines.map((line) => {
      const [pid, parent, ...start] = line.trim().split(/\s+/)
      return [Number(pid), { parentPid: Number(parent), startTime: startWord(start.join(' ')) }]
    }),
  )
  return (pid) => all.get(pid)
}

/** When a process was started, as `ps` prints it, in one word. */
const startWord = (printed: string): string => printed.replace(/\W+/g, '-')

export interface ProcStat {
  name: string
  /** One letter; `Z` and `X` have ended. */
  state: string
  parentPid: number
  /** The process group in the foreground of its terminal. */
  foregroundGroup: number
  startTime: string
}

/** What Linux tells of a process; undefined when there is none, or no /proc. */
export function readProcStat(pid: number): ProcStat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses and may contain anything.
    const nameEnd = line.lastIndexOf(')')
    const fields = line.slice(nameEnd + 2).split(' ')
    return {
      name: line.slice(line.indexOf('(') + 1, nameEnd),
      state: fields[0]!,
      parentPid: Number(fields[1]),
      foregroundGroup: Number(fields[5]),
      startTime: fields[19]!,
    }
  } catch {
    return undefined
  }
}

/** What `ps` prints of a process, for where there is no /proc; undefined when it prints nothing. */
export const runPs = (pid: number, columns: string): string | undefined =>
  askPs(['-o', columns, '-p', String(pid)]) || undefined

function askPs(words: string[]): string {
  // Loading it takes 2 ms of a process that may live for 60, and Linux does without.
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  try {
    return execFileSync('ps', words, { encoding: 'utf8', maxBuffer: 16 * 1_048_576 }).trim()
  } catch {
    return ''
  }
}
