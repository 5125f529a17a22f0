import * as z from 'zod/mini'
import { kinds, matterStates } from '../conversation/registry.ts'
import { messageLimits } from '../model/message.ts'
import { receiptStates, receiptSteps } from '../model/receipt.ts'
import {
  agentDraft,
  agentSchema,
  claimSchema,
  messageDraft,
  prioritySchema,
  receiptDraft,
  segmentDraft,
  storedShape,
  tornDraft,
} from '../model/schemas.ts'

/**
 * What requests and responses contain. Schemas that are registered here have a name in the OpenAPI document; the
 * others are written out where they are used.
 */
export const named = z.registry<{ id: string }>()

export function name<S extends z.ZodMiniType>(id: string, schema: S): S {
  named.add(schema, { id })
  return schema
}

export const text = z.string()
export const count = z.int().check(z.minimum(0))
const time = z.string()

/** Any JSON. Depth and size are checked elsewhere. */
const message = z.strictObject(storedShape(z.unknown()))
const receiptState = name('ReceiptState', z.enum(receiptStates))
export const priority = name('Priority', prioritySchema)
export const kind = name('MatterKind', z.enum(kinds))

export const agent = name('Agent', z.extend(agentSchema, { waitingFor: z.optional(z.array(text)) }))
const claim = name('Claim', z.extend(claimSchema, {}))
export const storedMessage = name('Message', z.extend(message, { seq: count }))
export const inboxMessage = name(
  'InboxMessage',
  z.extend(storedMessage, { state: receiptState, role: z.optional(text) }),
)
export const sentMessage = name('SentMessage', z.extend(storedMessage, { warnings: z.array(text) }))
export const unreadCount = name(
  'UnreadCount',
  z.strictObject({
    unread: count,
    byPriority: z.strictObject({ low: count, normal: count, high: count, urgent: count }),
  }),
)

const next = z.nullable(text)
export const messagePage = name('MessagePage', z.strictObject({ messages: z.array(storedMessage), next }))
export const inboxPage = name('InboxPage', z.strictObject({ messages: z.array(inboxMessage), next }))
export const checked = name(
  'Checked',
  z.strictObject({ messages: z.array(inboxMessage), remaining: unreadCount, next }),
)
export const handled = name('Handled', z.strictObject({ message: storedMessage, state: receiptState }))
export const claimed = name('Claimed', z.extend(handled, { claim }))

const ladderStep = z.strictObject({ state: z.enum(receiptSteps), at: time, by: text, note: z.optional(text) })
const receiptView = z.strictObject({
  recipient: text,
  state: receiptState,
  claimedBy: z.optional(text),
  attempts: count,
  repeats: count,
  steps: z.array(ladderStep),
})
export const shownMessage = name(
  'ShownMessage',
  z.strictObject({ message: storedMessage, receipts: z.array(receiptView) }),
)

export const owed = name(
  'Owed',
  z.strictObject({
    kind,
    id: text,
    subject: text,
    type: text,
    priority: text,
    from: text,
    to: text,
    by: text,
    state: z.enum(matterStates),
    since: time,
    until: z.nullable(time),
    overdue: z.boolean(),
  }),
)

export const deadLetters = name(
  'DeadLetters',
  z.strictObject({
    letters: z.array(
      z.strictObject({
        message: storedMessage,
        recipient: text,
        state: receiptState,
        reason: text,
        at: time,
      }),
    ),
    next,
  }),
)

const latency = z.strictObject({
  p50: z.nullable(z.number()),
  p95: z.nullable(z.number()),
  p99: z.nullable(z.number()),
})
const figures = {
  sent: count,
  received: count,
  pending: count,
  unacked: count,
  oldestWaiting: z.nullable(time),
  shown: latency,
  done: latency,
}
export const stats = name(
  'Stats',
  z.strictObject({
    all: z.strictObject(figures),
    agents: z.array(z.strictObject({ name: text, ...figures })),
    roles: z.array(z.strictObject({ name: text, pending: count, oldestWaiting: z.nullable(time) })),
    deadLetters: count,
    warnings: z.array(text),
  }),
)

const place = { seq: count, at: time }
export const entry = name(
  'Entry',
  z.discriminatedUnion('kind', [
    z.extend(messageDraft, { ...place, message }),
    z.extend(receiptDraft, place),
    z.extend(agentDraft, place),
    z.extend(segmentDraft, place),
    z.extend(tornDraft, place),
  ]),
)

export const unreadMail = name(
  'Unread',
  z.strictObject({ seq: count, messages: z.array(inboxMessage), answers: z.array(text) }),
)
export const maybeMessage = name('MaybeMessage', z.strictObject({ message: z.nullable(inboxMessage) }))

export const errorAnswer = name(
  'Error',
  z.strictObject({ error: z.strictObject({ code: text, message: text, hint: z.optional(text) }) }),
)

/** The values of `to`. */
export const addresses = z.union([text, z.array(text).check(z.maxLength(messageLimits.recipients))])
