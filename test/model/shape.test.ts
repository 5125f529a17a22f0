import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentStates } from '../../src/model/agent.ts'
import { agentChanges, segmentReasons } from '../../src/model/entry.ts'
import { priorities } from '../../src/model/message.ts'
import { receiptStates, receiptSteps } from '../../src/model/receipt.ts'
import { draftSchema } from '../../src/model/schemas.ts'
import { isDraft, isGist, isTime } from '../../src/model/shape.ts'
import { agent, idOf, joined, message, moved, sampleTime, sent } from '../helpers/samples.ts'

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
    fc
      .tuple(optional(fc.array(word)), optional(time))
      .map(([exclude, originalAt]) => given({ kind: 'message', originalAt, message: fields, exclude })),
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
    claim: optional(fc.nat()),
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
  fc
    .record({
      ...{ kind: fc.constant('damage'), from: fc.nat(), to: fc.nat(), segment: fc.nat() },
      ...{ offset: fc.nat(), bytes: fc.nat(), kept: optional(word) },
    })
    .map(given),
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

/** Drafts with everything in them. */
const whole: Record<string, Record<string, unknown>> = {
  message: { kind: 'message', originalAt: sampleTime, message: message(), exclude: ['cy'] },
  receipt: {
    kind: 'receipt',
    originalAt: sampleTime,
    step: 'shown',
    by: 'ada',
    changes: [
      {
        ...{ id: idOf(1), seq: 1, rank: 1, owner: 'ada', box: 'ada', wasBox: 'role:x', state: 'shown' },
        ...{ was: 'stored', attempts: 1, claimUntil: sampleTime, ackBy: sampleTime, repeats: 1, level: 1 },
        ...{ expiresAt: sampleTime, claim: 7 },
      },
    ],
  },
  agent: { kind: 'agent', originalAt: sampleTime, change: 'joined', by: 'ada', agent: agent('ada') },
  segment: { kind: 'segment', format: 2, space: 's', reason: 'size' },
  torn: { kind: 'torn', offset: 1, bytes: 2, digest: 'x' },
  damage: { kind: 'damage', from: 1, to: 2, segment: 1, offset: 3, bytes: 4, kept: 'x' },
}
const canMiss = [
  'exclude',
  'originalAt',
  'claim',
  'wasBox',
  'was',
  'attempts',
  'claimUntil',
  'ackBy',
  'repeats',
  'level',
  'expiresAt',
  'kept',
]
/** What folding does not look at. */
const notLookedAt = ['by of agent', 'startedAt of agent']

/** The places of a draft, each with the object that holds it. */
function places(value: object): { holder: Record<string, unknown>; name: string }[] {
  return Object.entries(value).flatMap(([name, held]) => {
    const inner = typeof held === 'object' && held !== null ? places(held) : []
    return Array.isArray(value) ? inner : [{ holder: value as Record<string, unknown>, name }, ...inner]
  })
}
const counted = (kind: string) =>
  places(structuredClone(whole[kind]!)).map(({ name }, at) => [name, at] as const)

describe.each(Object.keys(whole))('a line of the kind %s', (kind) => {
  test('passes with everything in it', () => {
    expect(isDraft(whole[kind]!)).toBe(true)
  })

  test.each(counted(kind).filter(([name]) => !notLookedAt.includes(`${name} of ${kind}`)))(
    'needs %s to be what it is',
    (name, at) => {
      for (const wrong of [Symbol.for('wrong'), {}, [{}], 0.5, null]) {
        const draft = structuredClone(whole[kind]!)
        const { holder } = places(draft)[at]!
        holder[name] = wrong
        expect(isDraft(draft), `${name}: ${String(wrong)}`).toBe(false)
      }
      const draft = structuredClone(whole[kind]!)
      delete places(draft)[at]!.holder[name]
      expect(isDraft(draft)).toBe(canMiss.includes(name))
    },
  )
})

test('fields that come in another order than those of the line before are checked as well', () => {
  const { id, ...rest } = message()
  const check = (one: object) => isDraft({ kind: 'message', message: one })
  const turned = Object.fromEntries(Object.entries(message()).reverse())
  expect([message(), turned, { ...rest, id }, message()].map(check)).toEqual([true, true, true, true])
  expect([{ ...turned, body: 5 }, { ...rest, id: 5 }, rest].map(check)).toEqual([false, false, false])
  expect(check({ unknown: 1, ...message() })).toBe(true)
  expect(check({ ...message(), replyTo: undefined })).toBe(true)
})

describe('the beginning of a message', () => {
  const gist = { seq: 1, at: sampleTime, kind: 'message', message: message() }

  test('is enough with what routing needs', () => {
    const { id, from, to, type, priority } = message()
    expect(isGist({ ...gist, message: { id, from, to, type, priority } })).toBe(true)
  })

  test.each(['seq', 'at', 'kind', 'message', 'id', 'from', 'to', 'type', 'priority'])('needs %s', (name) => {
    for (const wrong of [
      undefined,
      {},
      0.5,
      [1],
      'x'.repeat(name === 'to' || name === 'priority' ? 1 : 0) || null,
    ]) {
      const isOuter = name in gist
      const bad = isOuter ? { ...gist, [name]: wrong } : { ...gist, message: { ...message(), [name]: wrong } }
      expect(isGist(bad), `${name}: ${JSON.stringify(wrong)}`).toBe(false)
    }
  })

  test('is no entry of another kind, and no text', () => {
    expect(
      [joined(1, agent('ada')), moved(2, { seq: 1, state: 'shown' }), null, 'x', []].map(isGist),
    ).toEqual(new Array(5).fill(false))
  })
})

describe('a time', () => {
  test.each([
    ['2026-11-15T09:30:00.000Z'],
    ['0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z'],
    ['2026-10-20T19:00:00.000Z'],
    ['2026-09-30T20:09:10.010Z'],
  ])('%s', (text) => {
    expect(isTime(text)).toBe(true)
  })

  test.each([
    ['2026-11-15'],
    ['2026-11-15T09:30:00Z'],
    ['2026-11-15T09:30:00.000'],
    ['2026-11-15T09:30:00.000+00:00'],
    ['2026-13-15T09:30:00.000Z'],
    ['2026-00-15T09:30:00.000Z'],
    ['2026-11-00T09:30:00.000Z'],
    ['2026-11-32T09:30:00.000Z'],
    ['2026-11-15T24:30:00.000Z'],
    ['2026-11-15T09:60:00.000Z'],
    ['2026-11-15T09:30:60.000Z'],
    ['2026-11-15T09:30:00.00Z'],
    ['2026-11-15T09:30:00.000Zx'],
    ['x2026-11-15T09:30:00.000Z'],
    ['2026-11-15T09:30:00x000Z'],
    ['20a6-11-15T09:30:00.000Z'],
    ['2026-11-1aT09:30:00.000Z'],
    ['2026-11-15T0a:30:00.000Z'],
    ['2026-11-15T09:3a:00.000Z'],
    ['2026-11-15T09:30:0a.000Z'],
    ['2026-11-15T09:30:00.00aZ'],
    [5],
    [['2026-11-15T09:30:00.000Z']],
  ])('%j is none', (value) => {
    expect(isTime(value)).toBe(false)
  })
})
