import { fence } from '../conversation/fence.ts'
import { isQuiet } from '../conversation/registry.ts'
import { type Priority, priorityRank } from '../model/message.ts'
import { classOf } from '../model/receipt.ts'
import { estimateTokens } from '../model/text.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { fitted, headTokens, mailHeading } from './pending.ts'
import { promptFor } from './prompt.ts'

/**
 * What an agent is told without asking, and when:
 *
 * - `start`: who it is in the mailbox and how that works, what it is working on, everything unread
 * - `prompt`: everything unread
 * - `tool`: what cannot wait for the end of the turn: high and urgent mail, and answers to its questions
 * - `stop`: what it should see before it goes idle
 * - `wake`: what is worth a turn of its own; the same as `stop`
 */
export type Moment = 'start' | 'prompt' | 'tool' | 'stop' | 'wake'

export interface BriefOptions {
  /** How long the text may be, estimated in tokens. @default 2000 */
  budgetTokens?: number
  /** Start with what a compacted context has lost: what is in progress, owed and awaited. @default false */
  recall?: boolean
  /** Called with the mail that is about to be marked as shown. */
  onTake?: (ids: readonly string[]) => void
}

export interface Briefing {
  /** Empty when there is nothing to say. */
  text: string
  /** The mail in it, now marked as shown. */
  ids: string[]
}

/** Claude Code moves more than 10,000 characters to a file, Codex more than 2,500 tokens. */
const defaultBudget = 2_000
/** For one message, so that a long one leaves room for others. */
const messageTokens = 700
const recallTokens = 120
const recallsAtMost = 4

/**
 * What to put into an agent's context at a moment, fenced, the most important first, within a budget. Only what
 * fits is taken, and it counts as shown: the caller must put the text there.
 */
export async function brief(mailbox: Mailbox, moment: Moment, options: BriefOptions = {}): Promise<Briefing> {
  const { budgetTokens = defaultBudget, onTake = () => {} } = options
  const parts: string[] = []
  if (moment === 'start') parts.push(promptFor(await mailbox.agent()))
  if (moment === 'start' || options.recall) parts.push(...(await recall(mailbox)))
  const spent = parts.reduce((sum, part) => sum + estimateTokens(part) + 1, 0)
  const { unread, wanted } = await look(mailbox, moment)
  const blocks = blocksWithin(wanted, budgetTokens - spent - frameTokens)
  onTake([...blocks.keys()])
  const taken = await mailbox.takeAll([...blocks.keys()])
  if (taken.length > 0) parts.push(mailHeading, ...taken.map(({ id }) => blocks.get(id)!))
  // Mail that can wait is not worth mentioning by itself.
  if (unread.length > taken.length && (taken.length > 0 || moment === 'start' || moment === 'prompt'))
    parts.push(`${(await mailbox.count()).unread} more unread: mailbox check`)
  return { text: parts.join('\n\n'), ids: taken.map(({ id }) => id) }
}

/** Whether there is mail for a moment. Marks nothing. */
export const hasWord = async (mailbox: Mailbox, moment: Moment): Promise<boolean> =>
  (await look(mailbox, moment)).wanted.length > 0

/** What is unread, and what of it suits the moment: answers first, then the most urgent. */
async function look(
  mailbox: Mailbox,
  moment: Moment,
): Promise<{ unread: InboxMessage[]; wanted: InboxMessage[] }> {
  await mailbox.touch()
  const { messages: unread, answers } = await mailbox.unread()
  const wanted = unread.filter((message) => answers.includes(message.id) || isFor(moment, message))
  return { unread, wanted }
}

/** The heading and the line about the rest. */
const frameTokens = 60

const atLeast = (message: InboxMessage, priority: Priority) =>
  priorityRank(message.priority) >= priorityRank(priority)

function isFor(moment: Moment, message: InboxMessage): boolean {
  if (moment === 'tool') return atLeast(message, 'high')
  return moment === 'start' || moment === 'prompt' || isWorthATurn(message)
}

/** Whether an agent should see it before going idle, and is woken for it. */
export const isWorthATurn = (message: InboxMessage): boolean =>
  atLeast(message, 'high') || (atLeast(message, 'normal') && !isQuiet(message.type))

/** As many messages as fit, by id, cut when they are long. The first always fits. */
function blocksWithin(messages: readonly InboxMessage[], tokens: number): Map<string, string> {
  const blocks = new Map<string, string>()
  let left = tokens
  for (const message of messages) {
    const most = Math.max(Math.min(messageTokens, left), headTokens)
    const block = fitted(message, (most - headTokens) * 4, most)
    const cost = estimateTokens(block) + 1
    if (cost > left && blocks.size > 0) break
    left -= cost
    blocks.set(message.id, block)
  }
  return blocks
}

/** What an agent is working on, what it owes and what it waits for. */
export async function recall(mailbox: Mailbox): Promise<string[]> {
  const { messages } = await mailbox.inbox({ limit: 200 })
  const inHand = messages.filter(
    ({ state, role }) => classOf(state) === 'open' && (state !== 'shown' || role),
  )
  const owed = (await mailbox.owed()).filter(({ id }) => !inHand.some((message) => message.id === id))
  const awaited = await mailbox.awaited({ kind: 'question' })
  const matters: { why: string; id: string }[] = [
    ...inHand.map(({ id, state }) => ({ why: `You are working on this (${state}):`, id })),
    ...owed.map(({ id, kind }) => ({ why: `This ${kind} is waiting for you:`, id })),
    ...awaited.map(({ id }) => ({ why: 'You sent this and are waiting for an answer:', id })),
  ]
  if (matters.length === 0) return []
  const lines: string[] = ['## Still open']
  for (const { why, id } of matters.slice(0, recallsAtMost)) {
    const { message } = await mailbox.show(id)
    lines.push(`${why}\n${fence(message, { chars: recallTokens * 2 })}`)
  }
  const rest = matters.length - recallsAtMost
  if (rest > 0) lines.push(`${rest} more: mailbox owed`)
  return lines
}

/** What to do with mail that keeps an agent from stopping. */
export const goOnRequest =
  'Deal with this mail before you stop: do what it asks or say why not, and reply where somebody is waiting.'
