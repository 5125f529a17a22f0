import { readlinkSync } from 'node:fs'
import { type Call, callOf, type Dialect, sayAsJson } from '../hook/dialect.ts'

const moments: Record<string, Call['moment']> = {
  SessionStart: 'start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'tool',
  Stop: 'stop',
  SubagentStop: 'help',
  PreCompact: 'compact',
  SessionEnd: 'end',
  // How the Stop hook calls itself to wait in the background.
  Rewake: 'wait',
}

const queueTimeoutMs = 20_000

export const codex: Dialect = {
  client: 'codex',
  tellsPid: false,
  understand: (event, input) => callOf(moments[event], input),
  say: (event, said) => sayAsJson(event, said, 'block'),
  async wakes(sessionId, text, pid) {
    const { execFile } = await import('node:child_process')
    const { promisify } = await import('node:util')
    const words = ['queue', '--thread', sessionId, '--message', text]
    await promisify(execFile)(programOf(pid), words, { timeout: queueTimeoutMs })
  },
}

/** The very program that runs the session, where that can be told: it need not be the one on the PATH. */
function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return 'codex'
  }
}
