import type * as z from 'zod/mini'
import type { Message } from './message.ts'
import type { agentDraft, receiptDraft, segmentDraft, tornDraft } from './schemas.ts'

/** What can happen to an agent. */
export const agentChanges = ['joined', 'updated', 'frozen', 'resumed', 'left', 'died'] as const

/** Why a segment was opened. */
export const segmentReasons = ['created', 'size', 'count', 'month', 'sync_failed', 'write_failed'] as const

export type SegmentReason = (typeof segmentReasons)[number]

/** A fact that has no place in the journal yet. */
export type Draft =
  | MessageDraft
  | ReceiptDraft
  | AgentDraft
  | z.infer<typeof segmentDraft>
  | z.infer<typeof tornDraft>
/** Somebody said something. One entry, whoever it addresses. */
export type MessageDraft = {
  kind: 'message'
  message: Message
  /** Agents that a group address would reach and that the sender left out. */
  exclude?: string[] | undefined
}
export type ReceiptDraft = z.infer<typeof receiptDraft>
export type AgentDraft = z.infer<typeof agentDraft>

/** What the journal adds: the entry's place and the time it got it. */
interface Placed {
  seq: number
  at: string
}
export type Entry = Draft & Placed
/** As much of an entry as a decision needs to know of it: the mail itself can stay on disk. */
export type Gist =
  | Exclude<Entry, { kind: 'message' }>
  | ({ kind: 'message'; message: Pick<Message, 'id' | 'from' | 'to' | 'type' | 'priority'> } & Placed)
export type MessageEntry = MessageDraft & Placed
export type ReceiptEntry = ReceiptDraft & Placed
export type AgentEntry = AgentDraft & Placed
