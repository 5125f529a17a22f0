import type { Follow } from '../delivery/watch.ts'
import type { SendInput } from '../model/fields.ts'
import type { ReceiptState } from '../model/receipt.ts'
import type { UnreadCount } from '../query/count.ts'
import type { InboxMessage, InboxOptions } from '../query/inbox.ts'
import type { StoredMessage } from '../query/message.ts'

export type SentMessage = StoredMessage & {
  /** Things the sender should know although the mail was accepted. */
  warnings: string[]
}

export type ReplyInput = Omit<SendInput, 'to' | 'replyTo'> & { to?: SendInput['to'] }
export type BroadcastInput = Omit<SendInput, 'to'> & {
  /** Only the members of this swarm. */
  swarm?: string
}

export interface CheckOptions extends Omit<InboxOptions, 'unread' | 'all'> {
  /** How much text to hand out at once, by a rough count. The first message always comes. @default 2000 */
  budgetTokens?: number
}

export interface Checked {
  messages: InboxMessage[]
  /** Unread mail that did not fit, counted. */
  remaining: UnreadCount
  next: string | null
}

export interface WaitOptions {
  type?: string | readonly string[]
  from?: string
  /** Only an answer to this message. */
  replyTo?: string
  /** Only what this accepts; everything else stays unread. */
  match?: (message: InboxMessage) => boolean
  /** @default for ever */
  timeoutMs?: number
  signal?: AbortSignal
  /** @internal Who tells of new entries, where many wait in one process; @default every one looks for itself */
  along?: Follow
}

export interface HandleOptions {
  note?: string
}

/** What an agent's step did: the message, and where it stands for that agent now. */
export interface Handled {
  message: StoredMessage
  state: ReceiptState
}
