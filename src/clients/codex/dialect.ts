import { type Dialect, formatClaudeReply, parseClaudeEvent } from '../hook/dialect.ts'
import { queuePrompt } from './wake.ts'

export const codex: Dialect = {
  client: 'codex',
  tellsPid: false,
  parse: parseClaudeEvent,
  format: (event, reply) => formatClaudeReply(event, reply, 'block'),
  wake: queuePrompt,
}
