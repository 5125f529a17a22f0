import { type Call, type Dialect, textOf } from '../hook/dialect.ts'

const calls: Record<string, Omit<Call, 'sessionId'>> = {
  'session.created': { moment: 'start' },
  'chat.message': { moment: 'prompt' },
  // The prompt is our own invitation.
  'chat.invited': { moment: 'wake' },
  'tool.execute.after': { moment: 'tool' },
  'session.idle': { moment: 'stop', invites: true },
  'session.wait': { moment: 'wait' },
  'session.compacting': { moment: 'compact', isKept: true },
  'session.deleted': { moment: 'end' },
}

/** Its hooks are functions in its own process (`opencode-plugin.js`), which ask us and put the answer where it belongs. */
export const opencode: Dialect = {
  client: 'opencode',
  tellsPid: true,
  understand(event, input) {
    const call = calls[event]
    return call === undefined ? undefined : { ...call, sessionId: textOf(input['session_id']) }
  },
  say: (_, said) => JSON.stringify(said),
  silence: '{}',
  wakes: 'by-word',
}
