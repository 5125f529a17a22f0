import { type Dialect, formatClaudeReply, parseClaudeEvent } from '../hook/dialect.ts'

/**
 * A Stop hook with `asyncRewake` waits for mail. With one prompt and no terminal (`claude -p`) Claude Code runs even
 * such a hook in the foreground and would never end; fed by a stream, it waits half a minute for it after its input
 * has ended. So we wait only for interactive sessions; the MCP server wakes the others (wake.ts).
 */
const isInteractive = (): boolean => process.env['CLAUDE_CODE_ENTRYPOINT'] === 'cli'

const denial = (hookEventName: string, permissionDecisionReason: string) => ({
  ...{ hookEventName, permissionDecision: 'deny', permissionDecisionReason },
})

export const claude: Dialect = {
  client: 'claude',
  tellsPid: true,
  parse(event, input) {
    const parsed = parseClaudeEvent(event, input)
    return parsed?.moment === 'wait' && !isInteractive() ? undefined : parsed
  },
  // Context at the end of a turn makes it go on. A `decision` would do so too, but its text comes twice, for good.
  format(event, { context, continueWith, refusal, ...reply }) {
    if (refusal !== undefined) return JSON.stringify({ hookSpecificOutput: denial(event, refusal) })
    const text = continueWith ?? context
    return formatClaudeReply(event, { ...reply, ...(text && { context: text }) }, 'block')
  },
  wake: 'exit',
}
