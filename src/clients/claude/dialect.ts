import { type Call, callOf, type Dialect, sayAsJson } from '../hook/dialect.ts'

const moments: Record<string, Call['moment']> = {
  // Fires for a new session, a resumed one, a cleared one, and again when the context was compacted.
  SessionStart: 'start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'tool',
  Stop: 'stop',
  SubagentStop: 'help',
  PreCompact: 'compact',
  SessionEnd: 'end',
  // No event of its own: the name under which a Stop hook with `asyncRewake` calls us. It ends with 2 and its
  // text on standard error when mail comes, which wakes an idle session.
  Rewake: 'wait',
}

/**
 * With one prompt and no terminal (`claude -p`) it runs even such a hook in the foreground, and would never
 * end; fed by a stream it waits half a minute for it when its input has ended. So only a session that somebody
 * sits at is waited for; the others are rung by the MCP server.
 */
const mayWait = (): boolean => process.env['CLAUDE_CODE_ENTRYPOINT'] === 'cli'

export const claude: Dialect = {
  client: 'claude',
  tellsPid: true,
  understand(event, input) {
    const call = callOf(moments[event], input)
    return call?.moment === 'wait' && !mayWait() ? undefined : call
  },
  say: (event, said) => sayAsJson(event, said, 'block'),
  wakes: 'by-exit',
}
