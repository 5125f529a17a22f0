import * as z from 'zod/mini'
import { kinds, matterStates } from '../conversation/registry.ts'
import { messageLimits } from '../model/message.ts'
import { receiptStates, receiptSteps } from '../model/receipt.ts'
import {
  agentDraft,
  agentSchema,
  auditDraft,
  claimSchema,
  damageDraft,
  priorityInput as givenPriority,
  keyDraft,
  messageDraft,
  prioritySchema,
  receiptDraft,
  repairDraft,
  scheduledDraft,
  segmentDraft,
  shareDraft,
  storedShape,
  tornDraft,
  unscheduledDraft,
} from '../model/schemas.ts'
import { signatureStates } from '../model/signature-state.ts'

/**
 * What requests and responses contain. Schemas that are registered here have a name in the OpenAPI document; the
 * others are written out where they are used.
 */
export const named = z.registry<{ id: string }>()

function name<S extends z.ZodMiniType>(id: string, schema: S): S {
  named.add(schema, { id })
  return schema
}

export const object = <Shape extends z.core.$ZodShape>(id: string, fields: Shape) =>
  name(id, z.strictObject(fields))

export const text = z.string()
export const count = z.int().check(z.minimum(0))

/** Fields that all have the same schema. */
const all =
  <S extends z.ZodMiniType>(schema: S) =>
  <Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((field) => [field, schema])) as Record<Name, S>
export const texts = all(text)
export const counts = all(count)
export const durations = all(z.nullable(z.number()))

/** Any JSON. Depth and size are checked elsewhere. */
const message = z.strictObject(storedShape(z.unknown()))
export const receiptState = name('ReceiptState', z.enum(receiptStates))
export const priority = name('Priority', prioritySchema)
/** As it may be given. */
export const priorityInput = name('PriorityInput', givenPriority)
export const kind = name('MatterKind', z.enum(kinds))

export const agent = name('Agent', z.extend(agentSchema, { waitingFor: z.optional(z.array(text)) }))
const claim = name('Claim', z.extend(claimSchema, {}))
const damagedPlace = z.strictObject(counts('segment', 'offset', 'bytes', 'line'))
const encrypted = {
  encrypted: z.optional(z.enum(['space', 'recipients'])),
  locked: z.optional(z.literal(true)),
}
const signature = z.optional(z.enum(signatureStates))
export const storedMessage = name(
  'Message',
  z.extend(message, {
    seq: count,
    imported: z.optional(z.literal(true)),
    unreadable: z.optional(damagedPlace),
    signature,
    ...encrypted,
  }),
)
export const inboxMessage = name(
  'InboxMessage',
  z.extend(storedMessage, {
    state: receiptState,
    role: z.optional(text),
    claimNumber: z.optional(count),
    later: z.optional(z.literal(true)),
  }),
)
export const unreadableRecord = object('UnreadableRecord', {
  ...counts('seq', 'segment', 'offset', 'bytes', 'line'),
  kind: z.optional(z.enum(['message', 'receipt'])),
  ids: z.array(text),
  from: z.optional(text),
  to: z.array(text),
  createdAt: z.optional(text),
  receipts: z.array(z.strictObject({ recipient: text, state: receiptState })),
})
export const sentMessage = name(
  'SentMessage',
  z.extend(storedMessage, { warnings: z.array(text), scheduled: z.optional(z.literal(true)) }),
)
export const unreadCount = object('UnreadCount', {
  unread: count,
  byPriority: z.strictObject(counts('low', 'normal', 'high', 'urgent')),
})

const next = z.nullable(text)
export const messagePage = object('MessagePage', { messages: z.array(storedMessage), next })
export const searchPage = object('SearchPage', {
  messages: z.array(storedMessage),
  next,
  total: z.optional(count),
  isMore: z.optional(z.boolean()),
  notes: z.optional(z.array(text)),
})
export const inboxPage = object('InboxPage', { messages: z.array(inboxMessage), next })
export const checked = object('Checked', {
  messages: z.array(inboxMessage),
  remaining: unreadCount,
  next,
  later: z.optional(count),
})
const handledFields = { message: storedMessage, state: receiptState }
export const handled = object('Handled', {
  ...handledFields,
  claimNumber: z.optional(count),
  already: z.optional(z.literal(true)),
})
export const claimed = object('Claimed', { ...handledFields, claim })

const ladderStep = z.strictObject({
  state: z.enum(receiptSteps),
  ...texts('at', 'by'),
  note: z.optional(text),
})
const receiptView = z.strictObject({
  recipient: text,
  state: receiptState,
  claimedBy: z.optional(text),
  ...counts('attempts', 'repeats'),
  steps: z.array(ladderStep),
})
export const trace = object('Trace', {
  messages: z.array(
    z.strictObject({
      ...{ ...texts('id', 'from', 'type', 'subject', 'createdAt'), to: z.array(text), seq: count },
      replyTo: z.optional(text),
      steps: z.array(z.extend(ladderStep, { recipient: text })),
    }),
  ),
  isMore: z.boolean(),
})
const escalation = z.strictObject({ ...texts('id', 'by', 'at', 'reason'), to: z.array(text) })
export const audit = object('Audit', {
  events: z.array(z.strictObject({ seq: count, ...texts('at', 'kind', 'text') })),
  next,
})
export const shownMessage = object('ShownMessage', {
  message: storedMessage,
  receipts: z.array(receiptView),
  escalations: z.array(escalation),
  signature,
})

export const owed = object('Owed', {
  kind,
  ...texts('id', 'subject', 'type', 'priority', 'from', 'to', 'by'),
  state: z.enum(matterStates),
  since: text,
  until: z.nullable(text),
  overdue: z.boolean(),
})

const deadLetter = z.strictObject({
  message: storedMessage,
  recipient: text,
  state: receiptState,
  ...texts('reason', 'at'),
})
export const deadLetters = object('DeadLetters', {
  letters: z.array(deadLetter),
  waiting: z.array(deadLetter),
  next,
})

export const routeTest = object('RouteTest', {
  rule: z.nullable(count),
  when: z.nullable(text),
  ...{ sentTo: z.array(text), to: z.array(text), priority, warnings: z.array(text) },
})

const latency = z.strictObject(durations('p50', 'p95', 'p99'))
const oldestWaiting = z.nullable(text)
const figures = {
  ...counts('sent', 'received', 'pending', 'unacked'),
  oldestWaiting,
  shown: latency,
  done: latency,
}
export const stats = object('Stats', {
  all: z.strictObject(figures),
  agents: z.array(z.strictObject({ name: text, ...figures })),
  roles: z.array(z.strictObject({ name: text, pending: count, oldestWaiting })),
  deadLetters: count,
  warnings: z.array(text),
})

const place = { seq: count, at: text }
export const entry = name(
  'Entry',
  z.discriminatedUnion('kind', [
    z.extend(messageDraft, { ...place, message: z.extend(message, encrypted) }),
    z.extend(receiptDraft, place),
    z.extend(agentDraft, place),
    z.extend(segmentDraft, place),
    z.extend(tornDraft, place),
    z.extend(damageDraft, place),
    z.extend(repairDraft, place),
    z.extend(keyDraft, place),
    z.extend(shareDraft, place),
    z.extend(auditDraft, place),
    z.extend(scheduledDraft, { ...place, message: z.extend(message, encrypted) }),
    z.extend(unscheduledDraft, place),
  ]),
)
export const auditEntries = object('AuditEntries', { entries: z.array(entry), next })
export const entries = object('Entries', { entries: z.array(entry), seq: count })

export const unreadMail = object('Unread', {
  seq: count,
  messages: z.array(inboxMessage),
  answers: z.array(text),
})
export const messages = object('Messages', { messages: z.array(inboxMessage) })
export const settled = object('Settled', {
  settled: z.boolean(),
  matters: z.array(z.strictObject({ kind, ...texts('id', 'to', 'by'), state: z.enum(matterStates) })),
})
export const maybeMessage = object('MaybeMessage', { message: z.nullable(inboxMessage) })

export const errorAnswer = object('Error', {
  error: z.strictObject({
    ...texts('code', 'message'),
    hint: z.optional(text),
    limit: z.optional(z.enum(['size', 'thread'])),
  }),
})

/** The values of `to`. */
export const addresses = z.union([text, z.array(text).check(z.maxLength(messageLimits.recipients))])
