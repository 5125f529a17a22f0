import { cpSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { runScript } from './processes.ts'
import { isStorm } from './storm.ts'
import { tempDir } from './temp.ts'
import { cameToPass, straceWith } from './tools.ts'
import { until } from './wait.ts'

/** What can go wrong with each call of a program on its files. */
const errorsOf: Record<string, readonly string[]> = {
  openat: ['EIO', 'EMFILE', 'ENFILE', 'EACCES', 'EROFS', 'ENOSPC'],
  read: ['EIO'],
  pread64: ['EIO'],
  write: ['ENOSPC', 'EIO', 'EDQUOT', 'EFBIG'],
  pwrite64: ['ENOSPC', 'EIO', 'EDQUOT', 'EFBIG'],
  fsync: ['EIO', 'ENOSPC', 'EDQUOT'],
  fdatasync: ['EIO', 'ENOSPC', 'EDQUOT'],
  fcntl: ['ENOLCK', 'EIO'],
  statx: ['EIO', 'EACCES'],
  newfstatat: ['EIO', 'EACCES'],
  fstat: ['EIO'],
  getdents64: ['EIO'],
  ftruncate: ['EIO', 'ENOSPC'],
  close: ['EIO', 'ENOSPC'],
  access: ['EIO', 'EACCES'],
  mkdir: ['EIO', 'ENOSPC', 'EROFS', 'EACCES', 'EDQUOT'],
  rename: ['EIO', 'ENOSPC', 'EROFS', 'EACCES', 'EDQUOT'],
  link: ['EIO', 'ENOSPC', 'EPERM', 'EMLINK'],
  unlink: ['EIO', 'EROFS', 'EACCES'],
  chmod: ['EIO', 'EPERM', 'EROFS'],
  fchmod: ['EIO', 'EPERM', 'EROFS'],
  inotify_add_watch: ['ENOSPC', 'ENOMEM', 'EACCES'],
}
const calls = Object.keys(errorsOf)

/** One call that fails: the nth of its name on these paths. */
export interface CallFault {
  call: string
  nth: number
  error: string
}

/** The calls of a run on a space's files. */
export interface Recorded {
  /** Every path, from the space's directory on. The process's own id stands as `$$`. */
  paths: string[]
  /** How often each call was made. */
  counts: Map<string, number>
}

/**
 * A command prefix that runs a process under strace, which stays out of its way: the process keeps its parent,
 * its exit status and its signals, and only the calls in question stop it.
 */
const prefix = (log: string, options: readonly string[]): string[] => [
  'sh',
  '-c',
  `exec strace -D -f --seccomp-bpf -q -y -o '${log}' ${options.join(' ')} "$@"`,
  'traced',
]

/** A command prefix that lists the calls of a process. */
export const recorder = (log: string): string[] => prefix(log, ['-e', `trace=${calls.join()}`])

/** A command prefix that makes one call of a process fail. Calls on other files are neither counted nor failed. */
export function injector(
  { call, nth, error }: CallFault,
  { paths }: Recorded,
  dir: string,
  log: string,
): string[] {
  const only = paths.flatMap((path) => ['-P', `"${dir}${path}"`])
  return prefix(log, [...only, '-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${nth}`])
}

/** What strace wrote, once it is complete: it is not our child, so it may end after the process. */
async function readLog(log: string, pid: number): Promise<string[]> {
  const ended = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, 'm')
  const text = await until('strace has ended', () => {
    const written = readFileSync(log, 'latin1')
    return ended.test(written) && written
  })
  return text.split('\n')
}

export async function readRecorded(log: string, pid: number, dir: string): Promise<Recorded> {
  const paths = new Set([''])
  const counts = new Map<string, number>()
  for (const line of await readLog(log, pid)) {
    const call = /^\d+ +(\w+)\(/.exec(line)?.[1]
    const found = [...line.matchAll(/["<](\/[^">]*)[">]/g)]
      .map((match) => match[1]!)
      .filter((path) => path === dir || path.startsWith(`${dir}/`))
    if (call === undefined || found.length === 0) continue
    for (const path of found)
      paths.add(path.slice(dir.length).replaceAll(`.${pid}.`, '.$$$$.').replace(' (deleted)', ''))
    counts.set(call, (counts.get(call) ?? 0) + 1)
  }
  return { paths: [...paths], counts }
}

/** Whether the fault came to pass: another run may make fewer calls. */
export const wasInjected = async (log: string, pid: number): Promise<boolean> =>
  (await readLog(log, pid)).some((line) => line.includes('(INJECTED)'))

/** Every fault that a run can meet, in an order chosen by chance: different calls and errors first. */
export function* faultsFor({ counts }: Recorded, random: () => number): Generator<CallFault> {
  const kinds = [...counts].flatMap(([call, count]) =>
    (errorsOf[call] ?? []).map((error) => ({ call, error, left: shuffled(count, random) })),
  )
  for (let round = shuffled(kinds.length, random); round.length > 0; ) {
    for (const at of round) {
      const { call, error, left } = kinds[at]!
      yield { call, error, nth: left.pop()! + 1 }
    }
    round = shuffled(kinds.length, random).filter((at) => kinds[at]!.left.length > 0)
  }
}

/** The numbers below `count` in an order chosen by chance. */
function shuffled(count: number, random: () => number): number[] {
  const numbers = Array.from({ length: count }, (_, at) => at)
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[numbers[at], numbers[other]] = [numbers[other]!, numbers[at]!]
  }
  return numbers
}

export interface EachCall {
  call: string
  /** What becomes of it: `error=ENOSPC`, `signal=KILL`. */
  what: string
  /** Both of the first two calls fail, and one in so many of those that follow; in a storm all of them. */
  step: number
  script: URL
  args: (dir: string) => string[]
  /** The space that each run gets a copy of; without one it begins with nothing. */
  from?: string | undefined
  /** The files on which calls count. */
  paths: (dir: string) => string[]
  /** What is wrong after a run; empty when nothing is. */
  judge: (run: FaultyRun) => Promise<string[]>
}

export interface FaultyRun {
  dir: string
  stdout: string
  stderr: string
  status: number | null
  /** Whether the fault came to pass: in the last run it does not. */
  isFaulty: boolean
}

/** Runs a script once for each call that can go wrong, until there is no such call any more. */
export async function failEach({ call, what, step, script, args, from, paths, judge }: EachCall) {
  const root = realpathSync(tempDir())
  const wrong: string[] = []
  for (let at = 1, tried = 0; ; at += isStorm || at < 2 ? 1 : step, tried++) {
    const dir = join(root, `${at}`)
    const log = join(root, `${at}.log`)
    if (from !== undefined) cpSync(from, dir, { recursive: true })
    const under = straceWith({ call, what, when: `${at}` }, paths(dir), log)
    // One thread, so that the calls come in the same order each time.
    const run = runScript(script, args(dir), { under, env: { UV_THREADPOOL_SIZE: '1' } })
    const isFaulty = cameToPass(log)
    for (const text of await judge({ ...run, dir, isFaulty })) wrong.push(`${call} ${at}: ${text}`)
    if (!isFaulty) return { wrong, tried }
  }
}
