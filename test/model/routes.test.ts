import { describe, expect, test } from 'vitest'
import { checkRoute, describeEffect, describeRouted, parseConditions } from '../../src/model/routes.ts'
import { settings } from '../../src/model/settings.ts'
import { refusal } from '../helpers/refusal.ts'

describe('the conditions of a rule', () => {
  test.each<[string, ...[about: string, values: string[]][]]>([
    ['type:ci_failure', ['type', ['ci_failure']]],
    ['type:ci_failure,review  from:ada', ['type', ['ci_failure', 'review']], ['from', ['ada']]],
    ['from:agent:ada', ['from', ['ada']]],
    ['to:role:lead,*', ['to', ['role:lead', '*']]],
    ['from:"Mad Max","x, y"', ['from', ['Mad Max', 'x, y']]],
    ['tag:concern:security', ['tag', ['concern:security']]],
    ['priority:high,urgent', ['priority', ['high', 'urgent']]],
    ['flaky "out of disk"', ['words', ['flaky']], ['words', ['out of disk']]],
    ['subject:"a, b" body:x,y', ['subject', ['a, b']], ['body', ['x,y']]],
    ['"http://x"', ['words', ['http://x']]],
  ])('%s', (when, ...conditions) => {
    expect(parseConditions(when)).toEqual(conditions.map(([about, values]) => ({ about, values })))
  })

  test.each([
    ['', 'at least one'],
    ['   ', 'at least one'],
    ['concern:security', 'no condition "concern:"'],
    ['type:', 'has no value'],
    ['type:,', 'has no value'],
    ['subject:""', 'has no value'],
    ['priority:huge', 'unknown priority'],
    ['from:role:', 'role'],
    ['subject:"open', 'quote is missing'],
    ['a\nb', 'visible'],
    ['x'.repeat(501), 'visible'],
  ])('%j is refused', (when, why) => {
    expect(refusal(() => parseConditions(when))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(why),
    })
  })

  test('that look like a tag say how to write it', () => {
    expect(refusal(() => parseConditions('concern:security')).hint).toContain('tag:concern:security')
  })
})

describe('the setting routes', () => {
  test.each([
    [[]],
    [[{ when: 'type:x', to: 'ada' }]],
    [[{ when: 'type:x', to: ['ada', 'role:ci'], also: true, priority: 'high' }]],
    [
      [
        { when: 'type:x', priority: 'low' },
        { when: 'all words', to: 'all', also: false },
      ],
    ],
  ])('accepts %j', (value) => {
    expect(settings.routes.check(value)).toBe(true)
  })

  test.each([
    ['open'],
    [{}],
    [[null]],
    [[{ to: 'ada' }]],
    [[{ when: 5, to: 'ada' }]],
    [[{ when: 'type:x' }]],
    [[{ when: 'type:x', to: [] }]],
    [[{ when: 'type:x', to: 5 }]],
    [[{ when: 'type:x', to: ['ada', 5] }]],
    [[{ when: 'type:x', to: 'role:' }]],
    [[{ when: 'type:x', to: Array.from({ length: 257 }, (_, n) => `a${n}`) }]],
    [[{ when: 'type:x', to: 'ada', also: 'yes' }]],
    [[{ when: 'type:x', to: 'ada', priority: 'huge' }]],
    [[{ when: 'type:x', to: 'ada', from: 'bob' }]],
    [
      [
        { when: 'type:x', to: 'ada' },
        { when: '', to: 'ada' },
      ],
    ],
  ])('refuses %j', (value) => {
    expect(settings.routes.check(value)).toBe(false)
  })

  test('says what is wrong with a rule', () => {
    expect(refusal(() => checkRoute({ when: 'type:x' })).message).toBe('a rule must change something')
    expect(refusal(() => checkRoute({ when: 'type:x', too: 'ada' })).message).toContain('"too"')
  })
})

test('a rule and what it did are told in words', () => {
  expect(describeEffect({ when: 'x', to: ['ada', 'role:ci'] })).toBe('to ada, role:ci')
  expect(describeEffect({ when: 'x', to: 'ada', also: true, priority: 'high' })).toBe(
    'also to ada, with priority high',
  )
  expect(describeEffect({ when: 'x', priority: 'low' })).toBe('with priority low')
  expect(describeRouted({ rule: 2, when: 'type:x', sentTo: ['ada', 'bob'] })).toBe(
    'by rule 2 (type:x), sent to ada, bob',
  )
  expect(describeRouted({ rule: 1, when: 'y', sentTo: ['ada'], priority: 'normal' })).toBe(
    'by rule 1 (y), sent to ada with priority normal',
  )
})
