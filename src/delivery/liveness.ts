import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { bootId } from '../base/clock.ts'
import { MailboxError } from '../base/errors.ts'
import type { Agent, Session } from '../model/agent.ts'

/** What tells a process from every other one, on this machine and over time. */
export function identify(pid: number): Required<Pick<Session, 'pid' | 'host' | 'pidStart'>> {
  const start = startOf(pid)
  if (start === undefined) {
    throw new MailboxError('not_found', `there is no process ${pid}`, {
      hint: 'give the pid of the process that is the agent; $$ is the shell itself',
    })
  }
  return { pid, host: hostname(), pidStart: `${world()}/${start}` }
}

export type Sight = 'here' | 'gone' | 'unknown'

/**
 * Whether the process of an agent's run is there. Exact where it can be told: a pid that now belongs to
 * another process started at another time. A process of another machine or another container is none of
 * our business, and one of an earlier run of this machine has ended.
 */
export function sight({ session }: Pick<Agent, 'session'>): Sight {
  const { pid, pidStart, host } = session
  if (pid === undefined || pidStart === undefined || host !== hostname()) return 'unknown'
  const slash = pidStart.lastIndexOf('/')
  const [theirs, start] = [pidStart.slice(0, slash), pidStart.slice(slash + 1)]
  if (theirs !== world()) return bootOf(theirs) === bootOf(world()) ? 'unknown' : 'gone'
  return startOf(pid) === start ? 'here' : 'gone'
}

const bootOf = (place: string) => place.split('.')[0]

let here: string | undefined

/** This run of this machine, and the set of processes that we can see in it (a container sees its own). */
function world(): string {
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

/** When a process was started, in whatever way the system says it; undefined when there is none. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      // The second field is the program's name in brackets, and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
    } catch {
      return undefined
    }
  }
  try {
    // Loading it takes 2 ms of a process that may live for 60, and Linux does without.
    const { execFileSync } = process.getBuiltinModule('node:child_process')
    const printed = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    return printed.trim().replace(/\W+/g, '-') || undefined
  } catch {
    return undefined
  }
}
