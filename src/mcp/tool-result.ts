import type { CallToolResult } from '@modelcontextprotocol/server'
import { asMailboxError } from '../base/errors.ts'
import { fence } from '../conversation/fence.ts'
import type { Message } from '../model/message.ts'
import { toPrintableLine } from '../model/text.ts'

/** Characters of one message, unless the full text was requested. */
const briefly = 2_000

/**
 * A result: text for the model, and facts for programs. The facts contain the text as well, because Claude Code and
 * Codex show their model only the structured part where there is one.
 */
export const answer = (text: string, facts: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { text, ...facts },
})

/** An error as a result: what went wrong, and what to do next. */
export function failure(thrown: unknown): CallToolResult {
  const { code, message, hint } = asMailboxError(thrown)
  const next = hint === undefined ? '' : `\n${toPrintableLine(hint)}`
  return { isError: true, content: [{ type: 'text', text: `${code}: ${toPrintableLine(message)}${next}` }] }
}

/** Messages for a model: fenced. */
export const fenced = (messages: readonly Message[], full: boolean): string =>
  messages.map((message) => fence(message, full ? {} : { chars: briefly })).join('\n\n')

/** Facts about a message that we vouch for. Its content is in the fence only. */
export const factsOf = ({ id, from, type, priority, threadId }: Message) => ({
  id,
  from,
  type,
  priority,
  threadId,
})
