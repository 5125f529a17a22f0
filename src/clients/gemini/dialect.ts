import { createHash } from 'node:crypto'
import {
  type Dialect,
  formatClaudeReply,
  type HookEvent,
  type HookInput,
  isTaking,
  textOf,
} from '../hook/dialect.ts'

const moments: Record<string, HookEvent['moment']> = {
  SessionStart: 'start',
  BeforeAgent: 'prompt',
  BeforeTool: 'call',
  AfterTool: 'tool',
  AfterAgent: 'stop',
  PreCompress: 'compact',
  SessionEnd: 'end',
}

/** The tool that runs a subagent. The hooks of what the subagent does say nothing about it. */
export const subagentTool = 'invoke_agent'

/** The same before and after: what the subagent was told to do. */
const delegationOf = ({ tool_input: task }: HookInput): string =>
  createHash('sha256')
    .update(JSON.stringify(task) ?? '')
    .digest('hex')
    .slice(0, 16)

export const gemini: Dialect = {
  client: 'gemini',
  tellsPid: false,
  parse(event, input) {
    const moment = moments[event]
    // Gemini CLI fires this before every model call, and usually does not compress. hook.sh filters those out,
    // but `mailbox hook` can still be called with them.
    const isAutomatic = moment === 'compact' && input['trigger'] !== 'manual'
    if (moment === undefined || isAutomatic) return undefined
    const sessionId = textOf(input['session_id'])
    const isDelegation = input['tool_name'] === subagentTool && (moment === 'call' || moment === 'tool')
    if (isDelegation) {
      const delegation = delegationOf(input)
      return { moment: moment === 'call' ? 'delegate' : 'tool', sessionId, delegation }
    }
    if (moment === 'call' && !isTaking(input)) return undefined
    // It puts what we say at the start before the first prompt, and leaves that message out of a resumed session: the
    // prompt and our mail would both be lost. What we say at a prompt comes after it, and stays.
    return { moment, sessionId, leftToPrompt: moment === 'start' }
  },
  format: (event, { refusal, ...reply }) =>
    refusal === undefined
      ? formatClaudeReply(event, reply, 'deny')
      : JSON.stringify({ decision: 'deny', reason: refusal }),
}
