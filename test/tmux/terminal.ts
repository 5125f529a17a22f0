import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { readLogins, saveLogin } from '../../src/space/logins.ts'
import { openDisk } from '../../src/space/open.ts'
import { stateDirFor } from '../../src/space/place.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { Store } from '../../src/tmux/store.ts'
import { reach } from '../helpers/cli.ts'
import { type Stage, stageHub } from '../helpers/hub.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { until } from '../helpers/wait.ts'

const cli = new URL('../../dist/cli.cjs', import.meta.url)
const fakeAgent = fileURLToPath(new URL('fake-agent.mjs', import.meta.url))

export interface FakeOptions {
  bracketed?: boolean
  silent?: boolean
  /** The agent is busy while this file is there. */
  busyFile?: string
  prompt?: string
}

/** What an agent has received. */
export interface AgentLog {
  file: string
  /** Lines that were submitted to it. */
  submitted(): string[]
  /** Every byte. */
  bytes(): Buffer
  /** Control characters outside of what it takes as text. */
  keys(): number[]
}

/** A tmux server of a test's own, and a space beside it. */
export class Terminal {
  readonly dir = tempDir()
  readonly socket = join(this.dir, 'tmux')
  readonly spaceDir = join(this.dir, 'space')
  space!: DiskSpace
  /** Where the watcher reaches its space through a hub, with a login for each agent. */
  hub: Stage | undefined
  readonly env = { XDG_CONFIG_HOME: join(this.dir, 'config') }
  #windows = 0

  /** With `TEST_HUB=on` every watcher goes through a hub. */
  static async open({ settings = {}, throughHub = reach.throughHub !== undefined } = {}): Promise<Terminal> {
    needTool('tmux')
    const terminal = new Terminal()
    terminal.space = await openDisk({ dir: terminal.spaceDir, settings: { ...testSettings, ...settings } })
    if (throughHub) terminal.hub = await stageHub({ space: terminal.space })
    onTestFinished(async () => {
      await terminal.hub?.stop()
      await terminal.space.close()
      try {
        terminal.tmux('kill-server')
      } catch {
        // No pane was ever opened, or all have ended.
      }
    })
    return terminal
  }

  tmux(...words: string[]): string {
    const env = { ...process.env, TMUX: '', LC_ALL: 'C.UTF-8' }
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    return execFileSync('tmux', ['-u', '-S', this.socket, '-f', '/dev/null', ...words], {
      ...{ encoding: 'utf8', env, stdio: [...stdio] },
    }).trimEnd()
  }

  /** Runs a command in a pane of its own; gives the pane. */
  pane(command: string, size = { width: 100, height: 30 }): string {
    const format = ['-P', '-F', '#{pane_id}']
    this.#windows++
    return this.#windows === 1
      ? this.tmux(
          'new-session',
          '-d',
          '-s',
          'test',
          '-x',
          `${size.width}`,
          '-y',
          `${size.height}`,
          ...format,
          command,
        )
      : this.tmux('new-window', '-d', '-t', 'test:', ...format, command)
  }

  agent(name: string, options: FakeOptions = {}): { pane: string; log: AgentLog } {
    const file = join(this.dir, `${name}.log`)
    return { pane: this.pane(agentCommand(file, options)), log: logOf(file) }
  }

  keys(pane: string, ...keys: string[]): void {
    this.tmux('send-keys', '-t', pane, ...keys)
  }

  screen(pane: string): string {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-2000', '-t', pane)
  }

  /** Starts the watcher; it is ended with the test. */
  watch(words: readonly string[], flags: readonly string[] = ['--program', 'fake-agent']): Running {
    const running = this.run('watch', ...words, '--quiet-ms', '60', ...flags)
    onTestFinished(async () => {
      running.kill('SIGTERM')
      await running.exit
    })
    return running
  }

  run(verb: string, ...words: string[]): Running {
    const named = words.flatMap((word) => /^([a-z]\w*)(?:=|$)/.exec(word)?.[1] ?? [])
    for (const agent of named) this.logIn(agent)
    const at = ['--space', this.place, '--json']
    const socket = ['watch', 'attach'].includes(verb) ? ['--socket', this.socket] : []
    return startProcess(cli, ['tmux', verb, ...words, ...socket, ...at], {
      env: { ...(this.hub && this.env), TMUX: '', TMUX_PANE: '' },
    })
  }

  /** What the watcher is told as its space. */
  get place(): string {
    return this.hub?.url ?? this.spaceDir
  }

  /** Where the watcher keeps what it knows. */
  get stateDir(): string {
    return this.hub === undefined ? this.spaceDir : stateDirFor(this.hub.url, this.env)
  }

  /** Gives this machine the token of an agent. */
  logIn(agent: string): void {
    if (this.hub === undefined) return
    const { url, agentToken } = this.hub
    if (readLogins(this.env).some((login) => login.agent === agent)) return
    saveLogin({ url, agent, token: agentToken(agent) }, this.env)
  }

  /** What `tmux status` says of an agent at this moment. */
  doing(agent: string): string | undefined {
    return new Store(this.stateDir).heartbeat()?.agents.find((one) => one.agent === agent)?.doing
  }

  /** Whether something is on its way to an agent. */
  hasAttempt(agent: string): boolean {
    return existsSync(join(this.stateDir, 'tmux', 'attempts', `${agent}.json`))
  }

  async settled(agent: string): Promise<void> {
    await until('it is delivered', () => !this.hasAttempt(agent))
  }

  heartbeatAt(): number | undefined {
    return new Store(this.stateDir).heartbeat()?.at
  }

  workerPid(): number | undefined {
    return new Store(this.stateDir).heartbeat()?.worker.pid
  }

  async state(id: string, recipient: string): Promise<string | undefined> {
    const { receipts } = await this.space.show(id)
    return receipts.find((one) => one.recipient === recipient)?.state
  }

  /** The rungs that a recipient has climbed. */
  async ladder(id: string, recipient: string): Promise<string[]> {
    const { receipts } = await this.space.show(id)
    return receipts.find((one) => one.recipient === recipient)?.steps.map(({ state }) => state) ?? []
  }
}

/** How a shell starts the fake agent. */
export function agentCommand(file: string, options: FakeOptions = {}): string {
  const { bracketed = true, silent = false, busyFile, prompt } = options
  const flags = [
    ...(bracketed ? ['--bracketed'] : []),
    ...(silent ? ['--silent'] : []),
    ...(busyFile === undefined ? [] : ['--busy', busyFile]),
    ...(prompt === undefined ? [] : ['--prompt', `'${prompt}'`]),
  ]
  return [process.execPath, fakeAgent, file, ...flags].join(' ')
}

export function logOf(file: string): AgentLog {
  const entries = () =>
    !existsSync(file)
      ? []
      : readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.endsWith('}'))
          .map((line) => JSON.parse(line) as { submit?: string; bytes?: string; key?: number })
  return {
    file,
    submitted: () => entries().flatMap(({ submit }) => submit ?? []),
    bytes: () =>
      Buffer.from(
        entries()
          .map(({ bytes = '' }) => bytes)
          .join(''),
        'hex',
      ),
    keys: () => entries().flatMap(({ key }) => key ?? []),
  }
}
