import { expect, test } from 'vitest'
import { boxesOf, clockOf, hasDied, implicitPerson, isAway, presentSince } from '../../src/model/agent.ts'
import { claimTtlMs } from '../../src/model/claim.ts'
import { clientWord } from '../../src/model/client.ts'
import { lossOf, receiptDrafts } from '../../src/model/entry.ts'
import { checkId } from '../../src/model/id.ts'
import { bucketOf, middleOf, percentile } from '../../src/model/latency.ts'
import { shownOf } from '../../src/model/shown-fields.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, message } from '../helpers/samples.ts'

test('a claim lasts a quarter of an hour', () => {
  expect(claimTtlMs).toBe(900_000)
})

test('the person is there before anybody says so', () => {
  const epoch = '1970-01-01T00:00:00.000Z'
  expect(implicitPerson()).toEqual({
    ...{ name: 'user', state: 'alive', roles: [], tags: [] },
    ...{ session: { generation: 0, startedAt: epoch }, lastSeenAt: epoch },
  })
})

test('the mail of an agent that is away has not expired at any time', () => {
  expect(clockOf({ state: 'frozen' }, 9_000)).toBe(0)
  expect(clockOf({ state: 'dead', gone: 'silent' }, 9_000)).toBe(0)
  expect(clockOf({ state: 'dead', gone: 'left' }, 9_000)).toBe(9_000)
  expect(clockOf({ state: 'idle' }, 9_000)).toBe(9_000)
  expect(clockOf(undefined, 9_000)).toBe(9_000)
})

test('an agent reads the boxes of its roles, its tags and of all', () => {
  expect(boxesOf(agent('ada', { roles: ['x', 'y'], tags: ['a:b'] }))).toEqual({
    roles: ['role:x', 'role:y'],
    groups: ['a:b', 'all'],
  })
})

test.each([
  ['Claude Code', 'claude'],
  ['claude-code', 'claude'],
  ['codex_cli_rs', 'codex'],
  ['  Gemini  ', 'gemini'],
  ['opencode', 'opencode'],
  ['My (own) Client!', 'my-own-client'],
  ['--x--', 'x'],
  ['x'.repeat(50), 'x'.repeat(40)],
  ['!!!', undefined],
  ['', undefined],
  [undefined, undefined],
])('the client %j is called %j', (name, word) => {
  expect(clientWord(name)).toBe(word)
})

test('receipts that do not change leave no entry', () => {
  const change = { id: 'x', seq: 1, rank: 1, owner: 'ada', box: 'ada', state: 'shown' as const }
  expect(receiptDrafts('shown', 'ada', [])).toEqual([])
  expect(receiptDrafts('shown', 'ada', [change])).toEqual([
    { kind: 'receipt', step: 'shown', by: 'ada', changes: [change] },
  ])
  expect(receiptDrafts('failed', 'ada', [change], 'why')).toMatchObject([{ note: 'why' }])
})

test('a loss of one entry and of several is put into words', () => {
  expect([lossOf({ from: 7, to: 7 }), lossOf({ from: 7, to: 9 })]).toEqual(['entry 7', 'entries 7 to 9'])
})

test('an id is text of 1 to 200 characters', () => {
  for (const id of ['x', 'x'.repeat(200)]) expect(() => checkId(id)).not.toThrow()
  for (const id of ['', 'x'.repeat(201), 5, undefined, ['x']]) {
    const error = refusal(() => checkId(id))
    expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(/ is not an id$/) })
    expect(error.message.length).toBeLessThan(80)
  }
  expect(refusal(() => checkId(undefined)).message).toBe('undefined is not an id')
})

test('a percentile is within 5 % of the truth', () => {
  const counts = (...times: number[]) => times.map((ms) => ({ bucket: bucketOf(ms), n: 1 }))
  expect(percentile([], 0.5)).toBeNull()
  expect(percentile([{ bucket: 5, n: 0 }], 0.5)).toBeNull()
  expect(percentile(counts(0, 0.5), 0.99)).toBe(0)
  expect(percentile(counts(900, 100, 500), 0.5)! / 500).toBeCloseTo(1, 1)
  expect(percentile(counts(900, 100, 500), 1)! / 900).toBeCloseTo(1, 1)
  expect(percentile(counts(900, 100, 500), 0.1)! / 100).toBeCloseTo(1, 1)
  for (const ms of [1, 1.5, 2, 3, 50, 1e6, 1e12])
    expect(Math.abs(middleOf(bucketOf(ms)) / ms - 1)).toBeLessThan(0.05)
  expect([bucketOf(0), bucketOf(0.99), bucketOf(1), bucketOf(2), bucketOf(1e15)]).toEqual([
    0,
    0,
    1,
    17,
    bucketOf(1e12),
  ])
})

test('a reader sees the fields with a label that the message has', () => {
  expect(shownOf(message())).toEqual([])
  const full = message({ attachments: ['a', 'b'], swarm: 'dev', payload: { n: 1 }, context: { why: 'so' } })
  expect(shownOf(full)).toEqual([
    { label: 'Attachments', text: 'a, b', section: true },
    { label: 'Swarm', text: 'dev', section: false },
    { label: 'Payload', text: '{"n":1}', section: true },
    { label: 'Context', text: '{"why":"so"}', section: true },
  ])
  expect(shownOf(message({ payload: 'text' }))).toMatchObject([{ text: '"text"' }])
})

test('an agent is away, has died or has left', () => {
  const states = [
    { state: 'alive' },
    { state: 'frozen' },
    { state: 'dead', gone: 'left' },
    { state: 'dead', gone: 'ended' },
    { state: 'dead', gone: 'silent' },
  ] as const
  expect(states.map((one) => isAway(one))).toEqual([false, true, false, true, true])
  expect(states.map((one) => hasDied(one))).toEqual([false, false, false, true, false])
  expect(hasDied({ state: 'alive', gone: 'ended' })).toBe(false)
  expect(states.map((one) => clockOf(one, 7))).toEqual([7, 0, 7, 0, 0])
  expect(clockOf(undefined, 7)).toBe(7)
})

test('an agent is here since its session began, or since it was last away', () => {
  const session = { generation: 1, startedAt: '2026-01-02T00:00:00.000Z' }
  const since = (to?: string) =>
    new Date(
      presentSince({ session, ...(to === undefined ? {} : { lastAway: { from: session.startedAt, to } }) }),
    ).toISOString()
  expect(since()).toBe(session.startedAt)
  expect(since('2026-01-03T00:00:00.000Z')).toBe('2026-01-03T00:00:00.000Z')
  expect(since('2026-01-01T00:00:00.000Z')).toBe(session.startedAt)
})
