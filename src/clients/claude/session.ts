import { homedir } from 'node:os'
import { join } from 'node:path'
import { readJsonIfAny } from '../../base/files.ts'
import { textOf } from '../hook/dialect.ts'

/** What Claude Code says about its session, beside its settings. */
interface ClaudeSession {
  id: string | undefined
  /** It waits for a prompt. */
  isIdle: boolean
}

/**
 * The session of a Claude Code process. Undefined for other clients, and while Claude Code does not know it itself:
 * it starts with an id of its own making, which `--continue` replaces before it has a status.
 */
export function claudeSession(pid: number): ClaudeSession | undefined {
  const home = process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude')
  const file = join(home, 'sessions', `${pid}.json`)
  const { sessionId, status } = readJsonIfAny<{ sessionId?: unknown; status?: unknown }>(file) ?? {}
  if (textOf(status) === undefined) return undefined
  return { id: textOf(sessionId), isIdle: status === 'idle' }
}
