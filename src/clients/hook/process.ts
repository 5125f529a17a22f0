import {
  identifyByProc,
  localProcess,
  type ProcessIdentity,
  processState,
  readProcStat,
  runPs,
  startTimeOf,
} from '../../base/process.ts'

/** Tells this process from others, in names of files. */
export const ownToken = (): string => tokenOf(identifyByProc(process.pid))

export const tokenOf = (process: ProcessIdentity): string => `${process.pid}.${startTimeOf(process)}`

/** Whether the process with this token may still be there. */
export function isRunning(token: string): boolean {
  const [pid, startTime = ''] = token.split('.')
  return token !== '' && processState(localProcess(Number(pid), startTime)) !== 'gone'
}

const shells = /^-?(?:sh|dash|bash|ash|zsh|ksh|mksh|fish|busybox|hook\.sh)$/

/**
 * The client above us, for where `hook.sh` could not tell (no /proc) or was not asked. Clients start hooks
 * through a shell, which may or may not have replaced itself with us.
 */
export function clientAbove(pid: number = process.ppid): number {
  for (let at = pid; at > 1; ) {
    const { name, parentPid } = readProcStat(at) ?? askPs(at)
    if (!shells.test(name)) return at
    at = parentPid
  }
  return pid
}

function askPs(pid: number): { name: string; parentPid: number } {
  const [, parent = '0', name = ''] = /^\s*(\d+)\s+(.*)/.exec(runPs(pid, 'ppid=,comm=') ?? '') ?? []
  return { parentPid: Number(parent), name: name.replace(/^.*\//, '') }
}
