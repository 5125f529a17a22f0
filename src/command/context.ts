import type { Directory } from '../model/directory.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { Receipt } from '../model/receipt.ts'

/** What a decision may not find out by itself: the time, and names nobody has used. */
export interface Context {
  /** Milliseconds since 1970. */
  now: number
  newId: () => string
}

/**
 * The state a decision is taken on. The directory is always there; messages and their receipts come from
 * the index, which is at the end of the journal while a decision that asks for them is taken.
 */
export interface View {
  directory: Directory
  message(id: string): MessageFacts | undefined
  receipts(seq: number): Receipt[]
  /** The message this sender sent with this key. */
  keyed(sender: string, key: string): string | undefined
  /** Unread mail in these boxes whose life is over and that nobody has marked yet. */
  lapsed(boxes: readonly string[], now: number, limit: number): (Receipt & { id: string })[]
  /** Unclaimed mail of a role: most urgent first, then oldest. */
  nextOfRole(role: string, now: number): string | undefined
}

export type DirectoryView = Pick<View, 'directory'>
