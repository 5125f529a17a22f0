import { describe, expect, test } from 'vitest'
import { isAssign, offersMail } from '../../src/model/assign.ts'
import { toExported } from '../../src/model/transfer.ts'

describe('how mail to a role is assigned', () => {
  test.each([
    'queue',
    'least-busy',
    ' least-busy ',
    'ci=queue',
    ' ci = least-busy , review=queue',
    'queue,ci=queue',
  ])('can be %j', (text) => {
    expect(isAssign(text)).toBe(true)
  })

  test.each([
    ...[
      '',
      'most-busy',
      'queue,',
      ',queue',
      'queue, least-busy',
      'ci=queue,ci=least-busy',
      '=queue',
      ' = queue',
    ],
    ...['ci=', 'ci', 'ci=queue=queue', 'ci=queue queue', 5, null, undefined],
  ])('cannot be %j', (text) => {
    expect(isAssign(text)).toBe(false)
  })

  test.each<[string, string | undefined, boolean]>([
    ['queue', undefined, false],
    ['queue', 'ci', false],
    ['least-busy', undefined, true],
    ['least-busy', 'ci', true],
    [' least-busy ', 'ci', true],
    ['ci=least-busy', undefined, true],
    ['ci=least-busy', 'ci', true],
    [' ci = least-busy ', 'ci', true],
    ['ci=least-busy', 'qa', false],
    ['least-busy, ci=queue', undefined, true],
    ['least-busy, ci=queue', 'ci', false],
    ['least-busy, ci=queue', 'qa', true],
    ['queue, ci=queue', undefined, false],
    // A setting of a later version that we cannot read.
    ['by-weight', undefined, false],
    ['by-weight', 'ci', false],
  ])('%j for the role %s: offered to the least busy: %j', (setting, role, offers) => {
    expect(offersMail(setting, role)).toBe(offers)
    // It is remembered.
    expect(offersMail(setting, role)).toBe(offers)
  })
})

test('a change of a receipt is exported without places, and with its own fields first', () => {
  const change = {
    id: 'i',
    seq: 5,
    rank: 1,
    attempts: 2,
    owner: 'role:x',
    box: 'ada',
    state: 'shown',
  } as const
  const exported = toExported({ ...change, was: 'stored', wasBox: 'role:x' })
  expect(JSON.stringify(exported)).toBe(
    '{"id":"i","owner":"role:x","box":"ada","state":"shown","attempts":2}',
  )
})
