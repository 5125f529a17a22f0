import { describe, expect, test } from 'vitest'
import { nearest } from '../../src/base/nearest.ts'
import { checkSend } from '../../src/command/check-send.ts'
import { decideHandle } from '../../src/command/handle.ts'
import type { HandleCommand } from '../../src/command/ladder.ts'
import { notice, notices } from '../../src/command/notice.ts'
import { resolveAddresses } from '../../src/command/resolve.ts'
import { decideSend, looksAtMessages } from '../../src/command/send.ts'
import { decideShow } from '../../src/command/take.ts'
import { decideWithdraw } from '../../src/command/withdraw.ts'
import type { Letter, View } from '../../src/conversation/view.ts'
import type { SendInput } from '../../src/model/fields.ts'
import { type Message, messageLimits } from '../../src/model/message.ts'
import { defaultSettings } from '../../src/model/settings.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf, message } from '../helpers/samples.ts'
import {
  context,
  directMail,
  directoryOf,
  hour,
  iso,
  mail,
  messagesIn,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
  theMessage,
  viewOf,
  withPolicy,
} from './fake-view.ts'

const ada = agent('ada', { roles: ['dev'] })
const bob = agent('bob')
const { id } = theMessage

describe('handling mail', () => {
  const handle = (view: View, command: Partial<HandleCommand>, at = context()) =>
    decideHandle(view, { agent: 'ada', step: 'acked', id, ...command }, at)
  const decade = 10 * 366 * 86_400_000

  test.each<[Partial<HandleCommand>, string, string]>([
    [{ note: 5 as never }, 'invalid', 'note must be a string'],
    [{ note: 'x'.repeat(10_001) }, 'over_limit', 'the note has 10001 characters; the limit is 10000'],
    [{ claimTtlMs: 0 }, 'invalid', 'a claim cannot last 0 ms'],
    [{ claimTtlMs: -5 }, 'invalid', 'a claim cannot last -5 ms'],
    [{ claimTtlMs: Number.NaN }, 'invalid', 'a claim cannot last NaN ms'],
    [{ claimTtlMs: decade + 1 }, 'invalid', `a claim cannot last ${decade + 1} ms`],
    [{ id: 'x'.repeat(99) }, 'not_found', `no message "${'x'.repeat(60)}"`],
  ])('refuses %j', (command, code, said) => {
    expect(refusal(() => handle(directMail('stored'), command))).toMatchObject({ code, message: said })
  })

  test('takes a note and a lease up to their limits', () => {
    for (const command of [
      { note: 'x'.repeat(10_000) },
      { note: '' },
      { claimTtlMs: 0.5 },
      { claimTtlMs: decade },
    ])
      expect(() => handle(directMail('stored'), command)).not.toThrow()
  })

  test('tells the sender of a failure too many, with the reason if there is one', () => {
    const view = (failures: number) =>
      viewOf({ agents: [ada, bob], receipts: [{ owner: 'cy' }, { owner: 'ada', state: 'shown', failures }] })
    const fail = (note?: string) => messagesIn(handle(view(4), { step: 'failed', note }))
    expect(fail('It broke')).toMatchObject([
      {
        to: ['bob'],
        body: expect.stringMatching(/: failed by ada \(It broke\), and work on it has failed 5 times\.\n/),
      },
    ])
    expect(fail()).toMatchObject([
      { body: expect.stringMatching(/: failed by ada, and work on it has failed 5 times\.\n/) },
    ])
    expect(fail()[0]!.payload).toMatchObject({ undelivered: [{ to: 'ada' }] })
    expect(messagesIn(handle(view(3), { step: 'failed' }))).toEqual([])
  })

  test('says what state stands in the way', () => {
    expect(refusal(() => handle(directMail('archived'), { step: 'failed' })).message).toBe(
      `message ${id} is archived; it cannot become failed`,
    )
    // Group mail that nobody has touched yet.
    const group = viewOf({ agents: [ada, bob], receipts: [{ owner: 'all' }] })
    expect(handle(group, { step: 'released' })).toEqual([])
    const expired = viewOf({ agents: [ada, bob], message: { expiresAt: now }, receipts: [{ owner: 'ada' }] })
    expect(refusal(() => handle(expired, {})).message).toContain('is expired;')
    expect(
      refusal(() => handle(viewOf({ agents: [ada, bob], receipts: [{ owner: 'cy' }] }), {})).message,
    ).toBe(`message ${id} is not addressed to ada`)
    const taken: ReceiptInput = { owner: 'role:dev', box: 'cy', state: 'shown', claimUntil: now + 1 }
    expect(refusal(() => handle(viewOf({ agents: [ada, bob], receipts: [taken] }), {})).message).toBe(
      `message ${id} is claimed by cy`,
    )
  })

  test('being told of work is not taking it', () => {
    const view = viewOf({ agents: [ada, bob], receipts: [{ owner: 'role:dev' }] })
    expect(refusal(() => handle(view, { step: 'notified' })).code).toBe('conflict')
  })

  test('starting again after a failure is another attempt; other steps are not', () => {
    const own = (state: 'failed' | 'shown') =>
      viewOf({ agents: [ada, bob], receipts: [{ owner: 'ada', state, attempts: 2 }] })
    const attempts = (state: 'failed' | 'shown', step: HandleCommand['step']) =>
      receiptsIn(handle(own(state), { step }))[0]!.changes[0]!.attempts
    expect(attempts('failed', 'processing')).toBe(3)
    expect(attempts('failed', 'retried')).toBe(3)
    expect(attempts('shown', 'processing')).toBe(2)
    expect(attempts('shown', 'released')).toBe(2)
    const ofRole = viewOf({
      agents: [ada, bob],
      receipts: [{ owner: 'role:dev', box: 'ada', state: 'failed', attempts: 2 }],
    })
    expect(receiptsIn(handle(ofRole, { step: 'retried' }))[0]!.changes[0]!.attempts).toBe(2)
  })

  test('showing what is claimed already changes nothing, and a failure ends the claim', () => {
    const claimed = viewOf({
      agents: [ada, bob],
      receipts: [{ owner: 'role:dev', box: 'ada', state: 'shown', claimUntil: now + minute }],
    })
    expect(handle(claimed, { step: 'shown' })).toEqual([])
    const [failure] = receiptsIn(handle(claimed, { step: 'failed' }))[0]!.changes
    expect(failure).toMatchObject({ state: 'failed', box: 'ada' })
    expect(failure).not.toHaveProperty('claimUntil')
    const [started] = receiptsIn(handle(claimed, { step: 'processing' }))[0]!.changes
    // Work that was started lasts as long as its agent is there.
    expect(started).not.toHaveProperty('claimUntil')
  })

  test('mail of its own has no claim, and moves to no other box', () => {
    const [change] = receiptsIn(handle(directMail('stored'), { step: 'processing' }))[0]!.changes
    expect(change).not.toHaveProperty('claimUntil')
    expect(change).not.toHaveProperty('wasBox')
  })

  describe('that wants an ack', () => {
    const wanted = (receipt: Partial<ReceiptInput>) =>
      viewOf({ agents: [ada, bob], message: { requiresAck: true }, receipts: [{ owner: 'ada', ...receipt }] })
    const shown = (receipt: Partial<ReceiptInput>) =>
      receiptsIn(handle(wanted(receipt), { step: 'shown' }, withPolicy({ ackTimeoutMs: minute })))[0]!
        .changes[0]!

    test.each<[string, Partial<ReceiptInput>, { ackBy?: string; level?: number }]>([
      ['fresh', {}, { ackBy: iso(now + minute) }],
      ['escalated to the lead while unread', { level: 1 }, { ackBy: iso(now + minute), level: 0 }],
      ['escalated to the person while unread', { level: 2 }, { ackBy: iso(now + minute), level: 0 }],
      ['marked stale', { level: 3 }, { ackBy: iso(now + minute) }],
      ['shown again, the lead was told', { level: 1, repeats: 1 }, { ackBy: iso(now + minute) }],
      ['shown again, the person was told', { level: 2, repeats: 1 }, {}],
    ])('%s: %j gets %j', (_, receipt, times) => {
      const { ackBy, level } = shown(receipt)
      expect({ ackBy, level }).toEqual({ ackBy: undefined, level: undefined, ...times })
    })

    test('gets no time where nobody waits for it', () => {
      const at = withPolicy({ ackTimeoutMs: 0 })
      expect(receiptsIn(handle(wanted({}), { step: 'shown' }, at))[0]!.changes[0]).not.toHaveProperty('ackBy')
      expect(receiptsIn(handle(wanted({}), { step: 'acked' }))[0]!.changes[0]).not.toHaveProperty('ackBy')
    })
  })

  test('an error that is no refusal is not swallowed', () => {
    const broken: View = {
      ...directMail('stored'),
      receipts: () => {
        throw new TypeError('broken')
      },
    }
    expect(() => decideShow(broken, 'ada', [id], context())).toThrow(TypeError)
  })
})

describe('a notice', () => {
  test('is an ordinary message of the system', () => {
    const { message: alone } = notice(context(), { to: ['ada'], type: 'error', subject: 'S', body: 'B' })
    expect(alone).toEqual({
      ...{ id: idOf(1), threadId: idOf(1), from: 'system', to: ['ada'], type: 'error', priority: 'normal' },
      ...{
        createdAt: iso(now),
        requiresAck: false,
        awaitingResponse: false,
      },
      ...{ tags: [], attachments: [], subject: 'S', body: 'B' },
    })
    expect(alone).not.toHaveProperty('payload')
    const about = message({ id: idOf(7), threadId: 't' })
    expect(
      notice(context(), {
        to: ['ada'],
        type: 'error',
        subject: 'x'.repeat(600),
        body: '',
        about,
        priority: 'high',
        payload: 1,
      }).message,
    ).toMatchObject({
      threadId: 't',
      replyTo: idOf(7),
      priority: 'high',
      payload: 1,
      subject: 'x'.repeat(500),
    })
  })

  const undelivered = (count: number, fields: Partial<Message> = {}) => {
    const mails = Array.from({ length: count }, (_, at) =>
      mail(at + 1, { from: 'bob', subject: 'S', ...fields }),
    )
    const told = mails.map(({ receipts, facts, text }) => ({
      ...{ to: text.from, kind: 'undelivered' as const, reason: 'it expired' },
      letter: { ...receipts[0]!, id: facts.id } as Letter,
    }))
    return messagesIn(notices(spaceOf([ada, bob], ...mails), told, context()))
  }

  test('of one letter answers it, without a word of its sender', () => {
    expect(undelivered(1)).toMatchObject([
      {
        ...{ to: ['bob'], type: 'error', replyTo: idOf(1), subject: 'Not delivered to ada' },
        body: `Message ${idOf(1)} from bob to ada was sent 30 min ago: it expired.\n\nTo send it to someone else: mailbox dead --resend ${idOf(1)} --to ADDRESS`,
        payload: { notice: 'undelivered', undelivered: [{ id: idOf(1), to: 'ada', reason: 'it expired' }] },
      },
    ])
  })

  test('of several lists them, up to twenty', () => {
    const [two] = undelivered(2)
    expect(two!.subject).toBe('2 messages were not delivered')
    expect(two!.body).toBe(
      [
        `- ${idOf(1)} to ada: it expired`,
        `- ${idOf(2)} to ada: it expired`,
        '',
        'To send it to someone else: mailbox dead --resend ID --to ADDRESS',
      ].join('\n'),
    )
    expect(two).not.toHaveProperty('replyTo')
    const lines = (count: number) =>
      undelivered(count)[0]!
        .body.split('\n')
        .filter((line) => line.startsWith('- '))
    expect(lines(20)).toHaveLength(20)
    expect(lines(22)).toHaveLength(21)
    expect(lines(22)[20]).toBe('- and 2 more')
    expect((undelivered(501)[0]!.payload as { undelivered: object[] }).undelivered).toHaveLength(500)
  })

  test('is not sent of old news, nor of the notices themselves', () => {
    const month = 30 * 24 * hour
    expect(undelivered(1, { createdAt: iso(now - month) })).toHaveLength(1)
    expect(undelivered(1, { createdAt: iso(now - month - 1) })).toEqual([])
    expect(undelivered(1, { from: 'system' })).toEqual([])
  })
})

describe('the name that was meant', () => {
  test.each<[string, string[], string[]]>([
    ['ab', ['ab1', 'abx12'], ['ab1']],
    ['abcd', ['xxabcdxx'], ['xxabcdxx']],
    ['abc', ['xxabcxx'], []],
    ['ab', ['xxabxx'], []],
    ['xxabcxx', ['abc'], ['abc']],
    ['ada', ['adb', 'bob'], ['adb']],
    ['abcdef', ['abcxyz', 'abwxyz'], ['abcxyz']],
    ['abcdefghij', ['abcdefgxyz', 'abcdefwxyz'], ['abcdefgxyz']],
    ['worker', ['workers', 'wrokre', 'worker'], ['worker', 'workers', 'wrokre']],
    ['acb', ['abc'], ['abc']],
    ['xab', ['xbc'], []],
    ['xbc', ['xab'], []],
    ['xyzz', ['yxzz', 'xzyz'], ['yxzz', 'xzyz']],
    ['dev', ['role:dev'], ['role:dev']],
    ['ADA', ['ada'], ['ada']],
  ])('%s among %j: %j', (name, candidates, near) => {
    expect(nearest(name, candidates)).toEqual(near)
  })

  test('is one of at most three, the nearest first', () => {
    expect(nearest('aaaa', ['aabb', 'aaab', 'aaaa', 'aaba'])).toEqual(['aaaa', 'aaab', 'aaba'])
  })
})

describe('the recipients of a message', () => {
  const directory = directoryOf(ada, agent('gone', { state: 'dead' }), agent('cold', { state: 'frozen' }))
  const resolve = (to: string, hold = false) => resolveAddresses(directory, [to], hold)

  test.each([
    ['ada', []],
    ['gone', ['gone is gone; unless it returns, this message becomes a dead letter']],
    ['cold', ['cold is frozen; the message waits']],
    ['role:dev', []],
    ['role:none', ['no agent has the role none now; the message waits for one']],
    ['project:none', ['no agent has the tag project:none now; the message waits until it expires']],
    ['all', []],
  ])('%s: the sender is told %j', (to, warnings) => {
    expect(resolve(to).warnings).toEqual(warnings)
  })

  test('are never the system', () => {
    for (const to of ['system', 'agent:system'])
      expect(refusal(() => resolve(to, true))).toMatchObject({
        ...{ code: 'not_permitted', message: 'the system cannot receive mail' },
      })
    expect(resolve('role:system').addresses).toEqual([{ kind: 'role', name: 'system' }])
  })

  test('are known, or the mail is held', () => {
    expect(refusal(() => resolve('nobody'))).toMatchObject({ message: 'no agent named "nobody"' })
    expect(resolve('nobody', true).warnings).toEqual(['nobody has not joined yet; the message waits'])
  })
})

describe('a send', () => {
  const send = (input: Partial<SendInput>, view: View = spaceOf([ada, bob]), at = context(), from = 'bob') =>
    decideSend(view, { from, parent: undefined, input: { to: 'ada', ...input } }, at)

  test.each<[Partial<SendInput>, boolean]>([
    [{}, false],
    [{ key: 'k' }, true],
    [{ supersede: true }, true],
    [{ supersede: false }, false],
    [{ replyTo: 'x' }, true],
    [{ threadId: 'x' }, true],
    [{ type: 'plan_submission' }, true],
    // It may say that a task is done.
    [{ type: 'status_update' }, true],
  ])('of %j looks at other messages: %j', (input, looks) => {
    expect(looksAtMessages({ to: 'ada', ...input }, defaultSettings)).toBe(looks)
  })

  test('looks at other messages where the least busy holder of a role is sought', () => {
    const settings = { ...defaultSettings, 'roles.assign': 'ci=least-busy' }
    expect(looksAtMessages({ to: 'ada' }, settings)).toBe(true)
  })

  test('with a key that was used gives the message that was sent', () => {
    const view = spaceOf([ada, bob], mail(1, { from: 'bob', key: 'k', body: 'first' }))
    const { drafts, result } = send({ key: 'k', body: 'second' }, view)
    expect(drafts).toEqual([])
    expect(result).toMatchObject({
      message: { id: idOf(1), body: 'first' },
      warnings: ['already sent with this key'],
    })
    expect(send({ key: 'other' }, view).drafts).toHaveLength(1)
    expect(send({ key: 'k', to: 'bob' }, view, context(), 'ada').drafts).toHaveLength(1)
  })

  test('can replace an earlier one that nobody has seen', () => {
    const view = spaceOf([ada, bob], mail(1, { from: 'bob', threadId: 't' }))
    const { drafts, result } = send({ supersede: idOf(1), threadId: 't' }, view)
    expect(receiptsIn(drafts)).toMatchObject([
      { step: 'withdrawn', note: `superseded by ${result.message.id}` },
    ])
    expect(send({ supersede: true, threadId: 'u' }, view).result.warnings).toEqual([
      'you have no earlier message in this thread to replace',
    ])
    expect(receiptsIn(send({ supersede: true, threadId: 't' }, view).drafts)).toHaveLength(1)
    expect(refusal(() => send({ supersede: idOf(1), threadId: 'u' }, view))).toMatchObject({
      ...{
        code: 'conflict',
        message: `message ${idOf(1)} is in another thread`,
        hint: 'send to its thread: --thread t',
      },
    })
    const seen = spaceOf(
      [ada, bob],
      mail(1, { from: 'bob', threadId: 't' }, { owner: 'ada', state: 'shown' }),
    )
    expect(send({ supersede: true, threadId: 't' }, seen)).toMatchObject({
      drafts: [{ kind: 'message' }],
      result: {
        warnings: [
          `message ${idOf(1)} has already been seen by ada; it was not replaced, and this one was sent as well`,
        ],
      },
    })
  })

  test('comes from somebody who is here, or from the system', () => {
    expect(refusal(() => send({}, spaceOf([ada]), context(), 'bob')).code).toBe('not_found')
    expect(
      refusal(() => send({}, spaceOf([ada, agent('bob', { state: 'dead', gone: 'left' })]))),
    ).toMatchObject({
      ...{ code: 'conflict', message: 'bob has left', hint: 'join again: mailbox join bob' },
    })
    expect(send({}, spaceOf([ada, agent('bob', { state: 'dead', gone: 'ended' })])).drafts).toHaveLength(1)
    expect(
      send({}, spaceOf([ada]), withPolicy({ rules: 'hub', 'limits.inbox': 1 }), 'system').drafts,
    ).toHaveLength(1)
  })

  test('leaves somebody out only if it says so', () => {
    const draft = (exclude: string[]) => send({ to: 'all', exclude }).drafts[0]
    expect(draft(['cy'])).toMatchObject({ exclude: ['cy'] })
    expect(draft([])).not.toHaveProperty('exclude')
  })

  test('of many words is accepted with a hint', () => {
    const words = (n: number, word = 'w') => send({ body: Array(n).fill(word).join(' ') }).result.warnings
    const { bodyWordsBeforeHint: most } = messageLimits
    expect([words(most), words(most, 'longer'), words(1, 'x'.repeat(5_000))]).toEqual([[], [], []])
    expect(words(most + 1)).toEqual([`the body has over ${most} words; attach a file instead of long text`])
    expect(send({ body: ` ${'\n'.repeat(9_000)} ` }).result.warnings).toEqual([])
  })

  test('for one run of an agent is for the one that is there', () => {
    const third = agent('ada', { session: { generation: 3, startedAt: iso(now) } })
    const view = spaceOf([third, bob])
    const generation = (input: Partial<SendInput>) => send(input, view).result.message.generation
    expect(generation({ generation: 3 })).toBe(3)
    expect(generation({})).toBeUndefined()
    expect(generation({ type: 'shutdown_request' })).toBe(3)
    expect(generation({ type: 'gossip' })).toBeUndefined()
    const refused = (input: Partial<SendInput>) => {
      const { code, message: said, hint } = refusal(() => send(input, view))
      return `${code}: ${said} (${hint})`
    }
    expect(refused({ generation: 2 })).toBe('conflict: ada is at generation 3, not 2 (that run has ended)')
    expect(refused({ generation: 4 })).toBe('conflict: ada is at generation 3, not 4 (see `mailbox agents`)')
    const lead = spaceOf([agent('lead'), bob])
    expect(refusal(() => send({ generation: 1, to: 'role:lead' }, lead)).code).toBe('invalid')
    expect(refused({ generation: 3, to: 'all' })).toMatch(/^invalid: generation requires a single agent/)
    expect(refused({ generation: 3, to: ['ada', 'bob'] })).toMatch(
      /^invalid: generation requires a single agent/,
    )
    expect(refused({ type: 'shutdown_request', to: 'all' })).toMatch(
      /^invalid: a shutdown_request must be addressed to one agent/,
    )
    expect(refused({ type: 'shutdown_request', to: ['ada', 'bob'] })).toMatch(
      /^invalid: a shutdown_request must/,
    )
  })

  test('against the rules says which, and to whom to write instead', () => {
    const refused = (rules: 'hub' | []) =>
      refusal(() => send({}, spaceOf([ada, bob]), withPolicy({ rules, leads: ['a', 'b'] })))
    expect(refused('hub')).toMatchObject({
      ...{ code: 'not_permitted', hint: 'write to role:a, role:b or user' },
      message: 'bob may not write to ada (hub: agents may write only to a lead or the person)',
    })
    expect(refused([])).toMatchObject({
      message: 'bob may not write to ada (no rule allows it)',
      hint: 'see the rules: mailbox config get rules',
    })
  })

  test('into a full box is refused, and into a rather full one warned of', () => {
    const full = (n: number) => spaceOf([ada, bob], ...Array.from({ length: n }, (_, at) => mail(at + 1, {})))
    expect(send({}, full(49)).result.warnings).toEqual([])
    expect(send({}, full(50)).result.warnings).toEqual(['ada already has 50 unfinished messages'])
    const limited = withPolicy({ 'limits.inbox': 3 })
    expect(send({}, full(2), limited).drafts).toHaveLength(1)
    expect(refusal(() => send({}, full(3), limited))).toMatchObject({
      ...{ code: 'over_limit', message: 'ada has 3 unfinished messages from bob (limits.inbox)' },
    })
    const busy = directoryOf(ada, bob)
    for (const at of [now - 2, now - 1]) busy.noteSend('bob', at)
    const rate = (limit: number) =>
      send({}, { ...spaceOf([]), directory: busy }, withPolicy({ 'limits.ratePerMinute': limit }))
    expect(rate(3).drafts).toHaveLength(1)
    expect(refusal(() => rate(2))).toMatchObject({
      message: 'bob has sent 2 messages in the last minute (limits.ratePerMinute)',
    })
  })

  test('stores what was given, once, and nothing that was not', () => {
    const { message: sent } = send({
      tags: ['a:b', 'a:b'],
      attachments: ['x', 'x'],
      swarm: undefined as never,
      payload: null,
      key: 'k',
    }).result
    expect(sent).toMatchObject({ tags: ['a:b'], attachments: ['x', 'x'], payload: null, key: 'k' })
    expect(Object.keys(sent)).not.toContain('swarm')
    expect(Object.keys(send({}).result.message)).toEqual([
      ...['id', 'from', 'to', 'type', 'priority', 'createdAt', 'threadId', 'requiresAck', 'awaitingResponse'],
      ...['tags', 'attachments', 'subject', 'body', 'expiresAt'],
    ])
  })

  test('of nothing is refused before it waits for the lock', () => {
    const check = (input: unknown, most = 10) => refusal(() => checkSend(input as SendInput, most))
    expect([check(null), check('text'), check(undefined)].map((error) => error.message)).toEqual(
      Array(3).fill('there is nothing to send'),
    )
    expect(check({ to: [] }).message).toBe('the message has no recipient')
    expect(check({ subject: 'x' }).message).toBe('the message has no recipient')
    expect(check({ to: 'ada', body: 'x'.repeat(11) })).toMatchObject({
      ...{
        code: 'over_limit',
        limit: 'size',
        message: 'the message has 11 bytes; the limit is 10 (limits.messageBytes)',
      },
    })
    expect(check({ to: 'ada', body: 'ë'.repeat(4), payload: 'x' }).message).toContain('has 11 bytes')
    expect(() => checkSend({ to: 'ada', body: 'x'.repeat(10), subject: 'x'.repeat(99) }, 10)).not.toThrow()
  })
})

describe('withdrawing', () => {
  const withdraw = (...receipts: ReceiptInput[]) =>
    decideWithdraw(viewOf({ agents: [ada, bob], receipts }), 'bob', id)

  test('takes back every copy that is left', () => {
    expect(
      withdraw({ owner: 'ada' }, { owner: 'cy', state: 'withdrawn', seen: false })[0]!.changes,
    ).toHaveLength(2)
    expect(withdraw({ owner: 'ada', state: 'withdrawn' })).toEqual([])
  })

  test('is refused once somebody has it open, or has seen it before', () => {
    for (const state of ['shown', 'acked', 'processing'] as const)
      expect(refusal(() => withdraw({ owner: 'ada', state, seen: false })).message).toBe(
        `message ${id} has already been seen by ada`,
      )
    expect(refusal(() => withdraw({ owner: 'ada', seen: true })).hint).toBe(
      `send a correction: mailbox reply ${id}`,
    )
    expect(refusal(() => decideWithdraw(directMail('stored'), 'cy', id))).toMatchObject({
      ...{ code: 'not_permitted', message: `message ${id} was not sent by cy`, hint: 'it was sent by bob' },
    })
  })
})
