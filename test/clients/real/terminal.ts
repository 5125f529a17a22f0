import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { onTestFailed, onTestFinished } from 'vitest'
import { needTool } from '../../helpers/tools.ts'
import { until } from '../../helpers/wait.ts'

export interface Terminal {
  screen(): string
  /** Resolves when the screen holds this. */
  shows(words: string | RegExp): Promise<void>
  /** Types a line and ends it. */
  type(line: string): Promise<void>
  /** Ends the program, at the latest when the test is over. */
  close(): Promise<void>
}

/** Runs a program in a terminal of its own, gone when the test is over. */
export function openTerminal(
  words: readonly string[],
  { cwd, env, temp }: { cwd: string; env: Record<string, string>; temp: string },
): Terminal {
  needTool('tmux')
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', join(temp, 'tmux'), '-f', '/dev/null', ...args], { env, encoding: 'utf8' })
  tmux('new-session', '-d', '-x', '140', '-y', '40', '-c', cwd, ...words)
  const pid = Number(tmux('list-panes', '-F', '#{pane_pid}'))
  let isOpen = true
  let last = ''
  const close = async () => {
    if (isOpen) {
      last = screen()
      tmux('kill-server')
    }
    isOpen = false
    // Gone before its home is removed: a program that is told to end writes until it has.
    await until(() => !isThere(pid))
  }
  onTestFinished(close)
  const screen = () => tmux('capture-pane', '-p')
  // What hangs says why on its screen.
  onTestFailed(() => console.error(last.replaceAll(/\n+/g, '\n')))
  return {
    screen,
    close,
    async shows(expected) {
      const isShown = () =>
        typeof expected === 'string' ? screen().includes(expected) : expected.test(screen())
      await until(isShown)
    },
    async type(line) {
      tmux('send-keys', '-l', line)
      // A terminal program takes what comes at once for a paste, and its Enter for a part of it. A program that is
      // still starting reads late: only what it shows has been read.
      await until(() => screen().includes(line))
      tmux('send-keys', 'Enter')
    },
  }
}

/** Ends a process for good; false when there is none any more. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
