import { describe, expect, test } from 'vitest'
import { hasExpired, isOutdated, type MessageFacts, reachOf } from '../../src/model/reach.ts'
import type { Receipt } from '../../src/model/receipt.ts'
import { agent, idOf } from '../helpers/samples.ts'

const now = 1_000_000
const facts: MessageFacts = {
  ...{ seq: 1, id: idOf(1), sender: 'bob', rank: 1, expiresAt: null },
  ...{ excluded: [], requiresAck: false, asks: 0, generation: null, imported: false },
}

function receipt(owner: string, fields: Partial<Receipt> = {}): Receipt {
  return {
    ...{
      seq: 1,
      owner,
      box: owner,
      rank: 1,
      state: 'stored',
      attempts: 0,
      claimUntil: null,
      expiresAt: null,
    },
    ...{ ackBy: null, repeats: 0, level: 0, viaGroup: false, seen: false },
    ...{ failures: 0, since: 0, before: null },
    ...fields,
  }
}

const ada = agent('ada', {
  roles: ['dev', 'ops'],
  tags: ['project:x'],
  session: { generation: 3, startedAt: '' },
})
const reach = (receipts: Receipt[], message: Partial<MessageFacts> = {}) =>
  reachOf(ada, { ...facts, ...message }, receipts, now)
const claimed = (fields: Partial<Receipt>) =>
  receipt('role:dev', { box: 'cy', state: 'shown', claimUntil: now + 1, ...fields })

describe('mail to an agent', () => {
  test('is held by it, whatever its state', () => {
    const own = receipt('ada', { state: 'archived' })
    expect(reach([own])).toEqual({ kind: 'reached', held: [own], claimable: [], group: false })
  })

  test('to somebody else is none of its business', () => {
    expect(reach([receipt('cy')])).toEqual({ kind: 'none' })
    expect(reach([receipt('role:tester')])).toEqual({ kind: 'none' })
    expect(reach([receipt('project:y')])).toEqual({ kind: 'none' })
    expect(reach([])).toEqual({ kind: 'none' })
  })

  test('is over when it was for an earlier run', () => {
    expect(reach([receipt('ada')], { generation: 2 })).toEqual({ kind: 'over', state: 'dead' })
    expect(reach([receipt('ada')], { generation: 3 }).kind).toBe('reached')
    expect(reach([receipt('cy')], { generation: 2 })).toEqual({ kind: 'none' })
  })
})

describe('mail to a role', () => {
  test('can be claimed by whoever holds the role', () => {
    const free = receipt('role:ops')
    expect(reach([free])).toEqual({ kind: 'reached', held: [], claimable: [free], group: false })
  })

  test('is held by whoever claimed it, and is not claimable again', () => {
    const mine = claimed({ box: 'ada' })
    expect(reach([mine])).toEqual({ kind: 'reached', held: [mine], claimable: [], group: false })
    const lapsed = claimed({ box: 'ada', claimUntil: now })
    expect(reach([lapsed])).toEqual({ kind: 'reached', held: [lapsed], claimable: [], group: false })
  })

  test('is taken while the claim of another lasts', () => {
    expect(reach([claimed({})])).toEqual({ kind: 'taken', by: 'cy' })
  })

  test.each(['shown', 'acked', 'processing'] as const)('is free when a claim ran out while %s', (state) => {
    const lapsed = claimed({ state, claimUntil: now })
    expect(reach([lapsed])).toEqual({ kind: 'reached', held: [], claimable: [lapsed], group: false })
  })

  test('that failed stays with the one who failed, also without an end of its claim', () => {
    expect(reach([claimed({ state: 'failed', claimUntil: now })])).toEqual({ kind: 'taken', by: 'cy' })
    expect(reach([claimed({ claimUntil: null })])).toEqual({ kind: 'taken', by: 'cy' })
  })

  test('that is finished is over, or was taken by the one who finished it', () => {
    expect(reach([receipt('role:dev', { state: 'withdrawn' })])).toEqual({ kind: 'over', state: 'withdrawn' })
    expect(reach([claimed({ state: 'archived', claimUntil: null })])).toEqual({ kind: 'taken', by: 'cy' })
  })

  test('to two of its roles is claimed as one', () => {
    const both = [receipt('role:dev'), receipt('role:ops')]
    expect(reach(both)).toMatchObject({ held: [], claimable: both })
    const mine = claimed({ box: 'ada' })
    expect(reach([mine, receipt('role:ops')])).toMatchObject({
      held: [mine],
      claimable: [receipt('role:ops')],
    })
  })
})

describe('mail to a group', () => {
  test.each(['project:x', 'all'])('%s reaches a member that has not seen it', (group) => {
    expect(reach([receipt(group)])).toEqual({ kind: 'reached', held: [], claimable: [], group: true })
  })

  test('is held by a member that saw it, and not new to it', () => {
    const own = receipt('ada', { state: 'shown', viaGroup: true })
    expect(reach([receipt('all'), own])).toEqual({
      kind: 'reached',
      held: [own],
      claimable: [],
      group: false,
    })
  })

  test('does not reach its sender or whoever was left out', () => {
    expect(reach([receipt('all')], { sender: 'ada' })).toEqual({ kind: 'none' })
    expect(reach([receipt('all')], { excluded: ['cy', 'ada'] })).toEqual({ kind: 'none' })
  })

  test('that was withdrawn or has expired is over', () => {
    expect(reach([receipt('all', { state: 'withdrawn' })])).toEqual({ kind: 'over', state: 'withdrawn' })
    expect(reach([receipt('all')], { expiresAt: now })).toEqual({ kind: 'over', state: 'expired' })
    expect(reach([receipt('all')], { expiresAt: now + 1 }).kind).toBe('reached')
  })

  test('is new to a member that has claimed it for a role as well', () => {
    const mine = claimed({ box: 'ada' })
    expect(reach([mine, receipt('all')])).toEqual({
      kind: 'reached',
      held: [mine],
      claimable: [],
      group: true,
    })
  })
})

test('mail is outdated for a later run alone, and only if it names one', () => {
  const outdated = (generation: number | null) => isOutdated(ada, { generation })
  expect([null, 2, 3, 4].map(outdated)).toEqual([false, true, false, false])
})

test('mail expires at its time, and without one never', () => {
  const expired = (expiresAt: number | null) => hasExpired({ expiresAt }, now)
  expect([null, now - 1, now, now + 1].map(expired)).toEqual([false, true, true, false])
})

describe('mail of its own to a role that it holds', () => {
  const own = { sender: 'ada' }
  const reachAmong = (others: boolean, receipts: Receipt[], message: Partial<MessageFacts> = own) =>
    reachOf(ada, { ...facts, ...message }, receipts, now, (role) => others && role === 'dev')

  test('is for the others, if there are any', () => {
    const free = receipt('role:dev')
    expect(reachAmong(true, [free])).toEqual({ kind: 'own', role: 'role:dev' })
    expect(reachAmong(false, [free])).toMatchObject({ kind: 'reached', claimable: [free] })
    expect(reachAmong(true, [free], { sender: 'bob' })).toMatchObject({ kind: 'reached', claimable: [free] })
    expect(reachOf(ada, { ...facts, ...own }, [free], now)).toMatchObject({
      kind: 'reached',
      claimable: [free],
    })
    const both = [free, receipt('role:ops')]
    expect(reachAmong(true, both)).toMatchObject({ kind: 'reached', claimable: [both[1]] })
  })
})

describe('mail to a group that expired while an agent was away', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const [from, to] = [now - 1_000, now - 400]
  const back = { ...ada, lastAway: { from: at(from), to: at(to) } }
  const found = (
    expiresAt: number | null,
    fields: Partial<Receipt> = { state: 'expired' },
    who: typeof ada = back,
    time = now,
  ) => reachOf(who, { ...facts, expiresAt }, [receipt('all', fields)], time).kind

  test('has as much of its life left as when the agent went', () => {
    // It had 500 ms to live when ada went, and she has been back for 400.
    expect(found(from + 500)).toBe('reached')
    expect(found(from + 400)).toBe('over')
    expect(found(from + 401)).toBe('reached')
    expect(found(to)).toBe('reached')
    expect(found(to + 1)).toBe('over')
    expect(found(from)).toBe('over')
    expect(found(from + 500, undefined, back, now + 100)).toBe('over')
  })

  test('is over for those who were here, and if it was ended otherwise', () => {
    expect(found(from + 500, undefined, ada)).toBe('over')
    expect(found(from + 500, { state: 'withdrawn' })).toBe('over')
    expect(found(null, { state: 'expired' })).toBe('over')
  })
})
