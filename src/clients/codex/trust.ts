import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ourEvent } from '../setup/our-entries.ts'

/** A hook as Codex sees it. */
interface ListedHook {
  command: string | null
  enabled: boolean
  /** trusted, untrusted, modified: the last two are skipped, silently. */
  trustStatus: string
}

const timeoutMs = 10_000

/**
 * Asks Codex which of our hooks it would run in a directory. Its settings hold the digests of trusted hooks, but only
 * Codex knows how it computes them. Undefined when it does not answer.
 */
export async function listCodexHooks(
  program: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<ListedHook[] | undefined> {
  const child = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout, signal: AbortSignal.timeout(timeoutMs) })
  const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  child.stdin.on('error', () => {}) // It may be another program with that name that has ended already.
  for (const end of ['error', 'close']) child.once(end, () => lines.close())
  try {
    const clientInfo = { name: 'mailbox-doctor', title: 'mailbox doctor', version: '1' }
    send({ id: 1, method: 'initialize', params: { clientInfo } })
    for await (const line of lines) {
      const { id, result } = parseLine(line)
      if (id === 1) {
        send({ method: 'initialized' })
        send({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } })
      }
      if (id === 2) return hooksIn(result)
    }
    return undefined
  } finally {
    child.kill('SIGKILL')
  }
}

function parseLine(line: string): { id?: unknown; result?: unknown } {
  try {
    return JSON.parse(line) as { id?: unknown; result?: unknown }
  } catch {
    return {}
  }
}

function hooksIn(result: unknown): ListedHook[] | undefined {
  const { data } = (result ?? {}) as { data?: { hooks?: ListedHook[] }[] }
  return data?.flatMap(({ hooks = [] }) => hooks).filter(({ command }) => ourEvent(command) !== undefined)
}
