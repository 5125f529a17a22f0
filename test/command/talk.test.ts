import { describe, expect, test } from 'vitest'
import { checkTalk, guardLoop, isTalk } from '../../src/command/conversation-check.ts'
import { decideSend } from '../../src/command/send.ts'
import type { Matter } from '../../src/conversation/matter.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Message } from '../../src/model/message.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf, message } from '../helpers/samples.ts'
import { context, mail, messagesIn, now, spaceOf, withPolicy } from './fake-view.ts'

const team = [
  agent('ada', { roles: ['tester', 'lead'] }),
  agent('bob'),
  agent('cy', { roles: ['dev'], tags: ['project:x'] }),
]
const opening = (fields: Partial<Message>) => mail(1, { from: 'bob', to: ['ada'], ...fields })

/** A space in which the matters of message 1 are in this state. */
function viewWith(fields: Partial<Message>, state: Matter['state'] = 'open', more: Partial<View> = {}): View {
  const view = spaceOf(team, opening(fields))
  return { ...view, matters: (seq) => view.matters(seq).map((matter) => ({ ...matter, state })), ...more }
}
const reply = (from: string, type: string, fields: Partial<Message> = {}) =>
  message({ id: idOf(2), threadId: idOf(1), from, to: ['bob'], type, replyTo: idOf(1), ...fields })
const plan = { type: 'plan_submission', payload: { taskId: 'T' } } as const
const approval = (from: string, approved = true) => reply(from, 'plan_approval', { payload: { approved } })

describe('a message has a part in a conversation', () => {
  test.each<[string, Parameters<typeof isTalk>[0], boolean]>([
    ['a plain one has none', { id: 'x', type: 'text', threadId: 'x' }, false],
    ['one without anything has none', {}, false],
    ['a reply has', { replyTo: 'y' }, true],
    ['one in the thread of another has', { id: 'x', threadId: 'y' }, true],
    ['a thread that begins with it is its own', { id: 'x', threadId: 'x' }, false],
    ['one that opens something has', { type: 'plan_submission' }, true],
    ['one that answers something has', { type: 'plan_approval' }, true],
    ['a report has none', { type: 'status_update' }, false],
    ['a type that nobody declared has none', { type: 'gossip' }, false],
  ])('%s', (_, traits, expected) => {
    expect(isTalk(traits)).toBe(expected)
  })
})

describe('an answer', () => {
  const check = (view: View, answer: Message) => checkTalk(view, answer)

  test('is taken from whoever was asked, and from the person', () => {
    for (const from of ['ada', 'user', 'system'])
      expect(() => check(viewWith(plan), approval(from))).not.toThrow()
  })

  test('is not taken from anybody else', () => {
    const error = refusal(() => check(viewWith(plan), approval('cy')))
    expect(error).toMatchObject({ code: 'not_permitted', message: 'only ada can say this, not cy' })
    expect(error.hint).toBe(`message ${idOf(1)} was not sent to cy`)
    expect(refusal(() => check(viewWith(plan), approval('nobody'))).code).toBe('not_permitted')
  })

  test.each([
    ['role:lead', 'ada', true],
    ['role:dev', 'ada', false],
    ['role:dev', 'cy', true],
    ['project:x', 'cy', true],
    ['project:x', 'ada', false],
    ['all', 'ada', true],
    ['cy', 'ada', false],
  ])('to what went to %s may come from %s: %j', (to, from, allowed) => {
    const answer = () => check(viewWith({ ...plan, to: [to] }), approval(from))
    if (allowed) expect(answer).not.toThrow()
    else expect(refusal(answer).code).toBe('not_permitted')
  })

  test('names everybody who could give it', () => {
    const view = viewWith({ ...plan, to: ['ada', 'role:lead'] })
    expect(refusal(() => check(view, approval('cy'))).message).toBe(
      'only ada, role:lead can say this, not cy',
    )
  })

  test('is not taken twice, nor after the end', () => {
    const again = refusal(() => check(viewWith(plan, 'approved'), approval('ada')))
    expect(again).toMatchObject({ code: 'conflict', message: 'the plan is approved; it cannot be approved' })
    expect(again.hint).toBe(`see how it got there: mailbox thread ${idOf(1)}`)
    expect(refusal(() => check(viewWith(plan, 'rejected'), approval('ada', false))).message).toBe(
      'the plan is rejected; it cannot be rejected',
    )
    expect(refusal(() => check(viewWith(plan, 'void'), approval('ada'))).message).toBe(
      'the plan is over: it was withdrawn, expired or meant for an earlier run; it cannot be approved',
    )
  })

  test('to something else is refused, and a plan with reference to anything is not', () => {
    const error = refusal(() => check(viewWith({ type: 'text' }), approval('ada')))
    expect(error).toMatchObject({ code: 'conflict', message: `message ${idOf(1)} is not a plan_submission` })
    expect(error.hint).toBe(`see what it is: mailbox show ${idOf(1)}`)
    // It wants an ack, which is another matter.
    const acked = viewWith({ type: 'text', requiresAck: true })
    expect(refusal(() => check(acked, approval('ada'))).message).toBe(error.message)
    const other = reply('ada', 'plan_submission', { payload: { taskId: 'U' } })
    expect(() => check(viewWith({ type: 'text' }), other)).not.toThrow()
  })

  test('to nothing that is there is only talk', () => {
    expect(() => check(viewWith(plan), { ...approval('cy'), replyTo: idOf(9) })).not.toThrow()
    expect(() => check(viewWith(plan), message({ type: 'plan_approval' }))).not.toThrow()
  })

  test('in plain words may come from anybody, as often as they like', () => {
    for (const state of ['open', 'answered', 'void'] as const)
      expect(() => check(viewWith({ awaitingResponse: true }, state), reply('cy', 'text'))).not.toThrow()
  })

  test('is given by each of a group, whoever was first', () => {
    const status = (from: string) => reply(from, 'status_response')
    const asked = (to: string) => viewWith({ type: 'status_request', to: [to] }, 'answered')
    expect(() => check(asked('all'), status('cy'))).not.toThrow()
    expect(refusal(() => check(asked('cy'), status('cy'))).message).toBe(
      'the status is answered; it cannot be answered',
    )
    expect(
      refusal(() => check(viewWith({ type: 'status_request', to: ['all'] }, 'void'), status('cy'))).code,
    ).toBe('conflict')
    // One approves a plan for everybody.
    expect(refusal(() => check(viewWith({ ...plan, to: ['all'] }, 'approved'), approval('cy'))).code).toBe(
      'conflict',
    )
    // What another has deferred can still be accepted, and not the other way round.
    const stop = (from: string, accepted: boolean) =>
      reply(from, 'shutdown_response', { payload: { accepted } })
    expect(() => check(viewWith({ type: 'shutdown_request' }, 'deferred'), stop('ada', true))).not.toThrow()
    expect(
      refusal(() => check(viewWith({ type: 'shutdown_request' }, 'accepted'), stop('ada', false))).message,
    ).toBe('the shutdown is accepted; it cannot be deferred')
  })

  test('is about the copy of the one who gives it', () => {
    const view = spaceOf(team, opening({ type: 'status_request', to: ['ada', 'cy'] }))
    const mixed: View = {
      ...view,
      matters: (seq) =>
        view.matters(seq).map((one) => ({ ...one, state: one.owner === 'ada' ? 'answered' : 'open' })),
    }
    expect(() => check(mixed, reply('cy', 'status_response'))).not.toThrow()
    expect(refusal(() => check(mixed, reply('ada', 'status_response'))).code).toBe('conflict')
  })

  test('that revises a plan comes from whoever submitted it', () => {
    const revision = (from: string) => reply(from, 'plan_submission', { payload: { taskId: 'T' } })
    expect(() => check(viewWith(plan, 'rejected'), revision('bob'))).not.toThrow()
    expect(refusal(() => check(viewWith(plan, 'rejected'), revision('ada'))).message).toBe(
      'only bob can say this, not ada',
    )
    expect(refusal(() => check(viewWith(plan, 'open'), revision('bob'))).message).toBe(
      'the plan is open; it cannot be revised',
    )
  })
})

describe('an opening', () => {
  const openMatters: View['openMatters'] = (kind, key) =>
    kind === 'plan' && key === 'bob T'
      ? [{ ...spaceOf(team, opening(plan)).matters(1)[0]!, id: 'the-open-one' }]
      : []
  const check = (fields: Partial<Message>) =>
    checkTalk({ ...spaceOf(team), openMatters }, message({ from: 'bob', ...fields }))

  test('of which there is one at a time waits for the one before', () => {
    expect(refusal(() => check(plan))).toMatchObject({
      code: 'conflict',
      message: 'there is an open plan already: the-open-one',
      hint: 'wait for the answer, or withdraw it: mailbox withdraw the-open-one',
    })
  })

  test('about something else does not, nor does one of another kind', () => {
    expect(() => check({ ...plan, payload: { taskId: 'U' } })).not.toThrow()
    expect(() => check({ ...plan, from: 'ada' })).not.toThrow()
    expect(() => check({ type: 'task_assignment', payload: { taskId: 'T' } })).not.toThrow()
    expect(() => check({ type: 'text' })).not.toThrow()
  })

  test('of which there can be many is not looked for', () => {
    const view: View = {
      ...spaceOf(team),
      openMatters: (kind) => {
        throw new Error(`looked for a ${kind}`)
      },
    }
    for (const type of ['text', 'task_assignment', 'help_request'])
      expect(() => checkTalk(view, message({ type }))).not.toThrow()
  })
})

describe('a thread without a word of the person', () => {
  const limited = () => withPolicy({ 'limits.threadMessages': 5 })
  const inThread = (fields: Partial<Message> = {}) =>
    message({ id: idOf(9), threadId: 'the-thread', from: 'ada', subject: 'Ping', ...fields })
  const guard = (length: number, fields: Partial<Message> = {}, at = limited()) => {
    const asked: unknown[] = []
    const threadLength: View['threadLength'] = (...given) => {
      asked.push(given)
      return length
    }
    return { drafts: guardLoop({ ...spaceOf(team), threadLength }, inThread(fields), at), asked }
  }

  test('goes on below the limit', () => {
    expect(guard(3)).toEqual({ drafts: [], asked: [['the-thread', 5]] })
  })

  test('brings the person a notice with the last message that goes through', () => {
    expect(guard(4).drafts).toMatchObject([
      {
        kind: 'message',
        message: {
          ...{ from: 'system', to: ['user'], type: 'escalation', priority: 'high' },
          // Not a word of those who write in it.
          subject: 'A thread was paused after 5 messages',
          body: expect.stringMatching(
            /answered one another 5 times in thread the-thread\. .*\n\n.*mailbox thread the-thread\n.*--thread the-thread$/,
          ),
          payload: { threadId: 'the-thread', messages: 5 },
        },
      },
    ])
  })

  test('is stopped at the limit', () => {
    for (const length of [5, 6]) {
      const error = refusal(() => guard(length))
      expect(error.code).toBe('over_limit')
      expect(error.message).toContain(`the thread has ${length} messages without a word of the person`)
    }
  })

  test('is not counted for the person, the system, a new thread, or without a limit', () => {
    expect(guard(99, { from: 'user' })).toEqual({ drafts: [], asked: [] })
    expect(guard(99, { from: 'system' })).toEqual({ drafts: [], asked: [] })
    expect(guard(99, { threadId: idOf(9) })).toEqual({ drafts: [], asked: [] })
    expect(guard(99, {}, withPolicy({ 'limits.threadMessages': 0 }))).toEqual({ drafts: [], asked: [] })
  })

  test('is guarded by every send into it', () => {
    const view: View = { ...spaceOf(team, opening({})), threadLength: () => 4 }
    const parent = { id: idOf(1), threadId: 'the-thread' }
    const { drafts } = decideSend(
      view,
      { from: 'ada', parent, input: { to: 'bob', replyTo: idOf(1) } },
      limited(),
    )
    expect(messagesIn(drafts).map(({ from }) => from)).toEqual(['ada', 'system'])
    const answer = { to: 'bob', type: 'plan_approval', replyTo: idOf(1) }
    expect(refusal(() => decideSend(view, { from: 'ada', parent, input: answer }, context(now))).code).toBe(
      'conflict',
    )
  })
})
