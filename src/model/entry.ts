import type * as z from 'zod/mini'
import { given } from '../base/objects.ts'
import type { Agent } from './agent.ts'
import type { Message } from './message.ts'
import type {
  agentDraft as agentSchema,
  auditDraft,
  damageDraft,
  keyDraft,
  receiptDraft,
  repairDraft,
  segmentDraft,
  shareDraft,
  tornDraft,
  unscheduledDraft,
} from './schemas.ts'
import type { Encrypted } from './sealed.ts'
import type { MessageSigner } from './signature.ts'

/** What can happen to an agent. */
export const agentChanges = ['joined', 'updated', 'frozen', 'resumed', 'left', 'died'] as const

export const keyChanges = ['rotated', 'revoked'] as const

/** A key of the space is new, or more agents get it. */
export const shareChanges = ['created', 'shared'] as const

/** What is recorded for whoever audits a space. */
export const auditEvents = [
  ...['refused', 'token_created', 'token_revoked', 'token_rotated', 'token_refused'],
  ...['setting_changed', 'role_granted', 'hub_started', 'imported', 'key_exported'],
] as const

/** Why a segment was opened. */
export const segmentReasons = [
  'created',
  'size',
  'count',
  'month',
  'sync_failed',
  'write_failed',
  'damaged',
  'repaired',
  'upgraded',
] as const

/**
 * The format of new segments, and those that can be read. Format 2 has signatures, encryption, and entries of the
 * kinds `damage`, `repair`, `key`, `share`, `audit`, `scheduled` and `unscheduled`.
 */
export const journalFormat = 2
export const readableFormats = [1, 2] as const

export type SegmentReason = (typeof segmentReasons)[number]

/** A fact that is not in the journal yet. */
export type Draft =
  | MessageDraft
  | ScheduledDraft
  | UnscheduledDraft
  | ReceiptDraft
  | AgentDraft
  | z.infer<typeof segmentDraft>
  | z.infer<typeof tornDraft>
  | DamageDraft
  | RepairDraft
  | KeyDraft
  | ShareDraft
  | AuditDraft
/** A message was sent: one entry, however many recipients it has. */
export type MessageDraft = {
  kind: 'message'
  /** When it was sent, if it was imported. Before the message, so that it is part of a {@link Gist}. */
  originalAt?: string | undefined
  /** When its sender scheduled it, if it was to be sent later. */
  scheduledAt?: string | undefined
  message: Message & Encrypted
  /** Agents in an addressed group that the sender excluded. */
  exclude?: string[] | undefined
  /** See signature.ts. */
  signature?: string | undefined
  /** Signs it when it is written, together with what else is written then. A function, so no part of its JSON. */
  signer?: () => MessageSigner
  /** It is to be encrypted for its recipients. Once that is done, it is no more. */
  encrypt?: true
}
/** A message that is to be sent at its time, `createdAt`. Nobody has it before. */
export type ScheduledDraft = Omit<MessageDraft, 'kind' | 'scheduledAt' | 'signer'> & { kind: 'scheduled' }
/** It is not to be sent any more. */
type UnscheduledDraft = z.infer<typeof unscheduledDraft>
/** A key of an agent was replaced or revoked. Its first one is the key of its first signed message. */
export type KeyDraft = z.infer<typeof keyDraft>
/** Agents get a key of the space, encrypted for each of them. */
export type ShareDraft = z.infer<typeof shareDraft>
/** Something that whoever keeps an eye on the space may want to know of. */
export type AuditDraft = z.infer<typeof auditDraft>
export type DamageDraft = z.infer<typeof damageDraft>
export type RepairDraft = z.infer<typeof repairDraft>
export type ReceiptDraft = z.infer<typeof receiptDraft>
export type AgentDraft = z.infer<typeof agentSchema>
export const agentDraft = (change: AgentDraft['change'], by: string, agent: Agent): AgentDraft => ({
  kind: 'agent',
  change,
  by,
  agent,
})
/** Receipts change together, in one entry; none without a change. */
export const receiptDrafts = (
  step: ReceiptDraft['step'],
  by: string,
  changes: ReceiptDraft['changes'],
  note?: string,
): ReceiptDraft[] =>
  changes.length === 0 ? [] : [{ kind: 'receipt', step, by, changes, ...given({ note }) }]

/** Added by the journal: the entry's position and time. */
interface Placed {
  seq: number
  at: string
}
export type Entry = Draft & Placed
/** The parts of an entry that decisions need; the rest of a message can stay on disk. */
export type Gist =
  | Exclude<Entry, { kind: 'message' }>
  | (Pick<MessageDraft, 'kind' | 'originalAt' | 'scheduledAt'> & GistOfMessage)
type GistOfMessage = { message: Pick<Message, 'id' | 'from' | 'to' | 'type' | 'priority'> } & Placed
export type MessageEntry = MessageDraft & Placed
export type ScheduledEntry = ScheduledDraft & Placed
export type ReceiptEntry = ReceiptDraft & Placed
export type AgentEntry = AgentDraft & Placed
export type ShareEntry = ShareDraft & Placed

/** A draft that names an entry of the same decision, which has its seq only when it is placed. */
export type LateDraft = (placed: readonly Entry[]) => Draft

/** When an imported entry happened in the space that it comes from; undefined if it happened here. */
export const originOf = (entry: Gist): string | undefined =>
  'originalAt' in entry ? entry.originalAt : undefined

/** When it happened, here or elsewhere. */
export const happenedAt = (entry: Gist): string => originOf(entry) ?? entry.at

/** The entries that a loss is about, in words. */
export const lossOf = ({ from, to }: { from: number; to: number }): string =>
  from === to ? `entry ${from}` : `entries ${from} to ${to}`
