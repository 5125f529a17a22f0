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
    for (const seq of arrivals(entry)) {
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
function arrivals(entry: Entry): number[] {
  if (entry.kind === 'message') return [entry.seq]
  if (entry.kind !== 'receipt') return []
  return entry.changes
    .filter(({ state, was }) => was !== undefined && classOf(state) === 'unread' && classOf(was) !== 'unread')
    .map(({ seq }) => seq)
}

export interface WaitOptions extends Pick<WatchOptions, 'type' | 'from' | 'replyTo' | 'signal'> {
  /** Only what this accepts; everything else stays unread. */
  match?: ((message: InboxMessage) => boolean) | undefined
  /** @default no limit */
  timeoutMs?: number | undefined
}

export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || timeoutMs >= 0) return
  throw new MailboxError('invalid', `timeoutMs must be 0 or more, not ${timeoutMs}`, {
    hint: 'leave it out to wait without a limit',
  })
}

/**
 * The first message that is wanted and still there to take, answers to the agent's questions first. Looks
 * through what is unread once, and from then on only at what arrives, however much there is. Null when the
 * time is up or the signal has ended it; what is unread already is looked at all the same.
 */
export async function waitForMail(
  mailbox: Watched & { take(message: InboxMessage): Promise<InboxMessage | null> },
  { match = () => true, timeoutMs, signal, ...filter }: WaitOptions,
): Promise<InboxMessage | null> {
  const over = new AbortController()
  // A longer wait has no limit.
  const hasLimit = timeoutMs !== undefined && timeoutMs <= maxTimerMs
  const timer = hasLimit ? setTimeout(() => over.abort(), Math.ceil(timeoutMs)) : undefined
  const ending = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
  try {
    const start = await mailbox.unread(filter)
    for (const message of start.messages) {
      const taken = match(message) ? await mailbox.take(message) : null
      if (taken !== null) return taken
    }
    for await (const message of arriving(mailbox, start, { ...filter, signal: ending })) {
      const taken = match(message) ? await mailbox.take(message) : null
      if (taken !== null) return taken
      if (ending.aborted) return null
    }
    return null
  } finally {
    clearTimeout(timer)
  }
}
