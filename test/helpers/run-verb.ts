import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { VerbCall } from './every-verb.ts'

const script = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** How a call of the command line ended. */
export interface VerbRun {
  pid: number
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  /** What it printed, and what a hub answered. */
  stderr: string
  /** The ids of messages that a hub said it has. */
  sent: string[]
}

interface Place {
  dir: string
  home: string
  /** A command that runs the process, such as strace. */
  under?: readonly string[]
}

/** Only ends what hangs. */
const limitMs = 60_000

/** Calls a verb with `--json` and waits for its end. One that is endless is used a little, and then told to stop. */
export async function runVerb(call: VerbCall, { dir, home, under = [] }: Place): Promise<VerbRun> {
  const { words, as = 'ada', stdin = '', endless = false } = call
  const [command, ...rest] = [...under, process.execPath, script, '--json', '--as', as, ...words]
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(command!, rest, {
    cwd: home,
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, MAILBOX_SPACE: dir, MAILBOX_AGENT: as },
  })
  const run: VerbRun = { pid: child.pid!, status: null, signal: null, stdout: '', stderr: '', sent: [] }
  child.stdout.on('data', (data: Buffer) => (run.stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => (run.stderr += data.toString()))
  child.stdin.on('error', () => {}) // It may end before it has read everything.
  child.stdin.end(stdin)
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const exit = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => {
      Object.assign(run, { status, signal })
      resolve()
    })
  })
  if (endless) {
    await Promise.race([exit, firstLine(child)])
    if (words[0] === 'serve') await useHub(run)
    // One that has failed ends by itself.
    if (!run.stdout.startsWith('{"error"')) child.kill('SIGTERM')
  }
  await exit
  clearTimeout(limit)
  return run
}

const firstLine = (child: ChildProcess) =>
  new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))

/** Asks a hub for a little of everything. A hub that is gone answers nothing, and its exit tells why. */
async function useHub(run: VerbRun): Promise<void> {
  const line = run.stdout.split('\n')[0]!
  if (!line.startsWith('{"url"')) return
  const { url, token } = JSON.parse(line) as { url: string; token: string }
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(limitMs / 2),
    })
    const text = await response.text()
    if (!response.ok) run.stderr += `${path} answered ${response.status} ${text}\n`
    return response.ok ? (JSON.parse(text) as { id?: string }) : {}
  }
  try {
    for (const path of ['/health', '/api/agents', '/api/search?q=words']) await ask(path)
    for (const subject of ['one', 'two']) {
      const { id } = await ask('/api/mailboxes/user/send', { to: 'bob', subject })
      if (id !== undefined) run.sent.push(id)
    }
    await ask('/api/mailboxes/user/check', {})
    const { id } = await ask('/api/mailboxes/user/send', { to: 'ada', subject: 'three', key: 'k' })
    if (id !== undefined) run.sent.push(id)
  } catch (error) {
    run.stderr += `no answer: ${(error as Error).message}\n`
  }
}
