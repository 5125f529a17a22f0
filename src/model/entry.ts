import * as z from 'zod/mini'
import { agentSchema } from './agent.ts'
import { messageSchema } from './message.ts'
import { receiptChangeSchema, receiptSteps } from './receipt.ts'

/** Somebody said something. One entry, whoever it addresses. */
const messageDraft = z.strictObject({
  kind: z.literal('message'),
  message: messageSchema,
  /** Agents that a group address would reach and that the sender left out. */
  exclude: z.optional(z.array(z.string())),
})

/** Somebody moved receipts. All changes of one command stand in one entry, so they happen together. */
const receiptDraft = z.strictObject({
  kind: z.literal('receipt'),
  step: z.enum(receiptSteps),
  by: z.string(),
  changes: z.array(receiptChangeSchema),
  note: z.optional(z.string()),
})

/** The roster changed: the agent as it is from now on, and what happened. */
export const agentChanges = ['joined', 'updated', 'frozen', 'resumed', 'left', 'died'] as const
const agentDraft = z.strictObject({
  kind: z.literal('agent'),
  change: z.enum(agentChanges),
  by: z.string(),
  agent: agentSchema,
})

/** The journal's own notes. A segment opens with one; a torn write is sealed with one. */
const segmentDraft = z.strictObject({
  kind: z.literal('segment'),
  format: z.literal(1),
  space: z.string(),
  reason: z.enum(['created', 'size', 'sync_failed']),
})
const tornDraft = z.strictObject({
  kind: z.literal('torn'),
  /** Where the fragment lies in its segment, how long it is, and its SHA-256 as hex. */
  offset: z.int(),
  bytes: z.int(),
  digest: z.string(),
})

export const draftSchema = z.discriminatedUnion('kind', [
  messageDraft,
  receiptDraft,
  agentDraft,
  segmentDraft,
  tornDraft,
])
export type Draft = z.infer<typeof draftSchema>
export type MessageDraft = z.infer<typeof messageDraft>
export type ReceiptDraft = z.infer<typeof receiptDraft>
export type AgentDraft = z.infer<typeof agentDraft>

/** What the journal adds: the entry's place and the time it got it. */
export type Entry = Draft & { seq: number; at: string }
export type MessageEntry = MessageDraft & { seq: number; at: string }
export type ReceiptEntry = ReceiptDraft & { seq: number; at: string }
export type AgentEntry = AgentDraft & { seq: number; at: string }
