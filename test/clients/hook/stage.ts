import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { LocalSpace, Mailbox } from '../../../src/mod.ts'
import { segmentFile } from '../../helpers/segments.ts'
import { tempSpace } from '../../helpers/temp.ts'

export const hookProgram = fileURLToPath(new URL('../../../dist/hook.sh', import.meta.url))

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
  /** What was put into the context, or what the agent goes on with. */
  text: string
}

export interface HookOptions {
  input?: object | string
  env?: Record<string, string>
  /** The shell to run it with, instead of /bin/sh. */
  shell?: string
  cwd?: string
}

/** A client's process; all that a hook of Claude Code needs to know of it is its number. */
export class FakeClient {
  readonly process: ChildProcess
  readonly session: string
  readonly space: LocalSpace

  constructor(space: LocalSpace, session: string) {
    this.space = space
    this.session = session
    this.process = spawn('sleep', ['600'], { stdio: 'ignore' })
    onTestFinished(() => this.end())
  }

  end(): void {
    this.process.kill('SIGKILL')
  }

  /** Runs a hook as the client would, to its end. */
  hook(event: string, options: HookOptions = {}): Ran {
    const { input = {}, env = {}, shell, cwd } = options
    const given = typeof input === 'string' ? input : JSON.stringify({ session_id: this.session, ...input })
    const [program, ...words] = [...(shell?.split(' ') ?? []), hookProgram, 'claude', event]
    const { status, stdout, stderr } = spawnSync(program!, words, {
      ...{ input: given, encoding: 'utf8', timeout: 60_000, ...(cwd === undefined ? {} : { cwd }) },
      env: { ...process.env, ...this.env, ...env },
    })
    return { code: status, stdout, stderr, text: textIn(stdout) }
  }

  /** The same while this process goes on, for what it has to answer meanwhile. */
  async hookLater(event: string, { input = {}, env = {} }: HookOptions = {}): Promise<Ran> {
    const child = spawn(hookProgram, ['claude', event], { env: { ...process.env, ...this.env, ...env } })
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) =>
      stream.setEncoding('utf8').toArray(),
    )
    child.stdin.end(JSON.stringify({ session_id: this.session, ...(input as object) }))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    const said = ((await stdout) as string[]).join('')
    return { code, stdout: said, stderr: ((await stderr) as string[]).join(''), text: textIn(said) }
  }

  get env(): Record<string, string> {
    return { CLAUDE_PID: String(this.process.pid), MAILBOX_SPACE: this.space.dir, CLAUDE_PROJECT_DIR: '' }
  }
}

function textIn(stdout: string): string {
  if (stdout === '') return ''
  const { hookSpecificOutput, reason, systemMessage } = JSON.parse(stdout) as {
    hookSpecificOutput?: { additionalContext: string }
    reason?: string
    systemMessage?: string
  }
  return hookSpecificOutput?.additionalContext ?? reason ?? systemMessage ?? ''
}

export interface Stage {
  space: LocalSpace
  ada: Mailbox
  /** Has started a session, as `claude-1`. */
  client: FakeClient
}

export async function hookStage(): Promise<Stage> {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const client = new FakeClient(space, 'session-one')
  client.hook('SessionStart')
  return { space, ada, client }
}

export const stamps = (space: LocalSpace): string[] => {
  try {
    return readdirSync(join(space.dir, 'hooks', 'stamps'))
  } catch {
    return []
  }
}

let agedBySeconds = 0

/**
 * Makes the last append look older than it is: the quick path relies only on a journal that has been at rest for a
 * while. Each call sets another time, as each append would.
 */
export function ageJournal({ dir }: LocalSpace): void {
  agedBySeconds += 10
  const then = Date.now() / 1_000 - agedBySeconds
  utimesSync(segmentFile(dir), then, then)
}
