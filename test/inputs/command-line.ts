import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import fc from 'fast-check'
import { run } from '../../src/cli/program.ts'
import { openDisk } from '../../src/space/open.ts'
import { createBox } from '../helpers/cli.ts'
import { corpora } from '../helpers/corpora.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { inputsFrom, resolveIds, sample } from './generate.ts'
import { Accepted, Judge } from './judge.ts'

const inputsPerSpace = 1_000

/** How a command line ended. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Verbs that end by themselves and are about one message. */
const steps = [
  'ack',
  'claim',
  'start',
  'done',
  'fail',
  'release',
  'archive',
  'retry',
  'show',
  'thread',
  'read',
  'withdraw',
]
const looks = [
  'inbox',
  'check',
  'count',
  'sent',
  'scheduled',
  'agents',
  'owed',
  'dead',
  'audit',
  'stats',
  'digest',
  'log',
  'verify',
  'config',
  'key',
  'route',
]

/** Command lines, as they come in: words that `-` would read from standard input are left out. */
async function commandLines() {
  const { text, document } = inputsFrom(await corpora(), fc.jsonValue({ maxDepth: 2 }))
  const word = text.filter((one) => one !== '-')
  const id = fc.oneof(
    { weight: 5, arbitrary: fc.nat(999).map((n) => `#${n}`) },
    { weight: 1, arbitrary: word },
  )
  const to = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('ada', 'bob', 'all', 'role:worker') },
    { weight: 1, arbitrary: word },
  )
  const option = fc.oneof(
    fc.tuple(
      fc.constantFrom(
        '--type',
        '--priority',
        '--thread',
        '--ttl',
        '--tag',
        '--key',
        '--swarm',
        '--exclude',
        '--expires-at',
        '--at',
      ),
      word,
    ),
    fc.tuple(
      fc.constantFrom('--payload', '--context'),
      document.filter((one) => one !== '-'),
    ),
    fc.tuple(fc.constantFrom('--ack', '--await', '--hold')),
  )
  const sends = fc
    .tuple(to, word, word, fc.array(option, { maxLength: 2 }))
    .map(([who, subject, body, options]) => [
      'send',
      who,
      `--subject=${subject}`,
      `--body=${body}`,
      ...options.flat(),
    ])
  return fc.oneof(
    { weight: 8, arbitrary: sends },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...steps), id, fc.array(word, { maxLength: 1 }))
        .map(([verb, one, more]) => [verb, one, ...more]),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...looks), fc.array(word, { maxLength: 2 }))
        .map(([verb, more]) => [verb, ...more]),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constant('search'), word).map((words) => [...words]) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('join', 'leave'), word).map((words) => [...words]) },
    { weight: 1, arbitrary: fc.array(word, { maxLength: 3 }).filter(([first]) => first !== 'serve') },
  )
}

const perhapsText = (words: readonly string[], at: number): string[] =>
  // With --json in most: that is how programs and models use it.
  at % 5 === 0 ? ['--as', 'ada', ...words] : ['--as', 'ada', ...words, '--json']

/** Command lines, one after another in this process: what a process does, without starting one for each. */
export async function commandLine(
  count: number,
  seed: number,
  progress: (judge: Judge) => void,
): Promise<Judge> {
  const judge = new Judge('command line')
  const lines = await commandLines()
  for (let done = 0; done < count; done += inputsPerSpace) {
    const home = tempDir()
    const dir = join(home, 'space')
    const accepted = new Accepted(judge)
    await createSpace(dir)
    const inside = enter({ HOME: home, MAILBOX_SPACE: dir }, home)
    try {
      const batch = sample(lines, Math.min(inputsPerSpace, count - done), seed + done)
      for (const [at, words] of batch.entries()) {
        const given = perhapsText(
          words.map((word) => String(resolveIds(word, accepted.ids))),
          at,
        )
        judgeRun(await inside.call(() => run(given)), given, accepted, judge)
        progress(judge)
      }
    } finally {
      inside.leave()
    }
    await using space = await openDisk({ dir, settings: testSettings })
    await accepted.compare(space)
  }
  return judge
}

/** The same, each in a process of its own. */
export async function processes(
  count: number,
  seed: number,
  progress: (judge: Judge) => void,
): Promise<Judge> {
  const judge = new Judge('processes')
  const lines = await commandLines()
  const box = await createBox('ada', { name: 'bob', roles: ['worker'] })
  const accepted = new Accepted(judge)
  const batch = sample(lines, count, seed)
  for (const [at, words] of batch.entries()) {
    const given = perhapsText(
      words.map((word) => String(resolveIds(word, accepted.ids)).replaceAll('\0', '')),
      at,
    )
    const { code, signal, stdout, stderr } = await box.run(given.map((word) => word.toWellFormed()))
    if (signal !== null) judge.fail('untyped', `ended by ${signal}`, given)
    judgeRun(
      { code, stdout, stderr },
      given.map((word) => word.toWellFormed()),
      accepted,
      judge,
    )
    progress(judge)
  }
  await using space = await openDisk({ dir: box.dir, settings: testSettings })
  await accepted.compare(space)
  return judge
}

async function createSpace(dir: string): Promise<void> {
  await using space = await openDisk({ dir, settings: testSettings })
  for (const name of ['ada', 'bob']) await space.join(name, { roles: ['worker'] })
}

/** Exit codes: done, some lines refused, and those of errors. */
const codes = [0, 1, 2, 3, 4, 5, 6, 7]

function judgeRun(
  { code, stdout, stderr }: Ended,
  words: readonly string[],
  accepted: Accepted,
  judge: Judge,
): void {
  if (code === 0) judge.accept()
  else judge.refuse()
  const said = stdout + stderr
  if (
    code === null ||
    !codes.includes(code) ||
    said.includes('"code":"internal"') ||
    said.includes('a bug in mailbox') ||
    /\n {4}at .*\(.*:\d+:\d+\)/.test(stderr)
  )
    judge.fail('untyped', `exit ${code}: ${said.slice(0, 400)}`, words)
  if (code !== 0 || words[2] !== 'send' || !words.includes('--json')) return
  const { message } = JSON.parse(stdout) as { message: Record<string, unknown> }
  const given = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
  accepted.note({ subject: given('subject'), body: given('body') }, message)
}

/** Makes this process look like one that a command line or a hook runs in, until it is left. */
export function enter(env: Record<string, string>, cwd: string) {
  const before = {
    env: { ...process.env },
    cwd: process.cwd(),
    exit: process.exit,
    exitCode: process.exitCode,
  }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write, fs: fs.writeSync }
  const listeners = { stdout: process.stdout.listeners('error'), stderr: process.stderr.listeners('error') }
  let said = { stdout: '', stderr: '' }
  const take =
    (to: 'stdout' | 'stderr') =>
    (chunk: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
      said[to] += Buffer.from(chunk as string).toString()
      const told = (typeof encoding === 'function' ? encoding : done) as (() => void) | undefined
      if (told !== undefined) queueMicrotask(told)
      return true
    }
  Object.assign(globalThis, { __VERSION__: '0.0.0-test' })
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.stdout.setMaxListeners(0)
  process.stderr.setMaxListeners(0)
  return {
    async call(work: () => Promise<unknown>): Promise<Ended> {
      said = { stdout: '', stderr: '' }
      let code: number | null = null
      process.exitCode = undefined
      process.exit = ((given?: number) => {
        code ??= given ?? 0
      }) as typeof process.exit
      process.stdout.write = take('stdout') as typeof process.stdout.write
      process.stderr.write = take('stderr') as typeof process.stderr.write
      // Hooks write to the descriptors themselves.
      fs.writeSync = ((fd: number, ...rest: [never]) => {
        if (fd !== 1 && fd !== 2) return writes.fs(fd, ...rest)
        const bytes = (rest[0] as Buffer).subarray((rest as unknown[])[1] as number)
        said[fd === 1 ? 'stdout' : 'stderr'] += bytes.toString()
        return bytes.length
      }) as typeof fs.writeSync
      syncBuiltinESMExports()
      try {
        const result = await work()
        if (typeof result === 'number') code ??= result
      } finally {
        process.exit = before.exit
        process.stdout.write = writes.stdout
        process.stderr.write = writes.stderr
        fs.writeSync = writes.fs
        syncBuiltinESMExports()
        for (const stream of ['stdout', 'stderr'] as const) {
          process[stream].removeAllListeners('error')
          for (const listener of listeners[stream]) process[stream].on('error', listener as () => void)
        }
      }
      return { code, ...said }
    },
    leave(): void {
      process.chdir(before.cwd)
      process.exitCode = before.exitCode
      for (const name of Object.keys(env)) {
        if (before.env[name] === undefined) delete process.env[name]
        else process.env[name] = before.env[name]
      }
    },
  }
}
