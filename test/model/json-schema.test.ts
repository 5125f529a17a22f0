import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { jsonSchemas } from '../../src/model/json-schema.ts'
import { messageLimits } from '../../src/model/message.ts'
import { agentSchema, inputShape, messageSchema } from '../../src/model/schemas.ts'
import { agent, idOf, joined, message, moved, sampleTime, sent } from '../helpers/samples.ts'
import { validates } from './json-schema-check.ts'

const schemas = jsonSchemas()
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** An entry as its line has it, without what the journal adds. */
function draftOf({ seq: _seq, at: _at, ...draft }: ReturnType<typeof sent>): unknown {
  return overTheWire(draft)
}

describe('the shapes as JSON Schema', () => {
  test.each(Object.keys(schemas))('%s survives as JSON and says which dialect it is', (name) => {
    const schema = schemas[name as keyof typeof schemas]
    expect(overTheWire(schema)).toEqual(schema)
    expect(schema).toMatchObject({ $schema: expect.stringContaining('json-schema.org') })
  })

  test('a message with every field fits', () => {
    const full = message({
      replyTo: idOf(2),
      expiresAt: sampleTime,
      swarm: 'dev',
      key: 'k',
      traceparent: '00-abc-def-01',
      tags: ['project:x'],
      attachments: ['a.txt'],
      payload: [1, 'two', null, { three: [true] }],
      context: { nextSteps: ['a'], deep: { er: 1 } },
    })
    expect(validates(schemas.message, overTheWire(full))).toBe(true)
  })

  test('a message with only what it must have fits', () => {
    expect(validates(schemas.message, overTheWire(message()))).toBe(true)
  })

  test.each<[string, object]>([
    ['an id that is none', { id: 'x' }],
    ['no recipient', { to: [] }],
    ['an unknown priority', { priority: 'soon' }],
    ['a date that is none', { createdAt: 'today' }],
    ['a body that is no text', { body: 5 }],
    ['a field nobody knows', { colour: 'red' }],
    ['a context that is no object', { context: [1] }],
  ])('a message with %s does not', (_, fields) => {
    expect(validates(schemas.message, overTheWire({ ...message(), ...fields }))).toBe(false)
  })

  test.each(['id', 'from', 'to', 'body', 'threadId', 'priority'])(
    'a message without %s does not',
    (field) => {
      const { [field]: _, ...rest } = message() as Record<string, unknown>
      expect(validates(schemas.message, rest)).toBe(false)
    },
  )

  test('an agent, a claim and a change of a receipt fit theirs', () => {
    const ada = agent('ada', { roles: ['architect'], tags: ['project:x'], note: 'busy' })
    expect(validates(schemas.agent, ada)).toBe(true)
    const claim = { messageId: idOf(1), agent: 'ada', until: sampleTime, attempt: 1 }
    expect(validates(schemas.claim, claim)).toBe(true)
    const change = {
      id: idOf(1),
      seq: 1,
      rank: 0,
      owner: 'role:x',
      box: 'ada',
      wasBox: 'role:x',
      state: 'shown',
    }
    expect(validates(schemas.receiptChange, change)).toBe(true)
    expect(validates(schemas.receiptChange, { ...change, state: 'seen' })).toBe(false)
  })

  test('every kind of entry fits the draft', () => {
    const entries = [joined(2, agent('ada')), sent(3), moved(4, { seq: 3, state: 'shown', was: 'stored' })]
    for (const entry of entries) expect(validates(schemas.draft, draftOf(entry))).toBe(true)
    expect(validates(schemas.draft, { kind: 'gossip' })).toBe(false)
  })
})

describe('the edges of a stored message', () => {
  const accepts = (fields: object) => messageSchema.safeParse({ ...message(), ...fields }).success
  const many = (n: number) => new Array<string>(n).fill('a')
  const path = 'x'.repeat(messageLimits.pathLength)
  const word = 'x'.repeat(messageLimits.wordLength)

  test.each<[string, object, object]>([
    ['an id', { id: idOf(2) }, { id: `x${idOf(2)}` }],
    ['an id to its end', { id: idOf(3) }, { id: `${idOf(2)}0` }],
    ['a time', { createdAt: sampleTime }, { createdAt: `x${sampleTime}` }],
    ['a time to its end', { expiresAt: sampleTime }, { expiresAt: `${sampleTime}x` }],
    ['a word', { key: word }, { key: `${word}x` }],
    ['a word that is there', { key: 'k' }, { key: '' }],
    ['a subject', { subject: word }, { subject: 'x'.repeat(messageLimits.subjectLength + 1) }],
    ['a long body', { body: 'x'.repeat(10_000) }, { body: null }],
    ['recipients', { to: many(messageLimits.recipients) }, { to: many(messageLimits.recipients + 1) }],
    ['tags', { tags: many(messageLimits.tags) }, { tags: many(messageLimits.tags + 1) }],
    ['paths', { attachments: [path] }, { attachments: [`${path}x`] }],
    ['paths that are there', { attachments: [] }, { attachments: [''] }],
    ['a run', { generation: 1 }, { generation: 1.5 }],
    ['a flag', { requiresAck: true }, { requiresAck: 1 }],
  ])('%s', (_, good, bad) => {
    expect([accepts(good), accepts(bad)]).toEqual([true, false])
  })
})

test('what a sender may give beside the addresses', () => {
  const schema = z.strictObject(inputShape())
  const accepts = (fields: object) => schema.safeParse(fields).success
  for (const fields of [
    {},
    { ttlMs: null },
    { ttlMs: 5 },
    { supersede: true },
    { supersede: 'x' },
    { hold: true },
    { payload: [1] },
  ])
    expect(accepts(fields), JSON.stringify(fields)).toBe(true)
  for (const fields of [
    { ttlMs: 0 },
    { ttlMs: 'x' },
    { supersede: 5 },
    { to: 'ada' },
    { id: idOf(1) },
    { subject: undefined },
    { payload: 5n },
  ])
    expect(accepts(fields), String(Object.keys(fields))).toBe(false)
})

test('an agent is gone in one of three ways', () => {
  const accepts = (gone: string) => agentSchema.safeParse({ ...agent('ada'), gone }).success
  expect(['left', 'ended', 'silent'].every(accepts)).toBe(true)
  expect(['', 'lost'].some(accepts)).toBe(false)
})
