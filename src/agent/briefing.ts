import { fenceLegend } from '../conversation/fence.ts'
import { opens, reportOf } from '../conversation/matter.ts'
import { newNonce } from '../conversation/nonce.ts'
import { typeOf } from '../conversation/registry.ts'
import { priorityRank } from '../model/message.ts'
import { estimateTokens } from '../model/text.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { fitted, headTokens, mailHeading } from './pending.ts'
import { promptFor } from './prompt.ts'
import { recall } from './recall.ts'

/**
 * What an agent is told without asking, and when:
 *
 * - `start`: who it is in the mailbox and how that works, what it is working on, everything unread
 * - `prompt`: everything unread
 * - `tool`: what cannot wait for the end of the turn: high and urgent mail, and answers to its questions
 * - `stop`: before it goes idle, what is worth another turn
 * - `wake`: while it is idle, the same
 */
export type Moment = 'start' | 'prompt' | 'tool' | 'stop' | 'wake'

export interface BriefOptions {
  /** How long the text may be, estimated in tokens. @default 2000 */
  budgetTokens?: number
  /** Start with what a compacted context has lost: what is in progress, owed and awaited. @default false */
  recall?: boolean
  /** The last run was killed, and may not have dealt with what it was shown since then, in ms. */
  killedSince?: number | undefined
  /** Called with the mail that is about to be marked as shown. */
  onTake?: (ids: readonly string[]) => void
}

export interface Briefing {
  /** Empty when there is nothing to say. */
  text: string
  /** The mail in it, now marked as shown. */
  ids: string[]
  /** The numbers of the claims that were made for it, by id: of mail to a role. */
  claims: Map<string, number>
}

/** Claude Code moves more than 10,000 characters to a file, Codex more than 2,500 tokens. */
const defaultBudget = 2_000
/** For one message, so that a long one leaves room for others. */
const messageTokens = 700

/**
 * What to put into an agent's context at a moment, fenced, the most important first, within a budget. Only what
 * fits is taken, and it counts as shown: the caller must put the text there.
 */
export async function brief(mailbox: Mailbox, moment: Moment, options: BriefOptions = {}): Promise<Briefing> {
  const { budgetTokens = defaultBudget, onTake = () => {}, killedSince } = options
  const { unread, wanted } = await look(mailbox, moment)
  const nonce = newNonce()
  const prompt = moment === 'start' ? [promptFor(await mailbox.agent())] : []
  const isRecalled = moment === 'start' || options.recall
  const parts = isRecalled ? await recall(mailbox, { nonce, killedSince }) : []
  const spent = [...prompt, ...parts].reduce((sum, part) => sum + estimateTokens(part) + 1, 0)
  const blocks = blocksWithin(wanted, nonce, budgetTokens - spent - frameTokens)
  onTake([...blocks.keys()])
  const taken = await mailbox.takeAll([...blocks.keys()])
  if (taken.length > 0) parts.push(mailHeading, ...taken.map(({ id }) => blocks.get(id)!))
  const legend = parts.length > 0 ? [fenceLegend(nonce)] : []
  // Mail that can wait is not worth mentioning by itself.
  if (unread.length > taken.length && (taken.length > 0 || moment === 'start' || moment === 'prompt'))
    parts.push(`${(await mailbox.count()).unread} more unread: mailbox check`)
  const claims = taken.flatMap(({ id, claimNumber }) => (claimNumber ? [[id, claimNumber] as const] : []))
  return {
    text: [...prompt, ...legend, ...parts].join('\n\n'),
    ids: taken.map(({ id }) => id),
    claims: new Map(claims),
  }
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
  const { messages, answers } = await mailbox.unread()
  const unread = messages.filter(({ later }) => !later)
  if (moment === 'start' || moment === 'prompt') return { unread, wanted: unread }
  const isWanted = (message: InboxMessage) =>
    moment === 'tool'
      ? answers.includes(message.id) || priorityRank(message.priority) >= priorityRank('high')
      : isWorthATurn(message, answers)
  return { unread, wanted: unread.filter(isWanted) }
}

/** The heading and the line about the rest. */
const frameTokens = 60

/**
 * Whether mail is worth a turn of its own: an agent sees it before it goes idle, and is woken for it. That is mail
 * that asks for something, that the agent waits for, or that its sender calls urgent. Everything else comes with the
 * next prompt: a turn costs money. `answers` are the ids of unread answers to the agent's questions.
 */
export const isWorthATurn = (message: InboxMessage, answers: readonly string[]): boolean =>
  message.priority === 'urgent' ||
  message.requiresAck ||
  opens(message) !== undefined ||
  answers.includes(message.id) ||
  isOutcome(message)

/** Only whoever asked gets these: a verdict or another answer of its own type, and the end of a task. */
const isOutcome = (message: InboxMessage): boolean =>
  typeOf(message.type)?.answers !== undefined || reportOf(message) !== undefined

/** The unread mail that is worth a turn and that nobody has announced yet. */
export async function worthATurn(mailbox: Mailbox): Promise<InboxMessage[]> {
  const { messages, answers } = await mailbox.unread()
  return messages.filter(
    (message) => message.state === 'stored' && !message.later && isWorthATurn(message, answers),
  )
}

/** As many messages as fit, by id, cut when they are long. The first always fits. */
function blocksWithin(messages: readonly InboxMessage[], nonce: string, tokens: number): Map<string, string> {
  const blocks = new Map<string, string>()
  let left = tokens
  for (const message of messages) {
    const most = Math.max(Math.min(messageTokens, left), headTokens)
    const block = fitted(message, nonce, (most - headTokens) * 4, most)
    const cost = estimateTokens(block) + 1
    if (cost > left && blocks.size > 0) break
    left -= cost
    blocks.set(message.id, block)
  }
  return blocks
}

/** What to do with mail that keeps an agent from stopping. */
export const goOnRequest =
  'Deal with this mail before you stop: do what it asks or say why not, and reply where somebody is waiting.'
