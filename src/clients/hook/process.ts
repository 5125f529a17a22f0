import { readFileSync } from 'node:fs'

/** A process, and what tells it from others that had or will have its number; `0` where the system does not say. */
export interface ProcessId {
  pid: number
  started: string
}

/** As `hook.sh` reads it. */
export function processOf(pid: number): ProcessId {
  return { pid, started: statOf(pid)?.started ?? '0' }
}

/** Whether that process, and no other of its number, is there. */
export function isRunning({ pid, started }: ProcessId): boolean {
  const stat = statOf(pid)
  if (stat !== undefined) return stat.started === started && stat.state !== 'Z' && stat.state !== 'X'
  if (started !== '0') return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

interface Stat {
  name: string
  state: string
  parent: number
  started: string
}

function statOf(pid: number): Stat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name stands in brackets and may hold anything.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    const name = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'))
    return { name, state: fields[0]!, parent: Number(fields[1]), started: fields[19]! }
  } catch {
    return undefined
  }
}

const shells = /^-?(?:sh|dash|bash|ash|zsh|ksh|mksh|fish|busybox|hook\.sh)$/

/**
 * The client above us, for where `hook.sh` could not tell (no /proc) or was not asked. Clients start hooks by
 * way of a shell, which may or may not have given its place to us.
 */
export function clientAbove(pid: number = process.ppid): number {
  for (let at = pid; at > 1; ) {
    const { name, parent } = statOf(at) ?? psOf(at)
    if (!shells.test(name)) return at
    at = parent
  }
  return pid
}

function psOf(pid: number): Pick<Stat, 'name' | 'parent'> {
  // Loaded where it is needed: it takes 2 ms of a process that lives for 60.
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const printed = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' })
  const [, parent = '0', name = ''] = /^\s*(\d+)\s+(.*)/.exec(printed) ?? []
  return { parent: Number(parent), name: name.trim().replace(/^.*\//, '') }
}
