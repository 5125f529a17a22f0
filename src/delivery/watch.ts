import { MailboxError } from '../base/errors.ts'
import { maxTimerMs } from '../base/timers.ts'
import type { Entry } from '../model/entry.ts'
import { classOf } from '../model/receipt.ts'
import { type InboxMessage, type InboxOptions, matches } from '../query/inbox.ts'
import type { Unread } from '../query/next-mail.ts'

export interface WatchOptions extends Pick<InboxOptions, 'type' | 'from' | 'minPriority' | 'replyTo'> {
  /** Start with what is unread now. @default true */
  backlog?: boolean
  signal?: AbortSignal | undefined
}

/** What watching needs of a mailbox, whether it is here or behind a hub. */
export interface Watched {
  readonly name: string
  unread(filter: InboxOptions): Promise<Unread>
  /** The message with this seq if it is unread for the agent. */
  peek(seq: number): Promise<InboxMessage | null>
  follow: Follow
}

/** Every new entry after a point, until the signal ends it. */
export type Follow = (options: {
  after: number
  signal: AbortSignal | undefined
}) => AsyncIterable<{ entry: Entry }>

/** Unread mail as it is there, and then as it arrives. */
export async function* watchMail(mailbox: Watched, options: WatchOptions = {}): AsyncGenerator<InboxMessage> {
  const { backlog = true, signal, ...filter } = options
  const start = await mailbox.unread(filter)
  for (const message of backlog ? start.messages : []) {
    if (signal?.aborted) return
    yield message
  }
  yield* arriving(mailbox, start, options)
}

/** What becomes unread after a moment. */
async function* arriving(
  mailbox: Watched,
  start: Unread,
  { backlog = true, signal, ...filter }: WatchOptions,
): AsyncGenerator<InboxMessage> {
  const seen = new Set(backlog ? start.messages.map(({ seq }) => seq) : [])
  for await (const { entry } of mailbox.follow({ after: start.seq, signal })) {
    for (const { seq, wasUnread } of arrivals(entry)) {
      if (wasUnread && seen.has(seq)) continue
      const message = await mailbox.peek(seq)
      if (message === null || !matches(message, filter)) continue
      seen.add(seq)
      yield message
    }
    if (entry.kind !== 'agent' || entry.agent.name !== mailbox.name) continue
    // A new role or tag may bring mail that was there before.
    for (const message of (await mailbox.unread(filter)).messages) {
      if (message.seq > entry.seq || (!backlog && message.seq <= start.seq) || seen.has(message.seq)) continue
      seen.add(message.seq)
      yield message
    }
  }
}

/** Messages that an entry may have made unread for somebody: a new one, or those that were given back. */
function arrivals(entry: Entry): { seq: number; wasUnread: boolean }[] {
  if (entry.kind === 'message') return [{ seq: entry.seq, wasUnread: false }]
  if (entry.kind !== 'receipt') return []
  return entry.changes.flatMap(({ seq, state, was }) => {
    if (was === undefined || classOf(state) !== 'unread') return []
    const wasUnread = classOf(was) === 'unread'
    // Mail that one holder of a role was offered first, and that is now free for all.
    return wasUnread && entry.step !== 'released' ? [] : { seq, wasUnread }
  })
}

export interface WaitOptions extends Pick<WatchOptions, 'type' | 'from' | 'replyTo' | 'signal'> {
  /** Only what this accepts; everything else stays unread. */
  match?: ((message: InboxMessage) => boolean | Promise<boolean>) | undefined
  /** @default no limit */
  timeoutMs?: number | undefined
}

export interface WaitForMessagesOptions extends WaitOptions {
  /**
   * How many messages to wait for, 1 to 1,000. Without it: a reply to each message of a list in `replyTo`, or
   * else everything that is there as soon as there is something.
   */
  count?: number | undefined
}

/** A mailbox that mail can be taken from. */
export interface Takeable extends Watched {
  /** Marks messages as shown; leaves out those that are no longer there to take. */
  takeAll(messages: readonly InboxMessage[]): Promise<InboxMessage[]>
  release(message: InboxMessage): Promise<unknown>
}

/** How many messages one wait takes at most. */
const waitAtMost = 1_000

export function checkWait({ timeoutMs, count }: Pick<WaitForMessagesOptions, 'timeoutMs' | 'count'>): void {
  if (timeoutMs !== undefined && !(timeoutMs >= 0))
    throw new MailboxError('invalid', `timeoutMs must be 0 or more, not ${timeoutMs}`, {
      hint: 'leave it out to wait without a limit',
    })
  if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= waitAtMost))
    throw new MailboxError('invalid', `count must be a whole number from 1 to ${waitAtMost}, not ${count}`, {
      hint: 'leave it out to get whatever is there',
    })
}

/**
 * Waits until there is enough mail that is wanted, and takes it; answers to the agent's questions come first. Looks
 * through what is unread once, and from then on only at what arrives, however much there is.
 *
 * Nothing is taken before there is enough or the time is up, so that whoever is killed while it waits loses nothing.
 * What others took in the meantime does not count. Empty when nothing came, or when the signal has ended it; what is
 * unread already is looked at even if there is no time.
 */
export async function waitForMail(
  mailbox: Takeable,
  { match = () => true, timeoutMs, signal, count, ...filter }: WaitForMessagesOptions,
): Promise<InboxMessage[]> {
  const { replyTo } = filter
  const isEnough = enoughOf(count, replyTo)
  const taken: InboxMessage[] = []
  const found = new Map<string, InboxMessage>()
  if (isEnough([])) return taken
  const over = new AbortController()
  // A longer wait has no limit.
  const hasLimit = timeoutMs !== undefined && timeoutMs <= maxTimerMs
  const timer = hasLimit ? setTimeout(() => over.abort(), Math.ceil(timeoutMs)) : undefined
  const ending = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])

  /** Takes what was found. Where anything will do, that is everything that is there by now. */
  async function take(): Promise<boolean> {
    const more = count === undefined && typeof replyTo !== 'object' ? await mailbox.unread(filter) : undefined
    for (const message of more?.messages ?? [])
      if (found.size < waitAtMost && (await match(message))) found.set(message.id, message)
    if (found.size > 0) taken.push(...(await mailbox.takeAll([...found.values()])))
    found.clear()
    return isEnough(taken)
  }
  /** Whether this message was the last that was missing. */
  async function find(message: InboxMessage): Promise<boolean> {
    if (!(await match(message))) return false
    found.set(message.id, message)
    return isEnough([...taken, ...found.values()]) && take()
  }

  try {
    const start = await mailbox.unread(filter)
    for (const message of start.messages) if (await find(message)) return taken
    for await (const message of arriving(mailbox, start, { ...filter, signal: ending })) {
      if (await find(message)) return taken
      if (ending.aborted) break
    }
    if (signal?.aborted) for (const message of taken.splice(0)) await mailbox.release(message)
    else await take()
    return taken
  } finally {
    clearTimeout(timer)
  }
}

/** When a wait is over: as many as were asked for, or a reply to each message of a list, or anything. */
function enoughOf(
  count: number | undefined,
  replyTo: WaitOptions['replyTo'],
): (found: readonly InboxMessage[]) => boolean {
  if (count !== undefined || typeof replyTo !== 'object') return ({ length }) => length >= (count ?? 1)
  return (found) => {
    const answered = new Set(found.map((message) => message.replyTo))
    return replyTo.every((id) => answered.has(id))
  }
}
