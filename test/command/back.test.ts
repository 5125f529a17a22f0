import { describe, expect, test } from 'vitest'
import { resolveAddresses } from '../../src/command/resolve.ts'
import { decideReturn } from '../../src/command/revive.ts'
import type { NoticeKind } from '../../src/conversation/notice.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  agentsIn,
  context,
  directoryOf,
  hour,
  iso,
  type Mail,
  mail,
  messagesIn,
  minute,
  now,
  receiptsIn,
  spaceOf,
} from './fake-view.ts'

const tied = { generation: 3, startedAt: iso(now - 9 * hour), id: 's', pid: 7, pidStart: '1', host: 'h' }
const bobIs = (fields: Partial<Agent>) =>
  agent('bob', { session: tied, lastSeenAt: iso(now - hour), ...fields })
const silent = bobIs({ state: 'dead', gone: 'silent' })
const comeBack = (bob: Agent, isEnded = false, ...mails: Mail[]) =>
  decideReturn(spaceOf([agent('ada'), agent('cy'), bob], ...mails), 'bob', isEnded, context())

describe('whoever acts is there', () => {
  test.each<[string, Partial<Agent>, boolean, object | undefined]>([
    ['and was', { state: 'alive' }, false, undefined],
    ['from elsewhere', { state: 'alive' }, true, { change: 'updated', isTied: false, by: 'bob' }],
    [
      'after it was silent',
      { state: 'dead', gone: 'silent' },
      false,
      { change: 'resumed', isTied: true, by: 'system' },
    ],
    [
      'after its process ended',
      { state: 'dead', gone: 'ended' },
      false,
      { change: 'resumed', isTied: false, by: 'system' },
    ],
    ['after it was frozen', { state: 'frozen' }, false, { change: 'resumed', isTied: true, by: 'system' }],
    ['but not after it has left', { state: 'dead', gone: 'left' }, false, undefined],
    ['wherever it acts from', { state: 'dead', gone: 'left' }, true, undefined],
  ])('%s', (_, fields, isEnded, expected) => {
    const [said] = agentsIn(comeBack(bobIs(fields), isEnded))
    if (expected === undefined) expect(said).toBeUndefined()
    else {
      const { change, by, agent: back } = said!
      expect({ change, by, isTied: back.session.pid === 7 }).toEqual(expected)
      expect(back).toMatchObject({
        state: 'alive',
        lastSeenAt: iso(now),
        session: { generation: 3, id: 's' },
      })
    }
  })

  test('and the person and the system always are', () => {
    const view = spaceOf([silent])
    for (const name of ['user', 'system']) expect(decideReturn(view, name, true, context())).toEqual([])
  })
})

describe('an agent that is back', () => {
  const dead = (fields: Partial<Mail['receipts'][number]> = {}, number = 1): Mail =>
    mail(number, { from: 'ada', to: ['bob'] }, { owner: 'bob', state: 'dead', ...fields })
  const told = (
    fields: { to?: string; kind?: NoticeKind; state?: ReceiptState; ms?: number; about?: number } = {},
  ): Mail => {
    const { to = 'ada', kind = 'waiting', state = 'shown', ms = now - minute, about = 1 } = fields
    return mail(
      10 + about,
      {
        ...{ from: 'system', to: [to], createdAt: iso(ms) },
        payload: { notice: kind, about: [{ id: idOf(about), to: 'bob', kind, reason: 'r' }] },
      },
      { owner: to, state },
    )
  }
  const news = (...mails: Mail[]) => messagesIn(comeBack(silent, false, ...mails))

  test.each<[string, Mail, boolean]>([
    ['unread', dead({ before: 'stored' }), true],
    ['of unknown state', dead(), true],
    ['read', dead({ before: 'acked', expiresAt: now - 1 }), true],
    ['unread and over', dead({ before: 'notified', expiresAt: now }), false],
    ['unread and not over', dead({ before: 'notified', expiresAt: now + 1 }), true],
    ['expired', dead({ state: 'expired', before: 'stored' }), false],
    ['failed too often', dead({ failures: 5 }), false],
    ['failed often', dead({ failures: 4 }), true],
    [
      'for a run',
      mail(1, { from: 'ada', to: ['bob'], generation: 3 }, { owner: 'bob', state: 'dead' }),
      false,
    ],
  ])('has its dead letters again: %s', (_, letter, isBack) => {
    const changes = receiptsIn(comeBack(silent, false, letter)).flatMap(({ step, changes: all }) =>
      step === 'revived' ? all : [],
    )
    expect(changes.map(({ state }) => state)).toEqual(isBack ? [letter.receipts[0]!.before ?? 'stored'] : [])
  })

  test.each<[string, Mail, boolean]>([
    ['that it waits', told(), true],
    ['that it was not delivered', told({ kind: 'undelivered' }), true],
    ['when it went', told({ ms: now - hour }), true],
    ['of something else', told({ kind: 'unread' }), false],
    ['but was not: another was', told({ to: 'cy' }), false],
    ['but has not read it', told({ state: 'stored' }), false],
    ['but it was taken back', told({ state: 'withdrawn' }), false],
    ['in another absence', told({ ms: now - hour - 1 }), false],
  ])('is told to whoever was told %s', (_, notice, isTold) => {
    for (const letter of [dead(), mail(1, { from: 'ada', to: ['bob'] })])
      expect(news(letter, notice)).toHaveLength(isTold ? 1 : 0)
  })

  test('is told once, with every message', () => {
    const one = news(dead(), told())
    expect(one).toMatchObject([
      { from: 'system', to: ['ada'], type: 'notification', replyTo: idOf(1), body: `- ${idOf(1)}` },
    ])
    expect(one[0]!.subject).toContain('bob is back and has your message')
    const both = news(dead(), dead({}, 2), told(), told({ about: 2 }))
    expect(both).toMatchObject([{ to: ['ada'], body: `- ${idOf(1)}\n- ${idOf(2)}` }])
    expect(both[0]!.subject).toContain('2 messages')
    expect(both[0]).not.toHaveProperty('replyTo')
    // What it has claimed for a role was never said to be lost.
    const claimed = mail(1, { from: 'ada', to: ['role:r'] }, { owner: 'role:r', box: 'bob', state: 'shown' })
    expect(news(claimed, told())).toEqual([])
  })
})

describe('an address', () => {
  const session = (id: string) => ({ session: { generation: 1, startedAt: iso(now), id } })
  const directory = directoryOf(
    agent('ada', { roles: ['tester'], tags: ['project:parser', 'swarm:parser'], ...session('s-1') }),
    agent('bob', { state: 'dead', tags: ['project:lexer'], ...session('s-2') }),
    agent('cy', { state: 'frozen', ...session('s-3') }),
    agent('dan', session('s-3')),
  )
  const resolve = (written: string, hold = false) => {
    const { addresses, warnings } = resolveAddresses(directory, [written], hold)
    return [addresses[0], warnings.join()] as const
  }

  test.each([
    ['ada', 'ada', ''],
    ['agent:ada', 'ada', ''],
    ['bob', 'bob', 'is gone'],
    ['agent:bob', 'bob', 'is gone'],
    ['cy', 'cy', 'is frozen'],
    ['s-1', 'ada', ''],
    ['s-2', 'bob', 'is gone'],
    ['user', 'user', ''],
  ])('%s is the agent %s', (written, name, warning) => {
    const [address, warnings] = resolve(written)
    expect(address).toEqual({ kind: 'agent', name })
    if (warning === '') expect(warnings).toBe('')
    else expect(warnings).toContain(`${name} ${warning}`)
  })

  test('that several have is none', () => {
    const error = refusal(() => resolve('s-3'))
    expect([error.code, error.message]).toEqual(['unknown_recipient', 'several agents have the session s-3'])
    expect(error.hint).toContain('cy, dan')
  })

  test('of a role can be its name alone', () => {
    expect(resolve('tester')).toEqual([{ kind: 'role', name: 'tester' }, ''])
    expect(refusal(() => resolve('agent:tester')).code).toBe('unknown_recipient')
    expect(resolve('agent:tester', true)).toEqual([
      { kind: 'agent', name: 'tester' },
      expect.stringContaining('tester has not joined yet'),
    ])
  })

  test.each([
    ['role:testr', 'role:tester'],
    ['role:zzzzzz', undefined],
    ['project:parsr', 'project:parser'],
    ['project:lexxer', 'project:lexer'],
    ['swarm:parsr', 'swarm:parser'],
    ['swarm:lexer', undefined],
    ['project:par', undefined],
  ])('%s that nobody has is kept, and perhaps %s was meant', (written, meant) => {
    const [, warning] = resolve(written)
    expect(warning).toContain('the message waits')
    if (meant === undefined) expect(warning).not.toContain('did you mean')
    else expect(warning).toContain(`did you mean ${meant}?`)
  })
})
