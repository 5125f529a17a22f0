import { type Call, type Dialect, sayAsJson, textOf } from './dialect.ts'

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
    const moment = moments[event]
    // What a subagent's hook says goes to the subagent, which cannot act for the agent whose mail it is.
    const isAside = input['agent_id'] !== undefined && moment !== 'help'
    if (moment === undefined || isAside || (moment === 'wait' && !mayWait())) return undefined
    return { moment, sessionId: textOf(input['session_id']) }
  },
  say: (event, said) => sayAsJson(event, said, 'block'),
  wakes: 'by-exit',
}
