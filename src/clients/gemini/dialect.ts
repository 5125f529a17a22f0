import { type Call, type Dialect, sayAsJson, textOf } from '../hook/dialect.ts'

const moments: Record<string, Call['moment']> = {
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
  understand(event, input) {
    const moment = moments[event]
    // By itself it asks before every call of the model whether to compress, and mostly does not. It does not
    // get here then (hook.sh), unless somebody calls the verb.
    const isMaybe = moment === 'compact' && input['trigger'] !== 'manual'
    if (moment === undefined || isMaybe) return undefined
    return { moment, sessionId: textOf(input['session_id']) }
  },
  say: (event, said) => sayAsJson(event, said, 'deny'),
}
