import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { given } from '../../src/base/objects.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { Claim } from '../../src/model/claim.ts'
import type { ReceiptState, ReceiptView } from '../../src/model/receipt.ts'
import type { UnreadCount } from '../../src/query/count.ts'
import type { InboxMessage } from '../../src/query/inbox.ts'
import { openDisk } from '../../src/space/open.ts'
import { removeTree } from './remove-tree.ts'
import { placeSpace, sharedSettings } from './temp.ts'
import { boxWithDesk } from './with-desk.ts'

export const script = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** Everything that `--json` can answer; each verb gives some of it. */
interface Answer {
  message: InboxMessage
  messages: InboxMessage[]
  next: string | null
  warnings: string[]
  receipts: ReceiptView[]
  state: ReceiptState
  claim: Claim
  remaining: UnreadCount
  unread: number
  byPriority: UnreadCount['byPriority']
  agent: Agent
  agents: Agent[]
  decided: object[]
  needsYou: object[]
  blocked: object[]
  error: { code: string; message: string; hint: string | null }
}

interface Ran {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

interface RunOptions {
  input?: string | Buffer
  env?: Record<string, string>
  cwd?: string
}

/** A process that is still going, with what it has printed so far. */
interface Started {
  process: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves when the standard output or error holds the text. */
  says(text: string | RegExp): Promise<void>
  exit: Promise<Ran>
}

/** The command line in a space of its own, which is gone with the test. */
export interface Box {
  dir: string
  /** What its commands are told as their space: the directory, or the address of a hub. */
  place: string
  run(words: readonly string[], options?: RunOptions): Promise<Ran>
  /** Runs, expects success and gives what was printed. */
  ok(...words: string[]): Promise<string>
  /** Runs with `--json`, expects success and gives the object. */
  json(...words: string[]): Promise<Answer>
  /** Runs with `--json`, expects this exit code and gives the error. */
  refused(code: number, ...words: string[]): Promise<Answer['error']>
  start(words: readonly string[], options?: RunOptions): Started
}

/** How the boxes of a test file reach their space; see over-hub.ts. */
export const reach: { throughHub?: (dir: string) => Promise<Reach> } = {}

/** The environment in which a command line reaches its space. */
export interface Reach {
  place: string
  env(words: readonly string[], env: Record<string, string>): Record<string, string>
  /** Called when a command has ended. */
  hasRun(words: readonly string[]): Promise<void>
}

/** A box, with agents that have joined already. */
export async function createBox(...agents: (string | { name: string; roles: string[] })[]): Promise<Box> {
  const home = mkdtempSync(join(tmpdir(), 'mailbox-cli-'))
  onTestFinished(() => removeTree(home))
  const dir = await placeSpace(join(home, 'space'))
  const shared = sharedSettings()
  if (Object.keys(shared).length > 0) {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(dir, 'config.json'), JSON.stringify(shared))
  }
  // In this process: a test pays for every process it starts.
  if (agents.length > 0) {
    await using space = await openDisk({ dir, settings: { durability: 'os' } })
    for (const agent of agents) {
      const { name, ...joining } = typeof agent === 'string' ? { name: agent } : agent
      await space.join(name, joining)
    }
  }

  const through = await reach.throughHub?.(dir)
  const { PATH = '', MAILBOX_DESK, NODE_COMPILE_CACHE } = process.env

  function start(words: readonly string[], options: RunOptions = {}): Started {
    const ours = { ...given({ MAILBOX_DESK, NODE_COMPILE_CACHE }), MAILBOX_SPACE: dir }
    const usual = { PATH, HOME: home, ...ours, ...options.env }
    const env = through?.env(words, usual) ?? usual
    const child = spawn(process.execPath, [script, ...words], { env, cwd: options.cwd ?? home })
    onTestFinished(() => void child.kill('SIGKILL'))
    return follow(child, options.input)
  }

  const box: Box = {
    dir,
    place: through?.place ?? dir,
    start,
    async run(words, options) {
      await boxWithDesk(dir, home)
      const ran = await start(words, options).exit
      await through?.hasRun(words)
      return ran
    },
    async ok(...words) {
      const ran = await box.run(words)
      expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 })
      return ran.stdout
    },
    async json(...words) {
      return JSON.parse(await box.ok(...words, '--json')) as Answer
    },
    async refused(code, ...words) {
      const ran = await box.run([...words, '--json'])
      expect(ran, ran.stdout + ran.stderr).toMatchObject({ code })
      return (JSON.parse(ran.stdout) as Answer).error
    },
  }
  return box
}

function follow(child: ChildProcess, input: string | Buffer | undefined): Started {
  let stdout = Buffer.alloc(0)
  let stderr = ''
  const looks = new Set<() => void>()
  const told = () => {
    for (const look of [...looks]) look()
  }
  child.stdout!.on('data', (data: Buffer) => {
    stdout = Buffer.concat([stdout, data])
    told()
  })
  child.stderr!.on('data', (data: Buffer) => {
    stderr += data.toString()
    told()
  })
  // It may end before it has read everything.
  child.stdin!.on('error', () => {})
  child.stdin!.end(input ?? '')
  const exit = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout.toString(), stderr }))
  })
  const holds = (text: string | RegExp) =>
    [stdout.toString(), stderr].some((said) =>
      typeof text === 'string' ? said.includes(text) : text.test(said),
    )
  return {
    process: child,
    stdout: () => stdout.toString(),
    stderr: () => stderr,
    exit,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!holds(text)) return
          looks.delete(look)
          resolve()
        }
        looks.add(look)
        look()
        exit.then(
          (ran) =>
            holds(text) || reject(new Error(`it ended without saying ${text}: ${JSON.stringify(ran)}`)),
          reject,
        )
      }),
  }
}
