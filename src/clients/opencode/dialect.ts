import { type Dialect, type HookEvent, isTaking, textOf } from '../hook/dialect.ts'

const events: Record<string, Omit<HookEvent, 'sessionId'>> = {
  'session.created': { moment: 'start' },
  'chat.message': { moment: 'prompt' },
  // The prompt is our own announcement of mail.
  'chat.invited': { moment: 'wake' },
  // The plugin asks only about the calls of subagents.
  'tool.execute.before': { moment: 'call', fromSubagent: true },
  'tool.execute.after': { moment: 'tool' },
  'session.idle': { moment: 'stop', announceOnly: true },
  'session.wait': { moment: 'wait' },
  'session.compacting': { moment: 'compact', survivesCompaction: true },
  'session.deleted': { moment: 'end' },
}

/** Its hooks are functions in its own process (`opencode-plugin.js`), which call us and pass our reply on. */
export const opencode: Dialect = {
  client: 'opencode',
  tellsPid: true,
  parse(event, input) {
    const known = events[event]
    if (known === undefined || (known.moment === 'call' && !isTaking(input))) return undefined
    return { ...known, sessionId: textOf(input['session_id']) }
  },
  format: (_, reply) => JSON.stringify(reply),
  emptyReply: '{}',
  wake: 'print',
}
