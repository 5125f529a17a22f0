import { describe, expect, test } from 'vitest'
import { fence } from '../../src/conversation/fence.ts'
import { toMarkdown } from '../../src/conversation/render.ts'
import { checkFields } from '../../src/model/check-fields.ts'
import { inputFields, optionName, storedFields } from '../../src/model/fields.ts'
import { type Message, messageLimits } from '../../src/model/message.ts'
import { isDraft } from '../../src/model/shape.ts'
import { refusal } from '../helpers/refusal.ts'
import { message } from '../helpers/samples.ts'
import { sampleOf } from './sample-of.ts'

test.each(
  storedFields.filter(({ label }) => label !== undefined).map((field) => [field.label!, field] as const),
)('readers see %s', (label, field) => {
  const value = sampleOf(field)
  const shown = message({ [field.name]: value } as Partial<Message>)
  const last = JSON.stringify(value).match(/\w+(?=\W*$)/)![0]
  const empty = message({ attachments: [] })
  for (const text of [toMarkdown(shown), fence(shown)]) {
    expect(text.toLowerCase()).toContain(label.toLowerCase())
    expect(text).toContain(last)
  }
  for (const text of [toMarkdown(empty), fence(empty)]) expect(text).not.toContain(`${label}:`)
})

describe.each(inputFields.map((field) => [field.name, field] as const))('%s', (name, field) => {
  test('accepts its sample and refuses another kind', () => {
    checkFields({ [name]: sampleOf(field) })
    const wrong = field.kind === 'json' ? () => 1 : Symbol.for('wrong')
    expect(() => checkFields({ [name]: wrong })).toThrow(expect.objectContaining({ code: 'invalid' }))
  })
})

test.each(storedFields.map((field) => [field.name, field] as const))(
  'the quick check of a line looks at %s',
  (name, field) => {
    const whole = { ...message(), [name]: sampleOf(field) } as Record<string, unknown>
    if (field.kind === 'addresses') whole[name] = ['ada']
    const isMessage = (value: object) => isDraft({ kind: 'message', message: value })
    expect(isMessage(whole)).toBe(true)
    const { [name]: _, ...rest } = whole
    expect(isMessage(rest)).toBe(field.stored === 'optional')
    if (field.kind !== 'json') expect(isMessage({ ...whole, [name]: Symbol.for('wrong') })).toBe(false)
  },
)

/** The edge of each check: what is just accepted, and what is just not. */
describe('a field holds', () => {
  const word = 'x'.repeat(messageLimits.wordLength)
  const path = 'x'.repeat(messageLimits.pathLength)
  const many = (n: number, item = 'a') => new Array<string>(n).fill(item)
  const decade = 10 * 366 * 86_400_000

  test.each<[string, unknown]>([
    ['type', 'a'],
    ['type', word],
    ['key', 'with spaces'],
    ['subject', ''],
    ['subject', 'x'.repeat(messageLimits.subjectLength)],
    ['body', 'x'.repeat(100_000)],
    ['priority', 'low'],
    ['generation', 1],
    ['ttlMs', 0.5],
    ['ttlMs', decade],
    ['ttlMs', null],
    ['to', word],
    ['to', many(messageLimits.recipients)],
    ['tags', many(messageLimits.tags, 'a:b')],
    ['attachments', [path]],
    ['attachments', many(messageLimits.attachments)],
    ['attachments', []],
    ['exclude', ['Zoë']],
    ['supersede', false],
    ['supersede', 'some-id'],
    ['payload', [1, 'two', null, { three: [] }]],
    ['context', {}],
    ['requiresAck', undefined],
    ['colour', undefined],
    ['to', ''],
    ['priority', 1],
    ['priority', 4],
    ['tags', ['handoff', 'tag:x']],
    ['expiresAt', '2999-11-15'],
    ['expiresAt', '2026-11-15T09:30:00+02:00'],
  ])('%s: %j', (name, value) => {
    expect(() => checkFields({ [name]: value })).not.toThrow()
  })

  test.each<[string, unknown, RegExp]>([
    ['type', '', /type must be 1 to 200 visible characters, not ""/],
    ['type', `${word}x`, /type must be 1 to 200/],
    ['type', 'two words', /type must not contain spaces/],
    ['type', 'tab\there', /type must be 1 to 200/],
    ['key', 'hidden\u200b', /key must be 1 to 200/],
    ['key', 'half \ud800', /key must be 1 to 200/],
    ['key', 5, /key must be 1 to 200 visible characters, not 5/],
    ['swarm', 'two  spaces', /swarm "two {2}spaces"/],
    ['subject', 7, /subject must be a string/],
    ['subject', 'x'.repeat(messageLimits.subjectLength + 1), /subject has 501 characters/],
    ['body', null, /body must be a string/],
    ['requiresAck', 'yes', /requiresAck must be true or false/],
    ['priority', 'asap', /priority must be one of low, normal, high, urgent, not "asap"/],
    ['generation', 0, /generation must be a whole number above 0/],
    ['generation', 1.5, /generation must be a whole number/],
    ['generation', 2 ** 53, /generation must be a whole number/],
    ['ttlMs', 0, /ttlMs must be above 0, at most 10 years/],
    ['ttlMs', -1, /ttlMs must be above 0/],
    ['ttlMs', decade + 1, /ttlMs must be above 0/],
    ['ttlMs', Number.NaN, /ttlMs must be above 0/],
    ['ttlMs', '5', /ttlMs must be above 0/],
    ['to', [''], /to must hold strings of 1 to 200 characters without NUL, not ""/],
    ['to', ['a\0b'], /to must hold strings/],
    ['to', `${word}x`, /to must hold strings/],
    ['to', [7], /to must hold strings .*, not 7/],
    ['to', { length: 1 }, /to must be a list of strings/],
    ['to', many(messageLimits.recipients + 1), /to has 257 items; the limit is 256/],
    ['tags', 'a:b', /tags must be a list of strings/],
    ['tags', ['role:x'], /"role:x" is not a tag/],
    ['priority', 5, /priority must be one of low, normal, high, urgent, not 5/],
    ['expiresAt', '2026-02-31', /expiresAt must be a date, not "2026-02-31"/],
    ['expiresAt', null, /expiresAt must be a date, not null/],
    ['expiresAt', 'tomorrow', /expiresAt must be a date/],
    ['tags', many(messageLimits.tags + 1, 'a:b'), /tags has 65 items; the limit is 64/],
    ['attachments', [`${path}x`], /attachments must hold strings of 1 to 4096/],
    ['exclude', ['all'], /exclude item "all" is reserved/],
    ['supersede', '', /supersede must be 1 to 200/],
    ['payload', { half: Number.NaN }, /payload/],
    ['payload', () => 1, /payload/],
    ['context', ['list'], /context must be an object/],
    ['context', { half: Number.NaN }, /context/],
  ])('not %s: %j', (name, value, said) => {
    const error = refusal(() => checkFields({ [name]: value }))
    expect(error.code).toBe('invalid')
    expect(error.message).toMatch(said)
    // However long the value is, the message about it is short.
    expect(error.message.length).toBeLessThan(200)
  })

  test('only what has a name in the table', () => {
    expect(() => checkFields({ to: 'ada', subject: 'Plan', body: 'hi' })).not.toThrow()
    const error = refusal(() => checkFields({ to: 'ada', colour: 'red', id: 'x' }))
    expect(error).toMatchObject({ code: 'invalid', message: 'a message has no field "colour"' })
    expect(error.hint).toBe(`fields: ${inputFields.map(({ name }) => name).join(', ')}`)
    // A sender does not choose the id.
    expect(refusal(() => checkFields({ id: 'x' })).message).toContain('"id"')
  })
})

test('a field is called on the command line and in MCP as its option', () => {
  const names = Object.fromEntries(inputFields.map((field) => [field.name, optionName(field)]))
  expect(names).toMatchObject({
    requiresAck: 'ack',
    replyTo: 'replyTo',
    threadId: 'thread',
    ttlMs: 'ttl',
    attachments: 'attach',
    to: 'to',
    traceparent: 'traceparent',
  })
})

test('the fields that every message has, and those that some have', () => {
  const names = (stored: string) =>
    storedFields.filter((one) => one.stored === stored).map(({ name }) => name)
  expect(names('always').sort()).toEqual(Object.keys(message()).sort())
  expect(names('optional')).toEqual([
    'replyTo',
    'expiresAt',
    'swarm',
    'key',
    'generation',
    'traceparent',
    'payload',
    'context',
    'offeredTo',
    'offeredUntil',
    'routed',
    'sealed',
    'bridge',
  ])
})
