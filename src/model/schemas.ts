import * as z from 'zod/mini'
import { agentStates } from './agent.ts'
import {
  agentChanges,
  auditEvents,
  keyChanges,
  readableFormats,
  segmentReasons,
  shareChanges,
} from './entry.ts'
import type { Field, Kind } from './field.ts'
import { inputFields, type NamedField, type SendInput, storedFields } from './fields.ts'
import { messageIdPattern } from './id.ts'
import { type Message, messageLimits, priorities } from './message.ts'
import { receiptStates, receiptSteps } from './receipt.ts'

/**
 * The shapes on disk, in full. A message's follows from the table in fields.ts; the other types of the model are
 * inferred from here. Only what checks strangers' data or exports JSON Schema loads this file. What the journal
 * reads back a million times goes through the plain functions of shape.ts, and a test holds the two together.
 */
const word = z.string().check(z.minLength(1), z.maxLength(messageLimits.wordLength))
const isoDate = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
const uuid = z.string().check(z.regex(messageIdPattern))

export const prioritySchema = z.enum(priorities)
/** As a sender may give it; the mailbox stores the word. */
export const priorityInput = z.union([prioritySchema, z.literal([1, 2, 3, 4])])

const text = (maxLength?: number) =>
  maxLength === undefined ? z.string() : z.string().check(z.maxLength(maxLength))

function list({ maxLength, maxItems }: Field, ...least: z.core.$ZodCheck<string[]>[]): z.ZodMiniType {
  const item = z.string().check(z.minLength(1), z.maxLength(maxLength ?? messageLimits.wordLength))
  return z.array(item).check(...least, ...(maxItems === undefined ? [] : [z.maxLength(maxItems)]))
}

/** By kind. `json` says what any JSON is: in full where data is checked, open where it is described. */
const schemas: Record<Kind, (field: Field, json: z.ZodMiniType) => z.ZodMiniType> = {
  id: () => uuid,
  word: () => word,
  name: () => word,
  text: ({ maxLength }) => text(maxLength),
  flag: () => z.boolean(),
  priority: () => prioritySchema,
  time: () => isoDate,
  moment: () => z.string(),
  whole: () => z.int(),
  duration: () => z.nullable(z.number().check(z.positive())),
  json: (_, json) => json,
  object: (_, json) => z.record(z.string(), json),
  list: (field) => list(field),
  addresses: (field) => list(field, z.minLength(1)),
  reference: () => z.union([z.boolean(), word]),
}
const schemaOf = (field: Field, json: z.ZodMiniType = z.json()) => schemas[field.kind](field, json)
/** Where what is given differs from what is stored. */
const inputSchemas: Partial<Record<Kind, z.ZodMiniType>> = { priority: priorityInput, time: z.string() }

type StoredShape = {
  [Name in keyof Message]-?: undefined extends Message[Name]
    ? z.ZodMiniOptional<z.ZodMiniType<Exclude<Message[Name], undefined>>>
    : z.ZodMiniType<Message[Name]>
}
type InputName = Exclude<keyof SendInput, 'to'>
type InputShape = {
  [Name in InputName]-?: z.ZodMiniExactOptional<z.ZodMiniType<Exclude<SendInput[Name], undefined>>>
}

const shapeOf = (fields: readonly NamedField[], schema: (field: NamedField) => z.ZodMiniType): unknown =>
  Object.fromEntries(fields.map((field) => [field.name, schema(field)]))

/** A message as it is stored. */
export const storedShape = (json?: z.ZodMiniType): StoredShape =>
  shapeOf(storedFields, (field) => {
    const schema = schemaOf(field, json)
    return field.stored === 'always' ? schema : z.optional(schema)
  }) as StoredShape

/** What a sender may give beside the addresses. */
export const inputShape = (json?: z.ZodMiniType): InputShape =>
  shapeOf(
    inputFields.filter(({ name }) => name !== 'to'),
    (field) => z.exactOptional(inputSchemas[field.kind] ?? schemaOf(field, json)),
  ) as InputShape

export const messageSchema = z.strictObject(storedShape())

const receiptState = z.enum(receiptStates)

export const receiptChangeSchema = z.strictObject({
  /** The message, and its seq. */
  id: uuid,
  seq: z.int(),
  /** Rank of the message's priority. */
  rank: z.int(),
  /** The address whose copy this is: an agent, or `role:NAME`, or a group's box when it is withdrawn. */
  owner: word,
  /** Whose inbox holds it now, and held it before if that was another. */
  box: word,
  wasBox: z.optional(word),
  state: receiptState,
  /** Absent if the agent had no receipt yet, when it first sees a message to a group. */
  was: z.optional(receiptState),
  /** How often the message was claimed, and until when the current claim lasts. */
  attempts: z.optional(z.int()),
  /** How often work on it has failed. */
  failures: z.optional(z.int()),
  claimUntil: z.optional(isoDate),
  /** When an ack is overdue, and how often the message was shown again without one. */
  ackBy: z.optional(isoDate),
  repeats: z.optional(z.int()),
  /** How far it was escalated: see receipt.ts. Absent when that does not change. */
  level: z.optional(z.int()),
  /** The agent got it as a member of a group, not by name. */
  viaGroup: z.optional(z.boolean()),
  /** A later expiry, for mail that waited for a frozen agent. */
  expiresAt: z.optional(isoDate),
  /** The number of the claim that it makes, if it was imported with one: see claim.ts. */
  claim: z.optional(z.int()),
})

export const claimSchema = z.strictObject({
  messageId: uuid,
  agent: word,
  until: isoDate,
  attempt: z.int(),
  /** Rises with every claim: whoever acts with one that is not the newest is refused. Earlier hubs give none. */
  number: z.optional(z.int()),
})

export const sessionSchema = z.strictObject({
  /** Rises with every run of the agent. */
  generation: z.int(),
  startedAt: isoDate,
  pid: z.optional(z.int()),
  /** Start of the process as the system reports it, so that a reused pid is not the old agent. */
  pidStart: z.optional(word),
  host: z.optional(word),
  client: z.optional(word),
  /** What the client calls this session; the agent keeps its name when the session is resumed. */
  id: z.optional(word),
})

export const agentSchema = z.strictObject({
  name: word,
  state: z.enum(agentStates),
  /** Why it is dead: it left, its process ended, or it was silent for too long. */
  gone: z.optional(z.enum(['left', 'ended', 'silent'])),
  roles: z.array(word),
  tags: z.array(word),
  session: sessionSchema,
  lastSeenAt: isoDate,
  /** Its last absence: when it was frozen or found dead, and when it was back. */
  lastAway: z.optional(z.strictObject({ from: isoDate, to: isoDate })),
  note: z.optional(z.string()),
})

/** When an imported entry happened in the space that it comes from. Its own time is that of the import. */
const originalAt = z.optional(isoDate)

/** A message was sent: one entry, however many recipients it has. */
export const messageDraft = z.strictObject({
  kind: z.literal('message'),
  originalAt,
  scheduledAt: z.optional(isoDate),
  message: messageSchema,
  /** Agents in an addressed group that the sender excluded. */
  exclude: z.optional(z.array(word)),
  /** Who wrote it, provably: see signature.ts. */
  signature: z.optional(z.string().check(z.maxLength(1_000))),
})

/** A message is to be sent later, as it stands here; and one that will not be: it was withdrawn, or could not be sent. */
export const scheduledDraft = z.extend(messageDraft, { kind: z.literal('scheduled') })
export const unscheduledDraft = z.strictObject({
  ...{ kind: z.literal('unscheduled'), id: uuid, by: word, note: z.optional(z.string()) },
})

/** Receipts changed. All changes of one command are in one entry, so they happen together. */
export const receiptDraft = z.strictObject({
  kind: z.literal('receipt'),
  originalAt,
  step: z.enum(receiptSteps),
  by: word,
  changes: z.array(receiptChangeSchema),
  note: z.optional(z.string()),
  /** The note, if it is encrypted. */
  sealed: z.optional(z.string()),
})

/** The roster changed: what happened, and the agent as it is from now on. */
export const agentDraft = z.strictObject({
  kind: z.literal('agent'),
  originalAt,
  change: z.enum(agentChanges),
  by: word,
  agent: agentSchema,
})

/** The journal's own entries: one opens a segment, one seals a torn write, one records a loss. */
export const segmentDraft = z.strictObject({
  kind: z.literal('segment'),
  format: z.literal(readableFormats),
  space: word,
  reason: z.enum(segmentReasons),
})
export const tornDraft = z.strictObject({
  kind: z.literal('torn'),
  /** The fragment's offset in its segment, its length, and its SHA-256 as hex. */
  offset: z.int(),
  bytes: z.int(),
  digest: z.string(),
})

/** Entries that had been acknowledged are gone from the end of the journal, and it goes on after them. */
export const damageDraft = z.strictObject({
  kind: z.literal('damage'),
  /** The first and the last sequence number that is lost. */
  from: z.int(),
  to: z.int(),
  /** The segment that ends too early, where its last readable line ends, and how many bytes follow that. */
  segment: z.int(),
  offset: z.int(),
  bytes: z.int(),
  /** The file in `journal/damaged/` that has those bytes; absent if there are none. */
  kept: z.optional(word),
})

/** Files of the journal were repaired. */
export const repairDraft = z.strictObject({
  kind: z.literal('repair'),
  files: z.array(
    z.strictObject({
      segment: z.int(),
      /** Records that were put on lines of their own in their place, freed of a flipped bit, or taken from a copy. */
      reformatted: z.int(),
      corrected: z.int(),
      restored: z.int(),
      /** The file in `journal/damaged/` that has what was there before; absent if nothing was. */
      kept: z.optional(word),
    }),
  ),
  /** The sequence numbers that no copy had. */
  lost: z.array(z.strictObject({ from: z.int(), to: z.int() })),
})

/** A key was replaced or revoked. */
export const keyDraft = z.strictObject({
  kind: z.literal('key'),
  change: z.enum(keyChanges),
  agent: word,
  by: word,
  /** The key from now on; absent if it was revoked. */
  key: z.optional(word),
  /** Over the change, with the key of whoever made it. */
  signature: word,
})

/** Agents get a key that messages of the space are encrypted with. */
export const shareDraft = z.strictObject({
  kind: z.literal('share'),
  originalAt,
  change: z.enum(shareChanges),
  by: word,
  /** The id of the key: see sealed.ts. */
  key: word,
  /** The key for each agent, as an age file. */
  for: z.record(word, z.string().check(z.maxLength(2_000))),
  /** The space that it is a key of, if it was imported. */
  space: z.optional(word),
  /** Over all of it, with the key of whoever shared it. */
  signature: z.string().check(z.maxLength(2 * messageLimits.wordLength)),
})

/** Something happened that is no mail: somebody was refused, a token was made, a setting was changed. */
export const auditDraft = z.strictObject({
  kind: z.literal('audit'),
  event: z.enum(auditEvents),
  /** Who did it, as far as the mailbox could tell. */
  by: word,
  /** The agent, setting or file that it was about, and more in words. */
  about: z.optional(word),
  note: z.optional(z.string()),
})

export const draftSchema = z.discriminatedUnion('kind', [
  messageDraft,
  scheduledDraft,
  unscheduledDraft,
  receiptDraft,
  agentDraft,
  segmentDraft,
  tornDraft,
  damageDraft,
  repairDraft,
  keyDraft,
  shareDraft,
  auditDraft,
])
