import type { Entry } from '../model/entry.ts'
import { type InboxMessage, type InboxOptions, matches } from '../query/inbox.ts'
import { arrivals } from './arrive.ts'

export interface WatchOptions extends Pick<InboxOptions, 'type' | 'from' | 'minPriority' | 'replyTo'> {
  /** Start with what is unread now. @default true */
  backlog?: boolean
  signal?: AbortSignal
}

/** All unread mail of an agent at one moment. */
export interface Unread {
  /** The last entry that was taken into account: following from here misses nothing. */
  seq: number
  messages: InboxMessage[]
  /** Which of them answer a question of the agent, by id. */
  answers: string[]
}

/** What watching needs to know of a mailbox, whether it is here or behind a hub. */
export interface Watched {
  readonly name: string
  unread(filter: InboxOptions): Promise<Unread>
  /** The message at this place if it is unread for the agent. */
  peek(seq: number): Promise<InboxMessage | null>
  follow: Follow
}

/** How to hear of new entries after a point, until the signal ends it. */
export type Follow = (options: {
  after: number
  signal: AbortSignal | undefined
}) => AsyncIterable<{ entry: Entry }>

/** Unread mail as it is there, and then as it comes. */
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

export interface WaitMailOptions extends Pick<WatchOptions, 'type' | 'from' | 'replyTo'> {
  match?: ((message: InboxMessage) => boolean) | undefined
  /** Ends the wait; what is unread already is looked at all the same. */
  signal: AbortSignal
}

/**
 * The first message that is wanted and still there to take: an answer to a question before all others. Looks
 * through what is unread once, and from then on only at what comes, however much there is. Null when the
 * signal has ended it.
 */
export async function waitMail(
  mailbox: Watched & { take(message: InboxMessage): Promise<InboxMessage | null> },
  { match = () => true, signal, ...filter }: WaitMailOptions,
): Promise<InboxMessage | null> {
  const start = await mailbox.unread(filter)
  const isAnswer = ({ id }: InboxMessage) => start.answers.includes(id)
  const others = start.messages.filter((message) => !isAnswer(message))
  for (const message of [...start.messages.filter(isAnswer), ...others]) {
    const taken = match(message) ? await mailbox.take(message) : null
    if (taken !== null) return taken
  }
  for await (const message of arriving(mailbox, start, { ...filter, signal })) {
    const taken = match(message) ? await mailbox.take(message) : null
    if (taken !== null) return taken
    if (signal.aborted) return null
  }
  return null
}
