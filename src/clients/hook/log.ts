import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { toPrintableLine } from '../../model/text.ts'

const logBytes = 256 * 1_024

/**
 * What went wrong in a hook, where nobody is disturbed by it. When the log is full it becomes `hooks.log.1`,
 * in the place of the one before.
 */
export function log(space: string, words: string, problem: unknown): void {
  const path = join(space, 'hooks.log')
  const why = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
  const line = `${new Date().toISOString()} ${words} ${toPrintableLine(why).slice(0, 2_000)}\n`
  try {
    if (sizeOf(path) > logBytes) renameSync(path, `${path}.1`)
    appendFileSync(path, line, { mode: 0o600 })
  } catch {
    // Then there is nobody to tell.
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
