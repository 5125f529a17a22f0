import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { clientProgram } from '../../helpers/install.ts'
import { removeTree } from '../../helpers/remove-tree.ts'

export const cli = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))

export interface ClientHome {
  home: string
  project: string
  temp: string
}

/** A home and a project of a test's own. Short, because a client's sockets lie in it. */
export function clientHome(): ClientHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mb-')))
  const [home, project, temp] = [join(root, 'home'), join(root, 'project'), join(root, 'tmp')]
  for (const dir of [home, project, temp]) mkdirSync(dir)
  onTestFinished(() => removeTree(root))
  return { home, project, temp }
}

/** Nothing of the user's, and nobody outside to call. */
export const bareEnv = ({ home, temp }: { home: string; temp: string }): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  ...{ HOME: home, TMPDIR: temp, LANG: 'C.UTF-8', TERM: 'xterm-256color' },
})

export interface ClaudeOptions {
  home: ClientHome
  modelUrl: string
  /** Its settings, with hooks if any. */
  settings?: object
  /** Servers by name, as in `.mcp.json`. */
  mcpServers?: Record<string, object>
  env?: Record<string, string>
  args?: readonly string[]
  allowedTools?: readonly string[]
}

/** The environment in which Claude Code calls nobody but the scripted model. */
export function claudeEnv({ home, modelUrl, env = {} }: ClaudeOptions): Record<string, string> {
  return {
    ...bareEnv(home),
    ...{ CLAUDE_CONFIG_DIR: join(home.home, '.claude'), CLAUDE_CODE_TMPDIR: home.temp },
    ...{ ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: 'a-key-for-loopback' },
    ...{ DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1' },
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    ...env,
  }
}

export interface RunningClient {
  process: ChildProcess
  stdout: () => string
  stderr: () => string
  exit: Promise<number | null>
  /** Resolves when its standard output holds the text; rejects when it ends without. */
  said(text: string): Promise<void>
  /** A further prompt, for one that reads them as a stream. */
  prompt(text: string): void
  /** Says that there are no more prompts. */
  end(): void
}

/** Starts the real Claude Code without a terminal; prompts come as arguments or as a stream. */
export function startClaude(options: ClaudeOptions): RunningClient {
  const [program, ...words] = setUpClaude(options)
  return startClient(program!, words, { cwd: options.home.project, env: claudeEnv(options) })
}

/** Writes its settings, and gives the words that start it. */
export function setUpClaude(options: ClaudeOptions): string[] {
  const { home, settings = {}, mcpServers = {}, args = [], allowedTools = [] } = options
  const [settingsFile, mcpFile] = [join(home.home, 'settings.json'), join(home.home, 'mcp.json')]
  writeFileSync(settingsFile, JSON.stringify(settings))
  writeFileSync(mcpFile, JSON.stringify({ mcpServers }))
  const fixed = ['--settings', settingsFile, '--mcp-config', mcpFile, '--strict-mcp-config']
  const allowed = allowedTools.length === 0 ? [] : ['--allowedTools', allowedTools.join(',')]
  skipWelcome(home)
  return [clientProgram('claude'), ...args, ...fixed, ...allowed]
}

/** In a terminal it would ask about colours, the key and the project first. */
export function skipWelcome(home: ClientHome): void {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
  mkdirSync(join(home.home, '.claude'), { recursive: true })
  writeFileSync(
    join(home.home, '.claude', '.claude.json'),
    JSON.stringify({
      ...{ hasCompletedOnboarding: true, lastOnboardingVersion: '99.0.0', theme: 'dark', numStartups: 5 },
      customApiKeyResponses: { approved: ['a-key-for-loopback'.slice(-20)], rejected: [] },
      projects: { [home.project]: project },
    }),
  )
}

/** A client as a process of the test, gone when the test is over. */
export function startClient(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): RunningClient {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  const listening = new Set<() => void>()
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString()
    for (const listen of [...listening]) listen()
  })
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  child.stdin.on('error', () => {}) // It may end before it reads.
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exit,
    said: (text) =>
      new Promise((resolve, reject) => {
        const listen = () => {
          if (!stdout.includes(text)) return
          listening.delete(listen)
          resolve()
        }
        listening.add(listen)
        listen()
        void exit.then(
          () => reject(new Error(`it ended without saying ${text}: ${stdout} ${stderr}`)),
          reject,
        )
      }),
    prompt: (text) => {
      const message = { role: 'user', content: [{ type: 'text', text }] }
      child.stdin.write(`${JSON.stringify({ type: 'user', message, parent_tool_use_id: null })}\n`)
    },
    end: () => void child.stdin.end(),
  }
}
