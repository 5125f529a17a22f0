import { describe, expect, test } from 'vitest'
import { checkSend, decideSend, type SendCommand, type SendInput } from '../../src/command/send.ts'
import { messageLimits } from '../../src/model/message.ts'
import { agent, idOf } from '../model/samples.ts'
import { context, directoryOf } from './fake-view.ts'
import { refusal } from './refusal.ts'

const directory = directoryOf(
  agent('ada', { roles: ['architect'], tags: ['project:inscription'] }),
  agent('bob'),
  agent('swarm_dev/architect'),
  agent('gone', { roles: ['tester'], state: 'dead' }),
)

type Said = SendInput & Partial<Pick<SendCommand, 'from' | 'parent'>>
const command = ({ from = 'bob', parent, ...input }: Said): SendCommand => ({ from, parent, input })
const decide = (said: Said) => decideSend({ directory }, command(said), context())
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
      decideSend({ directory: both }, command({ from: 'ada', to: 'tester' }), context()).message.to,
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
    const error = refusal(() => decideSend({ directory: many }, command({ from: 'a1', to: 'a9' }), context()))
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
      expect.stringContaining('nobody holds the role tester'),
    ])
    expect(decide({ to: 'role:new' }).warnings).toEqual([
      expect.stringContaining('nobody holds the role new'),
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
    ['a tag that is none', { to: 'ada', tags: ['x'] }],
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
