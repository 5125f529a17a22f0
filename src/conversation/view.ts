import type { ClaimMade } from '../model/claim.ts'
import type { Directory } from '../model/directory.ts'
import type { ReceiptEntry, ScheduledEntry } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { Receipt, ReceiptState } from '../model/receipt.ts'
import type { Encrypted } from '../model/sealed.ts'
import type { Matter } from './matter.ts'
import type { NoticeKind } from './notice.ts'

/** A receipt with its message's id. */
export type Letter = Receipt & { id: string }

/** What is to be sent later. `isStale`: its sender has another key since. */
export interface ScheduledHere {
  entry: ScheduledEntry
  isStale: boolean
}

/** Mail to a role that one of its holders is offered first. */
export type Offered = Letter & { agent: string; until: number }

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
  /** How many entries have changed its receipts, and these entries. */
  stepCount(seq: number): number
  steps(seq: number): ReceiptEntry[]
  /** Whether an entry that shares a key is here, by its signature. */
  hasShare(signature: string): boolean
  /** The message this sender sent with this key, or will send. */
  keyed(sender: string, key: string): string | undefined
  /** What is to be sent by then, the earliest first, as it is stored. */
  scheduledUntil(time: number, limit: number): ScheduledHere[]
  /** What is to be sent later, by its id. */
  scheduled(id: string): ScheduledHere | undefined
  /** A message in full. If it cannot be read, what else is known of it. */
  text(seq: number): Message & Encrypted & { unreadable?: object }
  /** The newest message of this sender in this thread, if it is there. */
  lastOf(sender: string, threadId: string): string | undefined
  /** Notices of the system that nobody has read yet; with an id, those about that message. */
  liveNotices(id?: string): Letter[]
  /** What notices say of a message: to whom and of whose copy, whether it was read, and when it was sent, in ms. */
  noticesAbout(
    id: string,
  ): { to: string; recipient: string; kind: NoticeKind; state: ReceiptState; at: number }[]
  /** Whether an agent has work in hand: claimed for a role, or its own and started. */
  hasWork(agent: string): boolean
  /** Unread mail whose life is over and that nobody has marked yet, but for these boxes. */
  lapsed(now: number, waiting: readonly string[], limit: number): Letter[]
  /** Claims that have run out. */
  lapsedClaims(now: number, limit: number): Letter[]
  /** How much of one sender waits or is open in a box. */
  waitingFrom(box: string, sender: string): number
  /** What waits or is open in a box. */
  inBox(box: string, limit: number): Letter[]
  /** Dead letters of an agent's own. */
  deadOf(owner: string, limit: number): Letter[]
  /** Mail for an earlier run of an agent that is not finished. */
  bound(limit: number): Letter[]
  /** Mail whose ack is overdue. */
  unacked(now: number, limit: number): Letter[]
  /** Mail of at least this rank, unread since before, that was escalated so far and no further; not in these boxes. */
  unreadSince(
    before: number,
    minRank: number,
    level: number,
    away: readonly string[],
    limit: number,
  ): Letter[]
  /** What a message has left open, for each address. */
  matters(seq: number): Matter[]
  /** The open matters of a kind about this, the oldest first. */
  openMatters(kind: string, key: string): Matter[]
  /** Open matters whose time is up: by their own deadline, or opened before. */
  overdue(now: number, openedBefore: number, limit: number): Matter[]
  /** Messages of a thread since the person last wrote into it; counted up to the limit. */
  threadLength(threadId: string, limit: number): number
  /** Tasks that have to be done before the work that a message asks for, and are not. */
  blockers(seq: number): string[]
  /** Unclaimed mail of a role that this agent may take, and that waits for no other work: most urgent first, then oldest. */
  nextOfRole(role: string, now: number, agent: string): string | undefined
  /** Mail that is offered to a holder of its role first and was not taken yet. */
  offers(limit: number): Offered[]
  /** How much an agent has to do. */
  openWork(agent: string): number
}

export type DirectoryView = Pick<View, 'directory'>
