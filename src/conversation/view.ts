import type { ClaimMade } from '../model/claim.ts'
import type { Directory } from '../model/directory.ts'
import type { Message } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { Receipt } from '../model/receipt.ts'
import type { Matter } from './matter.ts'
import type { Kind } from './registry.ts'

/** A receipt with its message's id. */
export type Letter = Receipt & { id: string }

/**
 * The state a decision is taken on. The directory is always there; messages and their receipts come from
 * the index, which is at the end of the journal while a decision that asks for them is taken.
 */
export interface View {
  directory: Directory
  message(id: string): MessageFacts | undefined
  receipts(seq: number): Receipt[]
  /** Every claim that was made on a message, the oldest first. */
  claims(seq: number): ClaimMade[]
  /** The message this sender sent with this key. */
  keyed(sender: string, key: string): string | undefined
  /** A message in full. If it cannot be read, what else is known of it. */
  text(seq: number): Message & { unreadable?: object }
  /** The newest message of this sender in this thread, if it is there. */
  lastOf(sender: string, threadId: string): string | undefined
  /** Unread mail whose life is over and that nobody has marked yet, but for these boxes. */
  lapsed(now: number, waiting: readonly string[], limit: number): Letter[]
  /** Claims that have run out. */
  lapsedClaims(now: number, limit: number): Letter[]
  /** What waits or is open in a box. */
  inBox(box: string, limit: number): Letter[]
  /** Dead letters of an agent's own. */
  deadOf(owner: string, limit: number): Letter[]
  /** Mail for an earlier run of an agent that is not finished. */
  bound(limit: number): Letter[]
  /** Mail whose ack is overdue. */
  unacked(now: number, limit: number): Letter[]
  /** Mail of at least this rank, sent before, that is unread and was escalated so far and no further. */
  unreadSince(before: number, minRank: number, level: number, limit: number): Letter[]
  /** What a message has left open, for each address. */
  matters(seq: number): Matter[]
  /** The open matter of a kind about this. */
  openMatter(kind: Kind, key: string): Matter | undefined
  /** Open matters whose time is up: by their own deadline, or opened before. */
  overdue(now: number, openedBefore: number, limit: number): Matter[]
  /** Messages of a thread since the person last wrote into it; counted up to the limit. */
  threadLength(threadId: string, limit: number): number
  /** Unclaimed mail of a role: most urgent first, then oldest. */
  nextOfRole(role: string, now: number): string | undefined
}

export type DirectoryView = Pick<View, 'directory'>
