import { asksFor } from '../conversation/matter.ts'
import { toMarkdown } from '../conversation/render.ts'
import type { Agent } from '../model/agent.ts'
import { asking } from '../model/reach.ts'
import { estimateTokens } from '../model/text.ts'
import { blockersOf } from './blockers.ts'
import { type InboxMessage, type InboxOptions, inbox } from './inbox.ts'
import type { Source } from './message.ts'
import { isAnswerTo } from './owed.ts'
import { hasWork } from './work.ts'

/** Unread mail of an agent at one moment, in the order in which it should be read. */
export interface Unread {
  /** The last entry that was taken into account: following from here misses nothing. */
  seq: number
  /** Answers to the agent's own questions first, then the most urgent, then the oldest. */
  messages: InboxMessage[]
  /** Which of them are answers, by id. */
  answers: string[]
}

export type NextMail = Unread & {
  /** Where the rest begins, when there is more. */
  next: string | null
}

const pageSize = 1_000

/**
 * What an agent should read next, from one snapshot. Checking, waiting and briefing all choose from this, so
 * that they agree on what comes first.
 */
export function nextMail(
  source: Source,
  agent: Agent,
  filter: InboxOptions,
  now: number,
  most = Number.POSITIVE_INFINITY,
): NextMail {
  const answers: InboxMessage[] = []
  const others: InboxMessage[] = []
  let next: string | null = filter.after ?? null
  do {
    const limit = Math.min(pageSize, most - answers.length - others.length)
    const after = next === null ? {} : { after: next }
    const page = inbox(source, agent, { ...filter, unread: true, limit, ...after }, now)
    for (const message of page.messages)
      (isAnswerTo(source, agent.name, message) ? answers : others).push(message)
    next = page.next
  } while (next !== null && answers.length + others.length < most)
  return {
    seq: source.index.cursor.seq,
    messages: [...answers, ...oneTaskAtATime(source, others, hasWork(source, agent.name))],
    answers: answers.map(({ id }) => id),
    next,
  }
}

/**
 * Of the work for an agent's roles one piece is for now, if it has none in hand; the rest is for others, or later. So is
 * what comes after work that is not done.
 */
function oneTaskAtATime(source: Source, messages: readonly InboxMessage[], hasOne: boolean): InboxMessage[] {
  let isBusy = hasOne
  return messages.map((message) => {
    if (message.role === undefined || asksFor(message) !== asking.work) return message
    const isBlocked = blockersOf(source, message).length > 0
    const found = isBusy || isBlocked ? { ...message, later: true as const } : message
    isBusy ||= !isBlocked
    return found
  })
}

/** As many messages as fit a budget of tokens; at least one, however long. */
export function withinBudget(messages: readonly InboxMessage[], budgetTokens: number): InboxMessage[] {
  let left = budgetTokens
  const end = messages.findIndex((message, at) => {
    left -= estimateTokens(toMarkdown(message))
    return left < 0 && at > 0
  })
  return messages.slice(0, end < 0 ? messages.length : end)
}
