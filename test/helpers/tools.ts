import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { skipTest } from './skip.ts'

/** A program on the PATH, or a module of Perl: `perl -MNAME`. */
export const hasTool = (tool: string): boolean => {
  const [program, ...words] = tool.split(' ')
  if (words.length > 0) return spawnSync(program!, [...words, '-e', '1']).status === 0
  return spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0
}

/** System programs that some tests need, with the packages that contain them. `bring-tools.ts` installs them. */
export const systemTools: Record<string, string> = {
  strace: 'strace',
  tmux: 'tmux',
  chromium: 'chromium',
  busybox: 'busybox',
  faketime: 'faketime',
  postgres: 'postgresql',
  pgbouncer: 'pgbouncer',
  prlimit: 'util-linux',
  script: 'bsdutils',
  'systemd-analyze': 'systemd',
  'perl -MOpenAPI::Client': 'libopenapi-client-perl',
}

/** Skips the running test, with the command that helps, when a system program is missing. */
export function needTool(tool: keyof typeof systemTools | (string & {})): void {
  if (hasTool(tool)) return
  const pack = systemTools[tool] ?? tool
  skipTest(`needs ${tool}: run \`apt-get install -y ${pack}\` as root, or install it another way`)
}

const browsers = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** The system's own browser: none is downloaded. */
export function browserPath(): string | undefined {
  const given = process.env['CHROME_PATH']
  if (given !== undefined && given !== '') return given
  const look = browsers.map((name) => `command -v ${name}`).join(' || ')
  return spawnSync('sh', ['-c', look], { encoding: 'utf8' }).stdout.trim() || undefined
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
  // A filter in the kernel lets all other calls pass, which takes a fraction of the time; but behind it strace sends
  // no signals.
  const filter = what.startsWith('signal') ? [] : ['--seccomp-bpf']
  return [
    'strace',
    '-f',
    ...filter,
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
