import { spawnSync } from 'node:child_process'
import { quoteForShell } from '../../base/shell.ts'

export interface Failed {
  command: string[]
  reason: string
}

/** Runs commands one after the other, up to one that fails. */
export function runAll(commands: readonly string[][]): Failed | undefined {
  for (const command of commands) {
    const [program, ...words] = command
    const { status, stderr, error } = spawnSync(program!, words, { encoding: 'utf8' })
    if (status !== 0)
      return { command, reason: error?.message ?? (stderr.trim().split('\n')[0] || `exit code ${status}`) }
  }
  return undefined
}

/** A command, ready to copy. */
export const toLine = (command: readonly string[]): string => command.map(quoteForShell).join(' ')
