import { type Dialect, formatClaudeReply, type HookEvent, textOf } from '../hook/dialect.ts'

const moments: Record<string, HookEvent['moment']> = {
  SessionStart: 'start',
  BeforeAgent: 'prompt',
  AfterTool: 'tool',
  AfterAgent: 'stop',
  PreCompress: 'compact',
  SessionEnd: 'end',
}

export const gemini: Dialect = {
  client: 'gemini',
  tellsPid: false,
  parse(event, input) {
    const moment = moments[event]
    // Gemini CLI fires this before every model call, and usually does not compress. hook.sh filters those out,
    // but `mailbox hook` can still be called with them.
    const isAutomatic = moment === 'compact' && input['trigger'] !== 'manual'
    if (moment === undefined || isAutomatic) return undefined
    return { moment, sessionId: textOf(input['session_id']) }
  },
  format: (event, reply) => formatClaudeReply(event, reply, 'deny'),
}
