import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { until } from '../helpers/wait.ts'

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

export interface ShellOptions {
  width?: number
  height?: number
  /** More variables, as a shell reads them. */
  environment?: string
  agents?: readonly string[]
}

/** A person at a shell in a terminal, with the command line on a space of its own. */
export class Shell {
  readonly dir = tempDir()
  readonly space: DiskSpace

  static async open(options: ShellOptions = {}): Promise<Shell> {
    const { agents = ['ada', 'bob'] } = options
    needTool('tmux')
    const shell = new Shell(await openDisk({ dir: tempDir(), settings: testSettings }))
    onTestFinished(async () => {
      await shell.space.close()
      shell.#tmux('kill-server')
    })
    for (const name of agents) await shell.space.join(name, { roles: ['worker'] })
    shell.#start(options)
    await shell.shows('ready$')
    return shell
  }

  private constructor(space: DiskSpace) {
    this.space = space
  }

  #start({ width = 80, height = 24, environment = '' }: ShellOptions): void {
    const own = `HOME='${this.dir}' MAILBOX_SPACE='${this.space.dir}'`
    const unset = '-u PAGER -u MAILBOX_PAGER -u LESS -u EDITOR -u VISUAL -u NO_COLOR -u MAILBOX_AGENT'
    const command = `env ${unset} ${own} ${environment} PS1='ready$ ' sh`
    this.#tmux('new-session', '-d', '-s', 'shell', '-x', `${width}`, '-y', `${height}`, command)
  }

  #tmux(...words: string[]): string {
    const env = { ...process.env, TMUX: '', LC_ALL: 'C.UTF-8' }
    const at = ['-u', '-S', join(this.dir, 'tmux'), '-f', '/dev/null']
    return execFileSync('tmux', [...at, ...words], { encoding: 'utf8', env }).trimEnd()
  }

  lines = (): string[] => this.#tmux('capture-pane', '-p', '-t', 'shell').split('\n')
  screen = (): string => this.lines().join('\n')
  /** With the codes of its colours. */
  painted = (): string => this.#tmux('capture-pane', '-e', '-p', '-t', 'shell')

  async shows(text: string | RegExp): Promise<void> {
    const isThere = () => (typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen()))
    await until(`the screen shows ${text}`, isThere).catch((error: unknown) => {
      throw new Error(`${String(error)}; it shows:\n${this.screen()}`)
    })
  }

  async hides(text: string): Promise<void> {
    await until(`the screen hides ${text}`, () => !this.screen().includes(text))
  }

  press = (...keys: string[]): void => void this.#tmux('send-keys', '-t', 'shell', ...keys)
  type = (text: string): void => void this.#tmux('send-keys', '-t', 'shell', '-l', text)
  enter = (line: string): void => {
    this.type(line)
    this.press('Enter')
  }

  /** Runs the command line on a clear screen. */
  mailbox = (words: string): void => this.enter(`clear; ${this.command(words)}`)
  command = (words: string): string => `'${process.execPath}' '${cli}' ${words}`

  resize = (width: number, height: number): void =>
    void this.#tmux('resize-window', '-t', 'shell', '-x', `${width}`, '-y', `${height}`)
}
