import { MailboxError } from '../../base/errors.ts'
import { decideShow } from '../../command/take.ts'
import { priorities } from '../../model/message.ts'
import { classOf, type ReceiptChange } from '../../model/receipt.ts'
import { count, type UnreadCount } from '../../query/count.ts'
import { cursorAfter, type InboxMessage } from '../../query/inbox.ts'
import { withSignatures } from '../../query/keys.ts'
import { newestClaim, requireSeq } from '../../query/message.ts'
import { nextMail, withinBudget } from '../../query/next-mail.ts'
import { unreadFor } from '../../query/standing.ts'
import type { Checked, CheckOptions } from './api.ts'
import { handle, lastSeq } from './handling.ts'
import { bePresent, type Holder, lookIn, queryAs, standingOf } from './looking.ts'
import { traceDelivery } from './trace.ts'

/** How far into the unread mail `check` looks for what fits. */
const checkDepth = 200

export async function check(holder: Holder, options: CheckOptions): Promise<Checked> {
  const { budgetTokens = 2_000, limit = checkDepth, ...filter } = options
  if (!(budgetTokens > 0))
    throw new MailboxError('invalid', 'budgetTokens must be a number above 0', { hint: 'try 2000' })
  const found = await lookIn(holder, (source, agent, now) => ({
    ...nextMail(source, agent, filter, now, Math.max(limit, checkDepth)),
    unread: count(source, agent, now),
  }))
  const forNow = found.messages.filter((message) => !message.later)
  const chosen = withinBudget(forNow.slice(0, limit), budgetTokens)
  const messages = await take(holder, chosen, true)
  // What somebody else took in the meantime is not ours to count.
  const remaining =
    messages.length === chosen.length ? without(found.unread, messages) : await queryAs(holder, count)
  const isCut = chosen.length < forNow.length
  const last = chosen.findLast(({ id }) => !found.answers.includes(id))
  const next = !isCut ? found.next : last === undefined ? (filter.after ?? null) : cursorAfter(last)
  const later = found.messages.length - forNow.length
  return { messages, remaining, next, ...(later > 0 ? { later } : {}) }
}

function without({ unread, byPriority }: UnreadCount, taken: readonly InboxMessage[]): UnreadCount {
  const left = priorities.map((priority) => {
    const gone = taken.filter((message) => message.priority === priority).length
    return [priority, byPriority[priority] - gone] as const
  })
  return { unread: unread - taken.length, byPriority: Object.fromEntries(left) as UnreadCount['byPriority'] }
}

export async function read(holder: Holder, id: string): Promise<InboxMessage> {
  const { message: found, state, isMine } = await standingOf(holder, id, 0)
  const [message = found] = await holder.core.query((source) => withSignatures(source, [found]))
  if (!isMine || classOf(state) !== 'unread') return { ...message, state }
  const { message: _, ...shown } = await handle(holder, 'shown', message.id)
  traceDelivery(holder.name, [message])
  return { ...message, ...shown }
}

/** Marks messages as shown; returns those that were still there to take. `oneTask`: see {@link decideShow}. */
export async function take(
  holder: Holder,
  messages: readonly InboxMessage[],
  oneTask = false,
): Promise<InboxMessage[]> {
  if (messages.length === 0) return []
  const { core, name, inTime } = holder
  await bePresent(holder)
  const ids = messages.map(({ id }) => id)
  const decided = await core.decide('index', (view, context) => {
    inTime?.(view)
    return { drafts: decideShow(view, name, ids, context, { oneTask }), result: view.directory.seq }
  })
  const changes = decided.placed.flatMap(({ entry }) => (entry.kind === 'receipt' ? entry.changes : []))
  const shown = new Set(changes.map(({ seq }) => seq))
  const numbers = await claimsMade(holder, changes, lastSeq(decided))
  const taken = await core.query((source) =>
    withSignatures(
      source,
      messages.filter(({ seq }) => shown.has(seq)),
    ),
  )
  traceDelivery(name, taken)
  return taken.map((message) => ({ ...message, state: 'shown', ...numbers.get(message.seq) }))
}

/** The numbers of the claims with which mail to a role was taken, by the seq of the message; the mailbox remembers them. */
export async function claimsMade(
  { core, name, claims }: Holder,
  changes: readonly ReceiptChange[],
  upTo: number,
): Promise<Map<number, { claimNumber: number }>> {
  const numbers = new Map<number, { claimNumber: number }>()
  const claimed = changes.filter(({ owner, box }) => owner !== box)
  if (claimed.length === 0) return numbers
  await core.query((source) => {
    for (const { id, seq } of claimed) {
      const claimNumber = newestClaim(source, name, seq, upTo)
      if (claimNumber === undefined) continue
      numbers.set(seq, { claimNumber })
      claims?.set(id, claimNumber)
    }
  })
  return numbers
}

/** Takes what was chosen for an agent's context; of the work for its roles, one piece at a time. */
export async function takeAll(
  holder: Holder,
  ids: readonly string[],
  oneTask = true,
): Promise<InboxMessage[]> {
  if (ids.length === 0) return []
  const unread = await queryAs(holder, (source, agent, now) =>
    ids.flatMap((id) => unreadFor(source, agent, requireSeq(source, id), {}, now) ?? []),
  )
  return take(holder, unread, oneTask)
}

/** The message with this seq if it is unread for the agent. Changes nothing. */
export const peek = (holder: Holder, seq: number): Promise<InboxMessage | null> =>
  queryAs(holder, (source, agent, now) => unreadFor(source, agent, seq, {}, now) ?? null)
