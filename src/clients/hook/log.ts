import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'

const maxBytes = 256 * 1_024

/** Logs what went wrong in a hook, without disturbing the client. A full log becomes `hooks.log.1`. */
export function log(space: string, hook: string, problem: unknown): void {
  const path = join(space, 'hooks.log')
  const reason = reasonOf(problem)
  const line = `${new Date().toISOString()} ${hook} ${toPrintableLine(reason).slice(0, 2_000)}\n`
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (size > maxBytes) renameSync(path, `${path}.1`)
    appendFileSync(path, line, { mode: 0o600 })
  } catch {
    // There is nowhere left to report it.
  }
}

/** Where it happened is of interest only if nobody expected it. */
function reasonOf(problem: unknown): string {
  if (problem instanceof MailboxError && problem.code !== 'internal')
    return `${problem.code}: ${problem.message}`
  return problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
}
