import type { CallToolResult } from '@modelcontextprotocol/server'
import { asMailboxError } from '../base/errors.ts'
import {
  type Foreign,
  fenceAll,
  plainId,
  plainLine,
  plainThreadId,
  plainType,
} from '../conversation/fence.ts'

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
  const next = hint === undefined ? '' : `\n${plainLine(hint)}`
  return { isError: true, content: [{ type: 'text', text: `${code}: ${plainLine(message)}${next}` }] }
}

/** Messages for a model: fenced. */
export const fenced = (messages: readonly Foreign[], full: boolean): string =>
  fenceAll(messages, full ? {} : { chars: briefly })

/** Facts about a message that we vouch for: ids, names and words of ours. Its content is in the fence only. */
export const factsOf = (message: Foreign) => ({
  id: plainId(message),
  from: plainLine(message.from),
  type: plainType(message.type),
  priority: message.priority,
  threadId: plainThreadId(message),
  ...(message.imported ? { imported: true } : {}),
})
