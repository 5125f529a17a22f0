import { describe, expect, test } from 'vitest'
import { decideHandle } from '../../src/command/handle.ts'
import type { HandleStep } from '../../src/command/ladder.ts'
import { decideClaimNext, decideKeep, decideShow } from '../../src/command/take.ts'
import type { Message } from '../../src/model/message.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  context,
  hour,
  iso,
  type Mail,
  mail,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
} from './fake-view.ts'

const team = [agent('ada'), agent('bob', { roles: ['dev'] }), agent('cy', { roles: ['dev'] })]
const task = { from: 'ada', type: 'task_assignment' } as const
const text = { from: 'ada' } as const
const forRole = (number: number, fields: Partial<Message>, receipt: Partial<ReceiptInput> = {}): Mail =>
  mail(number, { to: ['role:dev'], ...fields }, { owner: 'role:dev', ...receipt })
const held = { box: 'bob', state: 'shown', claimUntil: now + minute } as const

describe('what an agent is shown', () => {
  const shown = (mails: Mail[], options?: { oneTask: boolean }) =>
    decideShow(
      spaceOf(team, ...mails),
      'bob',
      mails.map(({ facts }) => facts.id),
      context(),
      options,
    ).flatMap(({ changes }) => changes.map(({ seq, owner }) => `${seq} ${owner}`))
  const one = { oneTask: true }

  test('is everything, or one piece of work for a role', () => {
    const mails = [forRole(1, text), forRole(2, task), forRole(3, task), forRole(4, text)]
    expect(shown(mails)).toEqual(['1 role:dev', '2 role:dev', '3 role:dev', '4 role:dev'])
    expect(shown(mails, one)).toEqual(['1 role:dev', '2 role:dev', '4 role:dev'])
  })

  test('is its own work in any case', () => {
    const own = (number: number) => mail(number, { ...task, to: ['bob'] })
    expect(shown([own(1), forRole(2, task), own(3)], one)).toEqual(['1 bob', '2 role:dev', '3 bob'])
  })

  test('is no more work for a role while some is in hand', () => {
    const both = mail(3, { ...task, to: ['bob', 'role:dev'] })
    // What also went to the agent itself is its own.
    expect(shown([forRole(1, task, held), forRole(2, task), both, forRole(4, text)], one)).toEqual([
      '3 bob',
      '3 role:dev',
      '4 role:dev',
    ])
  })
})

describe('an agent at work keeps', () => {
  const kept = (...mails: Mail[]) =>
    receiptsIn(decideKeep(spaceOf(team, ...mails), 'bob', context())).flatMap(({ step, by, note, changes }) =>
      changes.map(({ seq, state, claimUntil }) => ({ step, by, note, seq, state, claimUntil })),
    )
  const extended = { step: 'extended', by: 'bob', note: 'at work', seq: 1 }

  test('the work that it has claimed, for four hours from now', () => {
    expect(kept(forRole(1, task, held))).toEqual([
      { ...extended, state: 'shown', claimUntil: iso(now + 4 * hour) },
    ])
    expect(kept(forRole(1, task, { ...held, state: 'acked', claimUntil: now + 9 * hour }))).toEqual([
      { ...extended, state: 'acked', claimUntil: iso(now + 9 * hour) },
    ])
  })

  test.each<[string, Mail]>([
    ['work of another', forRole(1, task, { ...held, box: 'cy' })],
    ['work that nobody has taken', forRole(1, task)],
    ['work without a lease', forRole(1, task, { ...held, claimUntil: null })],
    ['work that has failed', forRole(1, task, { ...held, state: 'failed' })],
    ['what is no work', forRole(1, { ...text, awaitingResponse: true }, held)],
    [
      'its own mail',
      mail(1, { ...task, to: ['bob'] }, { owner: 'bob', state: 'shown', claimUntil: now + 1 }),
    ],
  ])('but not %s', (_, one) => {
    expect(kept(one)).toEqual([])
  })

  test('nothing of what it does not know', () => {
    const view = spaceOf(team, forRole(1, task, held))
    expect(decideKeep({ ...view, message: () => undefined }, 'bob', context())).toEqual([])
  })
})

describe('a claim', () => {
  const until = (one: Mail, step: HandleStep) =>
    receiptsIn(decideHandle(spaceOf(team, one), { agent: 'bob', step, id: idOf(1) }, context()))[0]!
      .changes[0]!.claimUntil

  test('is made of mail to a role only', () => {
    expect(until(forRole(1, task), 'shown')).toBe(iso(now + 4 * hour))
    expect(until(mail(1, { ...task, to: ['bob'] }), 'shown')).toBeUndefined()
  })

  test('ends with the ack, if that was all that was wanted', () => {
    const ack = { ...text, requiresAck: true }
    expect(until(forRole(1, ack), 'shown')).toBe(iso(now + 4 * hour))
    expect(until(forRole(1, ack, held), 'acked')).toBeUndefined()
    expect(until(forRole(1, task, held), 'acked')).toBe(iso(now + minute))
  })

  test('begins where there was none', () => {
    expect(until(forRole(1, task, { ...held, claimUntil: null }), 'acked')).toBe(iso(now + 4 * hour))
  })

  test('of the next message is for those who hold the role', () => {
    const view = spaceOf(team, forRole(1, task))
    const error = refusal(() => decideClaimNext(view, 'ada', 'dev', undefined, context()))
    expect([error.code, error.message]).toEqual(['not_permitted', 'ada does not hold the role dev'])
    const own = spaceOf(team, forRole(1, { ...task, from: 'bob' }))
    expect(
      refusal(() => decideHandle(own, { agent: 'bob', step: 'claimed', id: idOf(1) }, context())).message,
    ).toBe(`bob has sent message ${idOf(1)} to role:dev itself`)
  })
})
