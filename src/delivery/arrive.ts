import { toMarkdown } from '../conversation/render.ts'
import type { Agent } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import { classOf } from '../model/receipt.ts'
import { estimateTokens } from '../model/text.ts'
import { type InboxMessage, type InboxOptions, inbox } from '../query/inbox.ts'
import type { Source } from '../query/message.ts'

/** Messages that an entry may have made unread for somebody: a new one, or those that were given back. */
export function arrivals(entry: Entry): number[] {
  if (entry.kind === 'message') return [entry.seq]
  if (entry.kind !== 'receipt') return []
  return entry.changes
    .filter(({ state, was }) => was !== undefined && classOf(state) === 'unread' && classOf(was) !== 'unread')
    .map(({ seq }) => seq)
}

/** All unread mail of an agent, page by page. */
export function unreadNow(source: Source, agent: Agent, filter: InboxOptions, now: number): InboxMessage[] {
  const found: InboxMessage[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = inbox(
      source,
      agent,
      { ...filter, unread: true, limit: 1_000, ...(after === undefined ? {} : { after }) },
      now,
    )
    found.push(...page.messages)
    after = page.next
  }
  return found
}

/** As many messages as fit a budget of tokens; at least one, however long. */
export function withinBudget(messages: readonly InboxMessage[], budgetTokens: number): InboxMessage[] {
  let left = budgetTokens
  const fitting: InboxMessage[] = []
  for (const message of messages) {
    left -= estimateTokens(toMarkdown(message))
    if (left < 0 && fitting.length > 0) break
    fitting.push(message)
  }
  return fitting
}
