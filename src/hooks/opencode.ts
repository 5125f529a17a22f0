import { type Call, type Dialect, textOf } from './dialect.ts'

const moments: Record<string, Call['moment']> = {
  'session.created': 'start',
  'chat.message': 'prompt',
  'tool.execute.after': 'tool',
  'session.idle': 'stop',
  'session.compacting': 'compact',
  'session.deleted': 'end',
}

/** Its hooks are functions in its own process (`opencode-plugin.js`), which ask us and put the answer where it belongs. */
export const opencode: Dialect = {
  client: 'opencode',
  tellsPid: true,
  understand(event, input) {
    const moment = moments[event]
    return moment === undefined ? undefined : { moment, sessionId: textOf(input['session_id']) }
  },
  say: (_, said) => (Object.keys(said).length === 0 ? '' : JSON.stringify(said)),
}
