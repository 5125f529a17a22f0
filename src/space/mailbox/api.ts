import type { UpdateInput } from '../../command/roster.ts'
import type { Kind } from '../../conversation/registry.ts'
import type { Follow, WaitForMessagesOptions, WaitOptions, WatchOptions } from '../../delivery/watch.ts'
import type { Agent } from '../../model/agent.ts'
import type { Claim } from '../../model/claim.ts'
import type { SendInput } from '../../model/fields.ts'
import type { ReceiptState } from '../../model/receipt.ts'
import type { UnreadCount } from '../../query/count.ts'
import type { InboxMessage, InboxOptions } from '../../query/inbox.ts'
import type { StoredMessage } from '../../query/message.ts'
import type { Unread } from '../../query/next-mail.ts'
import type { Owed } from '../../query/owed.ts'
import type { ListOptions, Page } from '../../query/page.ts'
import type { SearchOptions, SearchPage } from '../../query/search.ts'
import type { Settled } from '../../query/settled.ts'
import type { ShownMessage } from '../../query/show.ts'

/** One agent's view of a space, wherever the space is: on this disk or behind a hub. */
export interface Mailbox {
  readonly name: string
  /** How long a claim lasts unless it is renewed. */
  readonly claimTtlMs: number
  /** The time of the space, in ms since 1970. */
  readonly now: () => number

  /** Sends a message. Resolves when it is durable. */
  send(input: SendInput): Promise<SentMessage>
  /** Replies to a message: to its sender, in its thread, with its priority unless told otherwise. */
  reply(id: string, input?: ReplyInput): Promise<SentMessage>
  /** Sends to everybody, or to everybody in a swarm. */
  broadcast(input: BroadcastInput): Promise<SentMessage>
  /** Takes back a message that nobody has seen yet, or that is to be sent later. */
  withdraw(id: string): Promise<StoredMessage>
  /** Sends a dead letter to another address. Only its sender and the person may. */
  resend(id: string, to: Addresses): Promise<SentMessage>

  /** A page of mail, the most urgent first, then the oldest. Changes nothing. */
  inbox(options?: InboxOptions): Promise<Page<InboxMessage>>
  /**
   * The unread mail that fits a budget: answers to the agent's own questions, then the most urgent. What it
   * returns is marked as shown, and mail to a role is claimed, so two agents that check at once never get
   * the same message.
   */
  check(options?: CheckOptions): Promise<Checked>
  /** One message in full. Marks it as shown, and claims it if it is for a role of this agent. */
  read(id: string): Promise<InboxMessage>
  /** All unread mail at one moment, answers first. Changes nothing. */
  unread(filter?: InboxOptions): Promise<Unread>
  /** Marks the chosen mail as shown, in that order; leaves out what is no longer there to take. */
  takeAll(ids: readonly string[]): Promise<InboxMessage[]>
  /** How much is unread, in all and by priority. */
  count(): Promise<UnreadCount>
  /** The thread a message belongs to, oldest first. */
  thread(id: string): Promise<StoredMessage[]>
  /** What this agent has sent, newest first. */
  sent(options?: ListOptions): Promise<Page<StoredMessage>>
  /** What this agent has written to be sent later (`at`), the earliest first. Its time is its `createdAt`. */
  scheduled(): Promise<StoredMessage[]>
  /**
   * Full text and operators: `from: to: tag: type: priority: is:unread is:mine is:open has:attachment before: after:24h`; `-`
   * excludes.
   */
  search(query: string, options?: SearchOptions): Promise<SearchPage>
  /** A message and the ladder of each recipient. Changes nothing. */
  show(id: string): Promise<ShownMessage>

  /** Records that this agent was told of mail without seeing its text. */
  notified(ids: readonly string[]): Promise<void>
  /** Acknowledges a message. */
  ack(id: string, options?: HandleOptions): Promise<Handled>
  /**
   * Claims mail to a role, so that nobody else handles it, or renews the claim. Throws `conflict` when somebody
   * has it, be it another process under the same name. With `claimNumber` it only renews that claim.
   */
  claim(id: string, options?: ClaimOptions): Promise<Claimed>
  /** Claims the next mail of a role: the oldest of the most urgent. Null when there is none. */
  claimNext(role: string, options?: { ttlMs?: number }): Promise<Claimed | null>
  /** Records that work on a message has begun. */
  start(id: string, options?: ClaimNumber): Promise<Handled>
  /** Records that a message is done, and archives it unless `archive` is false. */
  done(id: string, options?: HandleOptions & { archive?: boolean }): Promise<Handled>
  /** Records that a message could not be handled, and why. It can be retried. */
  fail(id: string, options: FailOptions): Promise<Handled>
  /** Gives a message back unread: to the role it was claimed from, or to this agent's own inbox. */
  release(id: string, options?: ClaimNumber): Promise<Handled>
  /** Makes a failed message unread again. */
  retry(id: string, options?: ClaimNumber): Promise<Handled>
  archive(id: string, options?: ClaimNumber): Promise<Handled>

  /**
   * Waits for a message and marks it as shown. Everything that does not match stays unread. Null when the
   * time is up; throws `interrupted` when the signal is aborted.
   */
  wait(options?: WaitOptions): Promise<InboxMessage | null>
  /**
   * Waits for several messages and marks them as shown: as many as `count` says, or a reply to each message of a
   * list in `replyTo`, or else everything that is there as soon as there is something. When the time is up it
   * returns what came. Nothing is marked before that; throws `interrupted` when the signal is aborted.
   */
  waitForMessages(options?: WaitForMessagesOptions): Promise<InboxMessage[]>
  /**
   * Waits until a recipient has acknowledged a message: with `ack`, with a reply, or by doing more than that. False
   * when the time is up, after 60 s by default.
   */
  waitForAck(id: string, options?: UntilOptions): Promise<boolean>
  /**
   * Waits until nothing that the messages asked for is open any more, and says what became of it: answered,
   * approved, rejected, done, failed, void and so on. When the time is up, `settled` is false.
   */
  waitUntilSettled(ids: string | readonly string[], options?: UntilOptions): Promise<Settled>
  /** Unread mail as it is there and as it arrives. Marks nothing and claims nothing. */
  watch(options?: WatchOptions): AsyncGenerator<InboxMessage>

  /** This agent as the roster has it. */
  agent(): Promise<Agent>
  /** Who leads: the first leading role that somebody holds, or the person. */
  lead(): Promise<string>
  /** What this agent owes others. */
  owed(options?: { kind?: Kind }): Promise<Owed[]>
  /** What others owe this agent: answers, verdicts, work. */
  awaited(options?: { kind?: Kind }): Promise<Owed[]>
  /** A handoff template of the space, if it has one with this name. */
  template(name: string): Promise<Record<string, unknown> | null>
  /** Adds or removes roles and tags. */
  update(input: UpdateInput): Promise<Agent>
  /** Reports that this agent is still there. Needed only where nobody can see its process. */
  heartbeat(): Promise<Agent>
  /** Reports that this agent is there, if it has been silent for long, and does what is due. */
  touch(): Promise<void>
  leave(options?: { frozen?: boolean }): Promise<Agent>
}

/** What a hub needs of a mailbox beyond that, for clients that watch and wait through it. */
export interface ServedMailbox extends Mailbox {
  /** The message with this seq if it is unread for this agent. Changes nothing. */
  peek(seq: number): Promise<InboxMessage | null>
  /** Marks one unread message as shown. Null when it is not there to take. */
  take(id: string): Promise<InboxMessage | null>
  /** Waits along entries that somebody else reads, so that many who wait share one reading of the journal. */
  waitAlong(options: WaitForMessagesOptions, follow: Follow): Promise<InboxMessage[]>
}

/** How long to wait for something to happen. */
export interface UntilOptions {
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

export type SentMessage = StoredMessage & {
  /** It is sent later: at its `createdAt`. */
  scheduled?: true
  /** Things the sender should know although the message was accepted. */
  warnings: string[]
}

/** One address, or several. */
export type Addresses = NonNullable<SendInput['to']>

export type ReplyInput = Omit<SendInput, 'replyTo'>
export type BroadcastInput = Omit<SendInput, 'to'> & {
  /** Only the members of this swarm. */
  swarm?: string
}

export interface CheckOptions extends Omit<InboxOptions, 'unread' | 'all'> {
  /** How much text to return at once, estimated in tokens. The first message always fits. @default 2000 */
  budgetTokens?: number
}

export interface Checked {
  messages: InboxMessage[]
  /** Unread mail that did not fit, counted. */
  remaining: UnreadCount
  next: string | null
  /** How much of what remains is work for the agent's roles that waits until it has finished what it has in hand. */
  later?: number
}

/**
 * The claim that a step is taken with. A step with a claim that is not the newest is refused with `conflict`,
 * whatever its agent is called. A mailbox remembers the claims it has made, so it is needed only where a claim was
 * made elsewhere.
 */
export interface ClaimNumber {
  claimNumber?: number
}

export interface HandleOptions extends ClaimNumber {
  note?: string
}

export interface FailOptions extends ClaimNumber {
  reason: string
}

export interface ClaimOptions extends ClaimNumber {
  ttlMs?: number
}

/** What a step did: the message, its state for this agent now, and the agent's newest claim on it. */
export interface Handled extends ClaimNumber {
  message: StoredMessage
  state: ReceiptState
  /** Nothing had to be done: it was so before. */
  already?: true
}

export type Claimed = Omit<Handled, 'claimNumber'> & { claim: Claim }
