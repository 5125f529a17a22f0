import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const has = (tool: string): boolean => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0

/** Sees to it that a tool of the system is there: installs it where that is allowed, says how where not. */
export function ensureTool(tool: string, pack = tool): void {
  if (has(tool)) return
  const install = `apt-get install -y ${pack}`
  if (process.getuid?.() === 0 && has('apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('sh', ['-c', `${install} || { apt-get update && ${install}; }`], { env, stdio: 'ignore' })
  }
  if (!has(tool))
    throw new Error(
      `these tests need ${tool}: run \`${install}\` as root, or your system's own way to get it`,
    )
}

/** Where a space's bytes go, as far as faults are made there. `dir` must be free of symbolic links. */
export function filesOf(dir: string): string[] {
  const segments = ['00000001', '00000002', '00000003'].map((name) => join('journal', `${name}.jsonl`))
  const indexes = ['index.db', 'index-search.db'].flatMap((name) => [name, `${name}-journal`])
  return [...segments, ...indexes, 'journal', 'lock'].map((file) => join(dir, file))
}

export interface Fault {
  /** The system call, such as `write`. */
  call: string
  /** What to do to it: `error=ENOSPC`, `signal=KILL`. */
  what: string
  /** To which of the calls: `3` the third, `3+` from the third on. */
  when: string
}

/**
 * A command prefix that runs a process with a fault in it. Only calls on these paths count and fail, so
 * that the runtime's own pipes and events are left alone.
 */
export function straceWith({ call, what, when }: Fault, paths: readonly string[], log: string): string[] {
  const only = paths.flatMap((path) => ['-P', path])
  return [
    'strace',
    '-f',
    '-qq',
    '-o',
    log,
    ...only,
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:${what}:when=${when}`,
  ]
}

/** Whether the fault came to pass: past the last call there is nothing left to fail. */
export function cameToPass(log: string): boolean {
  return existsSync(log) && /\(INJECTED\)|SIGKILL/.test(readFileSync(log, 'latin1'))
}
