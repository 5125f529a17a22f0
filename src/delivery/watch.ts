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
  follow(options: { after: number; signal: AbortSignal | undefined }): AsyncIterable<{ entry: Entry }>
}

/** Unread mail as it is there, answers first where that is wanted, and then as it comes. */
export async function* watchMail(
  mailbox: Watched,
  options: WatchOptions & { answersFirst?: boolean } = {},
): AsyncGenerator<InboxMessage> {
  const { backlog = true, answersFirst = false, signal, ...filter } = options
  const start = await mailbox.unread(filter)
  const seen = new Set<number>()
  const isAnswer = ({ id }: InboxMessage) => start.answers.includes(id)
  const inOrder = answersFirst
    ? [...start.messages.filter(isAnswer), ...start.messages.filter((one) => !isAnswer(one))]
    : start.messages
  for (const message of backlog ? inOrder : []) {
    if (signal?.aborted) return
    seen.add(message.seq)
    yield message
  }
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
