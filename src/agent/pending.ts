import { fence, fenceLegend } from '../conversation/fence.ts'
import { newNonce } from '../conversation/nonce.ts'
import type { PriorityInput } from '../model/message.ts'
import { estimateTokens } from '../model/text.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

export interface PendingOptions {
  /** @default 'low': everything */
  minPriority?: PriorityInput
  /** How many messages at most. @default 5 */
  limit?: number
  /** How many characters of each message at most. @default 500 */
  chars?: number
  /** How long the text may be, estimated in tokens. @default 2000 */
  budgetTokens?: number
}

/**
 * The unread mail of an agent to put before a prompt, the most urgent first, fenced. What it returns counts as
 * shown. Empty when there is none.
 */
export async function pendingContext(mailbox: Mailbox, options: PendingOptions = {}): Promise<string> {
  const { minPriority = 'low', limit = 5, chars = 500, budgetTokens = 2_000 } = options
  // What is taken counts as shown, so take only as many as have room for a few words each.
  const fitting = Math.max(1, Math.floor((budgetTokens - frameTokens) / leastTokens))
  const { messages, remaining } = await mailbox.check({
    minPriority,
    limit: Math.min(limit, fitting),
    budgetTokens: Number.MAX_SAFE_INTEGER,
  })
  if (messages.length === 0) return ''
  const nonce = newNonce()
  const blocks: string[] = []
  let left = budgetTokens - frameTokens
  for (const [at, message] of messages.entries()) {
    const share = Math.floor(left / (messages.length - at)) - headTokens
    const block = fitted(message, nonce, Math.min(chars, share * 4), share + headTokens)
    left -= estimateTokens(block)
    blocks.push(block)
  }
  const more = remaining.unread === 0 ? [] : [`${remaining.unread} more unread: mailbox check`]
  return [mailHeading, fenceLegend(nonce), ...blocks, ...more].join('\n\n')
}

/** The heading above fenced mail. */
export const mailHeading = '## Mail for you'

/** What the frame and the head of each block cost at most, and the least that is worth showing. */
const frameTokens = 60
export const headTokens = 95
const leastTokens = headTokens + 10

/** A fenced message of at most so many tokens. A character can be more than one byte, so it may take a few tries. */
export function fitted(
  message: Parameters<typeof fence>[0],
  nonce: string,
  chars: number,
  tokens: number,
): string {
  for (let room = Math.max(chars, 20); ; room = Math.floor(room * 0.7)) {
    const block = fence(message, { nonce, chars: room })
    if (estimateTokens(block) <= tokens || room <= 20) return block
  }
}
