import type { CallToolResult } from '@modelcontextprotocol/server'
import { asMailboxError } from '../base/errors.ts'
import { fence } from '../conversation/fence.ts'
import type { Message } from '../model/message.ts'
import { toPrintableLine } from '../model/text.ts'

/** Characters of one message unless all of it was asked for. */
const briefly = 2_000

/**
 * An answer of ours: text for the model, and facts for programs. The text stands among the facts as well: clients
 * (Claude Code, Codex) show their model nothing but the structured part where there is one.
 */
export const answer = (text: string, facts: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { text, ...facts },
})

/** What went wrong, and what to do next. */
export function failure(thrown: unknown): CallToolResult {
  const { code, message, hint } = asMailboxError(thrown)
  const next = hint === undefined ? '' : `\n${toPrintableLine(hint)}`
  return { isError: true, content: [{ type: 'text', text: `${code}: ${toPrintableLine(message)}${next}` }] }
}

/** Messages as a model may see them: fenced. */
export const fenced = (messages: readonly Message[], full: boolean): string =>
  messages.map((message) => fence(message, full ? {} : { chars: briefly })).join('\n\n')

/** Facts about a message that are ours to vouch for; what it says stands in the fence alone. */
export const factsOf = ({ id, from, type, priority, threadId }: Message) => ({
  id,
  from,
  type,
  priority,
  threadId,
})
