import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentStates } from '../../src/model/agent.ts'
import { agentChanges, segmentReasons } from '../../src/model/entry.ts'
import { priorities } from '../../src/model/message.ts'
import { receiptStates, receiptSteps } from '../../src/model/receipt.ts'
import { draftSchema } from '../../src/model/schemas.ts'
import { isDraft } from '../../src/model/shape.ts'
import { agent, idOf, joined, message, moved, sent } from '../helpers/samples.ts'

/** Drafts of every kind, with and without whatever is optional. */
const word = fc.string({ minLength: 1, maxLength: 12 })
const time = fc
  .date({ min: new Date(0), max: new Date('2999-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const id = fc.nat().map(idOf)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const messageDraft = fc
  .record({
    id,
    from: word,
    to: fc.array(word, { minLength: 1, maxLength: 4 }),
    type: word,
    priority: fc.constantFrom(...priorities),
    createdAt: time,
    threadId: word,
    replyTo: optional(word),
    expiresAt: optional(time),
    requiresAck: fc.boolean(),
    awaitingResponse: fc.boolean(),
    tags: fc.array(word, { maxLength: 3 }),
    attachments: fc.array(word, { maxLength: 3 }),
    swarm: optional(word),
    key: optional(word),
    traceparent: optional(word),
    subject: fc.string(),
    payload: optional(fc.jsonValue()),
    context: optional(fc.dictionary(word, fc.jsonValue(), { maxKeys: 3 })),
    body: fc.string(),
  })
  .map(given)
  .chain((fields) =>
    optional(fc.array(word)).map((exclude) => given({ kind: 'message', message: fields, exclude })),
  )

const change = fc
  .record({
    id,
    seq: fc.nat(),
    rank: fc.integer({ min: 0, max: 3 }),
    owner: word,
    box: word,
    wasBox: optional(word),
    state: fc.constantFrom(...receiptStates),
    was: optional(fc.constantFrom(...receiptStates)),
    attempts: optional(fc.nat()),
    claimUntil: optional(time),
  })
  .map(given)

const receiptDraft = fc
  .record({
    kind: fc.constant('receipt'),
    step: fc.constantFrom(...receiptSteps),
    by: word,
    changes: fc.array(change, { maxLength: 3 }),
    note: optional(fc.string()),
  })
  .map(given)

const agentDraft = fc.record({
  kind: fc.constant('agent'),
  change: fc.constantFrom(...agentChanges),
  by: word,
  agent: fc
    .record({
      name: word,
      state: fc.constantFrom(...agentStates),
      roles: fc.array(word, { maxLength: 3 }),
      tags: fc.array(word, { maxLength: 3 }),
      session: fc.record({ generation: fc.nat(), startedAt: time }),
      lastSeenAt: time,
      note: optional(fc.string()),
    })
    .map(given),
})

const ownDraft = fc.oneof(
  fc.record({
    kind: fc.constant('segment'),
    format: fc.constant(1),
    space: word,
    reason: fc.constantFrom(...segmentReasons),
  }),
  fc.record({ kind: fc.constant('torn'), offset: fc.nat(), bytes: fc.nat(), digest: fc.string() }),
)

const anyDraft = fc.oneof(messageDraft, receiptDraft, agentDraft, ownDraft)

describe('the quick check of a line', () => {
  test('passes whatever the schema accepts', () => {
    fc.assert(
      fc.property(anyDraft, (draft) => {
        expect(draftSchema.safeParse(draft).success).toBe(true)
        expect(isDraft(draft as Record<string, unknown>)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test.each<[string, object]>([
    ['no kind', {}],
    ['an unknown kind', { kind: 'gossip' }],
    ['a message that is none', { kind: 'message', message: null }],
    ['recipients that are no list', { ...sent(1), message: { ...message(), to: 'ada' } }],
    ['a recipient that is no text', { ...sent(1), message: { ...message(), to: [5] } }],
    ['a priority nobody knows', { ...sent(1), message: { ...message(), priority: 'soon' } }],
    ['a date that is none', { ...sent(1), message: { ...message(), createdAt: 'x' } }],
    ['an expiry that is none', { ...sent(1), message: { ...message(), expiresAt: 'x' } }],
    ['a body that is no text', { ...sent(1), message: { ...message(), body: 5 } }],
    ['an exclude that is no list', { ...sent(1), exclude: 'bob' }],
    ['an unknown step', { ...moved(2, { seq: 1, state: 'shown' }), step: 'swallowed' }],
    ['changes that are no list', { ...moved(2, { seq: 1, state: 'shown' }), changes: {} }],
    ['a seq that is no number', { ...moved(2, { seq: 'x' as never, state: 'shown' }) }],
    ['a state nobody knows', { ...moved(2, { seq: 1, state: 'seen' as never }) }],
    ['roles that are no list', { ...joined(1, agent('ada')), agent: { ...agent('ada'), roles: 'x' } }],
    ['a generation that is none', { ...joined(1, agent('ada')), agent: { ...agent('ada'), session: {} } }],
  ])('turns away a line with %s', (_, draft) => {
    expect(isDraft(draft as Record<string, unknown>)).toBe(false)
  })
})
