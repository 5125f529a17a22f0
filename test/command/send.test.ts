import { describe, expect, test } from 'vitest'
import { checkSend } from '../../src/command/check-send.ts'
import { decideSend as decideOn, type SendCommand } from '../../src/command/send.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Directory } from '../../src/model/directory.ts'
import type { SendInput } from '../../src/model/fields.ts'
import { messageLimits } from '../../src/model/message.ts'
import type { Rules } from '../../src/model/rules.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  context,
  directoryOf,
  iso,
  mail,
  minute,
  now,
  spaceOf,
  withDirectory,
  withPolicy,
} from './fake-view.ts'

const directory = directoryOf(
  agent('ada', { roles: ['architect'], tags: ['project:inscription'] }),
  agent('bob'),
  agent('swarm_dev/architect'),
  agent('gone', { roles: ['tester'], state: 'dead' }),
)

type Said = SendInput & Partial<Pick<SendCommand, 'from' | 'parent'>>
const command = ({ from = 'bob', parent, ...input }: Said): SendCommand => ({ from, parent, input })
const decideSend = (...given: Parameters<typeof decideOn>) => {
  const { drafts, result } = decideOn(...given)
  return { drafts, ...result }
}
const decide = (said: Said) => decideSend(withDirectory(directory), command(said), context())
const recipients = (...to: string[]) => decide({ to }).message.to
const check = (input: object) => checkSend(input as SendInput, messageLimits.bytes)

describe('whom a message is for', () => {
  test.each([
    [['ada'], ['ada']],
    [['agent:ada'], ['ada']],
    [['*'], ['all']],
    [['role:architect'], ['role:architect']],
    [['project:inscription'], ['project:inscription']],
    [['broadcast:dev'], ['broadcast:dev']],
    [['swarm_dev/architect'], ['swarm_dev/architect']],
    [['user'], ['user']],
  ])('%j', (written, stored) => {
    expect(recipients(...written)).toEqual(stored)
  })

  test('one address may be given as it is', () => {
    expect(decide({ to: 'ada' }).message.to).toEqual(['ada'])
  })

  test('a bare name that only a role has means the role', () => {
    expect(recipients('architect')).toEqual(['role:architect'])
  })

  test('a bare name that an agent has means the agent, though a role is called so, too', () => {
    const both = directoryOf(agent('tester'), agent('ada', { roles: ['tester'] }))
    expect(
      decideSend(withDirectory(both), command({ from: 'ada', to: 'tester' }), context()).message.to,
    ).toEqual(['tester'])
  })

  test('a role that only the dead held is still a role', () => {
    expect(recipients('tester')).toEqual(['role:tester'])
  })

  test('agent:NAME never means a role', () => {
    expect(refusal(() => recipients('agent:architect')).code).toBe('unknown_recipient')
  })

  test('the same address twice is one', () => {
    expect(recipients('ada', 'agent:ada', 'all', '*')).toEqual(['ada', 'all'])
  })

  test('one unknown name among several refuses them all', () => {
    expect(refusal(() => recipients('ada', 'nobody', 'all')).code).toBe('unknown_recipient')
  })
})

describe('an unknown name', () => {
  test.each([
    ['adda', 'ada'],
    ['aad', 'ada'],
    ['Ada', 'ada'],
    ['architct', 'role:architect'],
    ['usr', 'user'],
    ['dev/architect', 'swarm_dev/architect'],
  ])('%s is refused and %s suggested', (written, near) => {
    const error = refusal(() => recipients(written))
    expect(error.code).toBe('unknown_recipient')
    expect(error.hint).toContain(near)
    expect(error.hint).toContain('--hold')
  })

  test('that resembles nothing is refused without a guess', () => {
    const error = refusal(() => recipients('zzzzzz'))
    expect(error.hint).not.toMatch(/did you mean/)
    expect(error.hint).toContain('--hold')
  })

  test('at most three are suggested', () => {
    const many = directoryOf(...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => agent(name)))
    const error = refusal(() => decideSend(withDirectory(many), command({ from: 'a1', to: 'a9' }), context()))
    expect(error.hint?.match(/\ba\d\b/g)).toHaveLength(3)
  })

  test('is kept for an agent yet to come when the mail is to be held', () => {
    const { message, warnings } = decide({ to: 'zoe', hold: true })
    expect(message.to).toEqual(['zoe'])
    expect(warnings).toEqual([expect.stringContaining('zoe has not joined yet')])
  })
})

describe('what the sender is told', () => {
  test('nothing when all is well', () => {
    expect(decide({ to: ['ada', 'role:architect', 'project:inscription', 'all', 'user'] }).warnings).toEqual(
      [],
    )
  })

  test('that nobody holds the role now', () => {
    expect(decide({ to: 'role:tester' }).warnings).toEqual([
      expect.stringContaining('no agent has the role tester'),
    ])
    expect(decide({ to: 'role:new' }).warnings).toEqual([
      expect.stringContaining('no agent has the role new'),
    ])
  })

  test('that nobody carries the tag now', () => {
    expect(decide({ to: 'project:other' }).warnings).toEqual([expect.stringContaining('project:other')])
    expect(decide({ to: 'broadcast:dev' }).warnings).toEqual([expect.stringContaining('swarm:dev')])
  })

  test('that mail is not a document', () => {
    expect(decide({ to: 'ada', body: 'word '.repeat(500) }).warnings).toEqual([])
    expect(decide({ to: 'ada', body: 'word '.repeat(501) }).warnings).toEqual([
      expect.stringContaining('500 words'),
    ])
  })
})

describe('the message', () => {
  test('has a default for everything but its recipient', () => {
    expect(decide({ to: 'ada' }).message).toEqual({
      id: idOf(1),
      from: 'bob',
      to: ['ada'],
      type: 'text',
      priority: 'normal',
      createdAt: '2026-11-15T10:00:00.000Z',
      threadId: idOf(1),
      expiresAt: '2026-11-16T10:00:00.000Z',
      requiresAck: false,
      awaitingResponse: false,
      tags: [],
      attachments: [],
      subject: '',
      body: '',
    })
  })

  test('keeps what was said', () => {
    const said = {
      type: 'help_request',
      priority: 'urgent',
      subject: 'S',
      body: 'B',
      payload: { a: [1, null] },
      context: { nextSteps: ['x'] },
      requiresAck: true,
      awaitingResponse: true,
      attachments: ['a', 'b'],
      tags: ['project:x'],
      swarm: 'dev',
      key: 'k',
      traceparent: '00-1-2-01',
    } as const
    expect(decide({ to: 'ada', ...said }).message).toMatchObject(said)
  })

  test('names a tag once', () => {
    expect(decide({ to: 'ada', tags: ['project:x', 'project:x'] }).message.tags).toEqual(['project:x'])
  })

  test('lives as long as it is told, or for ever', () => {
    expect(decide({ to: 'ada', ttlMs: 60_000 }).message.expiresAt).toBe('2026-11-15T10:01:00.000Z')
    expect(decide({ to: 'ada', ttlMs: null }).message).not.toHaveProperty('expiresAt')
  })

  test('lives as long as the longest of its addresses', () => {
    expect(decide({ to: ['all', 'ada'] }).message.expiresAt).toBe('2026-11-16T10:00:00.000Z')
    expect(decide({ to: 'all' }).message.expiresAt).toBe('2026-11-15T14:00:00.000Z')
    expect(decide({ to: ['all', 'role:architect'] }).message).not.toHaveProperty('expiresAt')
  })

  test('starts a thread of its own', () => {
    const { message } = decide({ to: 'ada' })
    expect(message.threadId).toBe(message.id)
    expect(message).not.toHaveProperty('replyTo')
  })

  test('joins the thread of what it answers', () => {
    const { message } = decide({ to: 'ada', parent: { id: idOf(7), threadId: idOf(3) } })
    expect(message).toMatchObject({ replyTo: idOf(7), threadId: idOf(3) })
  })

  test('goes where its sender wants it, answer or not', () => {
    const { message } = decide({
      to: 'ada',
      threadId: 'release-2',
      parent: { id: idOf(7), threadId: idOf(3) },
    })
    expect(message).toMatchObject({ replyTo: idOf(7), threadId: 'release-2' })
  })

  test('is one draft, with those it leaves out beside it', () => {
    expect(decide({ to: 'all', exclude: ['ada'] }).drafts).toMatchObject([
      { kind: 'message', exclude: ['ada'] },
    ])
    expect(decide({ to: 'all' }).drafts[0]).not.toHaveProperty('exclude')
  })
})

describe('a message that is not even looked at', () => {
  test.each<[string, object]>([
    ['no recipient', { to: [] }],
    ['an empty recipient', { to: '' }],
    ['a recipient that is no text', { to: [5] }],
    ['recipients that are no list', { to: 5 }],
    ['recipients that are missing', {}],
    ['more recipients than 256', { to: Array.from({ length: 257 }, (_, n) => `a${n}`) }],
    ['an empty type', { to: 'ada', type: '' }],
    ['a type with spaces', { to: 'ada', type: 'two words' }],
    ['a type with a control character', { to: 'ada', type: 'a\u001b' }],
    ['a type of 201 characters', { to: 'ada', type: 'x'.repeat(201) }],
    ['an unknown priority', { to: 'ada', priority: 'soon' }],
    ['a subject of 501 characters', { to: 'ada', subject: 'x'.repeat(501) }],
    ['a subject that is no text', { to: 'ada', subject: 5 }],
    ['a body that is no text', { to: 'ada', body: Buffer.from('x') }],
    ['a payload that is no JSON', { to: 'ada', payload: { at: new Date() } }],
    ['a payload with a number beyond 2^53', { to: 'ada', payload: [2 ** 53] }],
    ['a payload with __proto__', { to: 'ada', payload: JSON.parse('{"__proto__":1}') }],
    ['a context that is no JSON', { to: 'ada', context: { f: () => 1 } }],
    ['a context that is no object', { to: 'ada', context: [1] }],
    ['a context that is null', { to: 'ada', context: null }],
    ['a tag that is none', { to: 'ada', tags: ['X:y'] }],
    ['tags that are no list', { to: 'ada', tags: 'project:x' }],
    ['65 tags', { to: 'ada', tags: Array.from({ length: 65 }, (_, n) => `project:${n}`) }],
    ['an empty attachment', { to: 'ada', attachments: [''] }],
    ['an attachment with NUL', { to: 'ada', attachments: ['a\0b'] }],
    ['257 attachments', { to: 'ada', attachments: new Array(257).fill('a') }],
    ['an excluded name that is none', { to: 'all', exclude: ['a:b'] }],
    ['an exclude that is no list', { to: 'all', exclude: 'ada' }],
    ['a swarm that is no name', { to: 'all', swarm: 'a\nb' }],
    ['a swarm that is no text', { to: 'all', swarm: 5 }],
    ['an empty key', { to: 'ada', key: '' }],
    ['a key with NUL', { to: 'ada', key: 'a\0b' }],
    ['a key with a lone surrogate', { to: 'ada', key: 'a\ud800' }],
    ['a key of 201 characters', { to: 'ada', key: 'x'.repeat(201) }],
    ['an empty thread', { to: 'ada', threadId: '' }],
    ['a traceparent that is no text', { to: 'ada', traceparent: 5 }],
    ['a life of nothing', { to: 'ada', ttlMs: 0 }],
    ['a life that is over', { to: 'ada', ttlMs: -1 }],
    ['a life of NaN', { to: 'ada', ttlMs: Number.NaN }],
    ['an endless life that is not null', { to: 'ada', ttlMs: Number.POSITIVE_INFINITY }],
    ['a life of a thousand years', { to: 'ada', ttlMs: 1_000 * 366 * 86_400_000 }],
    ['a life that is no number', { to: 'ada', ttlMs: '5' }],
    ['an ack that is no boolean', { to: 'ada', requiresAck: 'yes' }],
    ['an await that is no boolean', { to: 'ada', awaitingResponse: 1 }],
  ])('has %s', (_, input) => {
    expect(refusal(() => check(input)).code).toBe('invalid')
  })

  test('is larger than a mebibyte', () => {
    expect(() => check({ to: 'ada', body: 'x'.repeat(messageLimits.bytes) })).not.toThrow()
    const error = refusal(() => check({ to: 'ada', body: 'x'.repeat(messageLimits.bytes + 1) }))
    expect(error).toMatchObject({
      code: 'over_limit',
      message: expect.stringContaining('limits.messageBytes'),
    })
  })

  test('is larger in bytes, though not in characters', () => {
    expect(refusal(() => check({ to: 'ada', body: '🙂'.repeat(messageLimits.bytes / 4 + 1) })).code).toBe(
      'over_limit',
    )
  })

  test('is larger together: body, payload and context', () => {
    const half = 'x'.repeat(messageLimits.bytes / 2)
    expect(refusal(() => check({ to: 'ada', body: half, payload: half })).code).toBe('over_limit')
    expect(refusal(() => check({ to: 'ada', body: half, context: { half } })).code).toBe('over_limit')
  })

  test('is larger than the space allows', () => {
    expect(refusal(() => checkSend({ to: 'ada', body: 'abc' }, 2)).code).toBe('over_limit')
  })
})

describe('who may write to whom', () => {
  const lead = agent('boss', { roles: ['lead'] })
  const worker = agent('wim', { roles: ['worker'], tags: ['project:p'] })
  const here = directoryOf(agent('ada', { tags: ['project:p'] }), agent('bob'), lead, worker)
  const may = (rules: Rules, from: string, to: string) => {
    const settings = withPolicy({ rules })
    try {
      return decideSend(withDirectory(here), command({ from, to }), settings).message.to[0]
    } catch (error) {
      expect(error).toMatchObject({ code: 'not_permitted', hint: expect.stringMatching(/\S/) })
      return (error as Error).message
    }
  }

  test.each(['ada', 'role:lead', 'project:p', 'all', 'user'])('open: everybody to %s', (to) => {
    expect(may('open', 'bob', to)).toBe(to)
  })

  test.each<[string, string, boolean]>([
    ['bob', 'boss', true],
    ['bob', 'role:lead', true],
    ['bob', 'role:orchestrator', true],
    ['bob', 'user', true],
    ['bob', 'ada', false],
    ['bob', 'role:worker', false],
    ['bob', 'project:p', false],
    ['bob', 'all', false],
    ['boss', 'bob', true],
    ['boss', 'role:worker', true],
    ['boss', 'all', true],
    ['user', 'bob', true],
    ['user', 'all', true],
    ['system', 'bob', true],
  ])('hub: %s to %s: %s', (from, to, allowed) => {
    const said = may('hub', from, to)
    if (allowed) expect(said).toBe(to)
    else expect(said).toMatch(new RegExp(`${from} may not write to ${to} .*hub`))
  })

  const rules: Rules = [
    { from: 'bob', to: 'ada', allow: false },
    { from: 'role:worker', to: 'project:p' },
    { from: 'project:p', to: 'role:lead' },
    { from: '*', to: 'ada' },
    { from: 'boss', to: '*' },
  ]
  test.each<[string, string, true | string]>([
    ['bob', 'ada', 'rule { from: bob, to: ada, allow: false }'],
    ['boss', 'ada', true],
    ['wim', 'ada', true],
    ['wim', 'project:p', true],
    ['ada', 'project:p', 'no rule'],
    ['ada', 'boss', true],
    ['ada', 'role:lead', true],
    ['bob', 'boss', 'no rule'],
    ['bob', 'all', 'no rule'],
    ['boss', 'all', true],
    ['bob', 'user', true],
    ['user', 'bob', true],
    ['system', 'bob', true],
  ])('a list: %s to %s: %s', (from, to, verdict) => {
    const said = may(rules, from, to)
    if (verdict === true) expect(said).toBe(to)
    else expect(said).toContain(verdict)
  })

  test('a list of nothing allows nothing but the person', () => {
    expect(may([], 'bob', 'ada')).toContain('no rule')
    expect(may([], 'bob', 'user')).toBe('user')
  })

  test('one address that is forbidden refuses them all', () => {
    const said = () =>
      decideSend(withDirectory(here), command({ to: ['boss', 'ada'] }), withPolicy({ rules: 'hub' }))
    expect(refusal(said)).toMatchObject({ code: 'not_permitted', message: expect.stringContaining('ada') })
  })

  test('a bare name that means a role is judged as the role', () => {
    expect(may('hub', 'bob', 'worker')).toContain('role:worker')
  })
})

describe('how much one may send', () => {
  const limited = withPolicy({ 'limits.ratePerMinute': 2 })
  /** Bob has sent so many ms ago. */
  const havingSent = (...ms: number[]) => {
    const busy = directoryOf(agent('ada'), agent('bob'))
    for (const ago of ms) busy.noteSend('bob', now - ago)
    return busy
  }
  const send = (busy: Directory, from = 'bob') =>
    decideSend(withDirectory(busy), command({ from, to: 'ada' }), limited)

  test.each<[string, number[], boolean]>([
    ['nothing', [], true],
    ['one just now', [0], true],
    ['two just now', [0, 0], false],
    ['two, one of them a minute ago', [minute, 0], true],
    ['two, one of them not quite a minute ago', [minute - 1, 0], false],
    ['many, long ago', [3 * minute, 2 * minute, minute], true],
  ])('after %s', (_, ms, allowed) => {
    if (allowed) expect(send(havingSent(...ms)).message.to).toEqual(['ada'])
    else
      expect(refusal(() => send(havingSent(...ms)))).toMatchObject({
        code: 'over_limit',
        message: expect.stringContaining('limits.ratePerMinute'),
      })
  })

  test('is counted for each sender', () => {
    expect(send(havingSent(0, 0), 'ada').message.from).toBe('ada')
  })

  test('does not bind the system', () => {
    const busy = havingSent()
    for (let n = 0; n < 5; n++) busy.noteSend('system', now)
    expect(send(busy, 'system').message.from).toBe('system')
  })

  test('is counted in messages, not in recipients', () => {
    const message = decideSend(
      withDirectory(havingSent(0)),
      command({ to: ['ada', 'user', 'all'] }),
      limited,
    ).message
    expect(message.to).toHaveLength(3)
  })

  test('is not limited where the limit is 0', () => {
    const busy = havingSent(...new Array<number>(5_000).fill(0))
    expect(decideSend(withDirectory(busy), command({ to: 'ada' }), context()).message.to).toEqual(['ada'])
  })
})

describe('how much waits in one inbox', () => {
  /** So much mail waits in each of these boxes. */
  const holding = (n: number, ...to: string[]) =>
    spaceOf(
      [agent('ada', { tags: ['project:p'] }), agent('bob')],
      ...Array.from({ length: n }, (_, at) => mail(at + 1, { to, createdAt: iso(now) })),
    )
  const send = (view: View, to: string, inbox: number, from = 'bob') =>
    decideSend(view, command({ from, to }), withPolicy({ 'limits.inbox': inbox }))

  test.each(['ada', 'role:x'])('%s is full at the limit and not before', (to) => {
    expect(send(holding(2, to), to, 3).message.to).toEqual([to])
    expect(refusal(() => send(holding(3, to), to, 3))).toMatchObject({
      code: 'over_limit',
      message: expect.stringMatching(new RegExp(`${to} has 3 .*limits.inbox`)),
    })
  })

  test('what was shown and is not finished counts as well', () => {
    const view = spaceOf([agent('ada'), agent('bob')], mail(1, {}, { owner: 'ada', state: 'processing' }))
    expect(refusal(() => send(view, 'ada', 1)).code).toBe('over_limit')
  })

  test('what is finished does not', () => {
    const view = spaceOf([agent('ada'), agent('bob')], mail(1, {}, { owner: 'ada', state: 'archived' }))
    expect(send(view, 'ada', 1).message.to).toEqual(['ada'])
  })

  test('what an agent has seen as one of a group does not', () => {
    const one = mail(1, { to: ['all'] }, { owner: 'all' }, { owner: 'ada', state: 'shown', viaGroup: true })
    expect(send(spaceOf([agent('ada'), agent('bob')], one), 'ada', 1).message.to).toEqual(['ada'])
  })

  test.each(['project:p', 'all'])('%s is never full', (to) => {
    expect(send(holding(5, to), to, 1).message.to).toEqual([to])
  })

  test('there is always room for what the system has to say', () => {
    expect(send(holding(5, 'ada'), 'ada', 1, 'system').message.to).toEqual(['ada'])
  })

  test('one full inbox refuses them all', () => {
    const said = () =>
      decideSend(holding(1, 'ada'), command({ to: ['user', 'ada'] }), withPolicy({ 'limits.inbox': 1 }))
    expect(refusal(said).code).toBe('over_limit')
  })

  test.each<[number, boolean]>([
    [49, false],
    [50, true],
  ])('with %i messages before this one, a warning: %s', (n, warns) => {
    expect(send(holding(n, 'ada'), 'ada', 0).warnings).toEqual(
      warns ? ['ada already has 50 unfinished messages'] : [],
    )
  })
})

describe('mail for one run of an agent', () => {
  const here = directoryOf(
    agent('ada', { session: { generation: 3, startedAt: iso(now) }, roles: ['x'], tags: ['project:p'] }),
    agent('bob'),
  )
  const bound = (said: Said) => decideSend(withDirectory(here), command(said), context()).message.generation

  test.each<[string, string | string[], number | undefined]>([
    ['shutdown_request', 'ada', 3],
    ['shutdown_request', 'agent:ada', 3],
    ['plan_approval', 'ada', 3],
    ['plan_submission', 'ada', undefined],
    ['text', 'ada', undefined],
    ['shutdown_request', 'user', undefined],
  ])('a %s to %j is for run %s', (type, to, generation) => {
    expect(bound({ type, to })).toBe(generation)
  })

  test.each<[string, string | string[]]>([
    ['shutdown_request', 'role:x'],
    ['shutdown_request', 'project:p'],
    ['plan_approval', 'all'],
    ['plan_approval', ['ada', 'bob']],
  ])('a %s to %j is for nobody in particular, and refused', (type, to) => {
    expect(refusal(() => bound({ type, to })).code).toBe('invalid')
  })

  test('to an agent yet to come is for whatever run that will be', () => {
    expect(bound({ type: 'shutdown_request', to: 'zoe', hold: true })).toBeUndefined()
  })

  test('by hand is for the run that is there', () => {
    expect(bound({ to: 'ada', generation: 3 })).toBe(3)
  })

  test.each([2, 4])('for run %i is refused while run 3 is there', (generation) => {
    expect(refusal(() => bound({ to: 'ada', generation }))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('generation 3'),
    })
  })

  test.each<[string, string | string[]]>([
    ['a role', 'role:x'],
    ['a group', 'project:p'],
    ['two agents', ['ada', 'bob']],
  ])('by hand is not for %s', (_, to) => {
    expect(refusal(() => bound({ to, generation: 3 })).code).toBe('invalid')
  })

  test.each([0, -1, 1.5, Number.NaN])('has no generation %d', (generation) => {
    expect(refusal(() => check({ to: 'ada', generation })).code).toBe('invalid')
  })
})
