import { describe, expect, test } from 'vitest'
import {
  asksFor,
  isAnswer,
  isOnlyReply,
  isOutcome,
  keyOf,
  movedBy,
  next,
  openedBy,
  opens,
  reportOf,
  stepOf,
} from '../../src/conversation/matter.ts'
import { findStep, type Kind, type MatterState } from '../../src/conversation/registry.ts'
import type { Message } from '../../src/model/message.ts'
import { asking } from '../../src/model/reach.ts'
import { idOf, message, sampleTime } from '../helpers/samples.ts'

const since = Date.parse(sampleTime)
const opened = (...fields: Parameters<typeof message>) => openedBy(message(...fields), 7)

describe('a message opens', () => {
  test('nothing, if it asks for nothing', () => {
    expect(opened()).toEqual([])
    expect(opens({ type: 'text', awaitingResponse: false })).toBeUndefined()
  })

  test('a question, if it waits for an answer', () => {
    expect(opened({ to: ['ada'], awaitingResponse: true })).toEqual([
      {
        ...{ seq: 7, id: idOf(1), owner: 'ada', kind: 'question', state: 'open', asker: 'bob', key: null },
        ...{ since, until: null, level: 0 },
      },
    ])
  })

  test('what its type says, whether it waits or not', () => {
    const kinds = ['handoff', 'plan_submission', 'status_request', 'gossip'].map((type) =>
      opens({ type, awaitingResponse: true }),
    )
    expect(kinds).toEqual(['task', 'plan', 'status', 'question'])
  })

  test('one matter for each box, and another for the ack', () => {
    const found = opened({
      to: ['ada', 'swarm:x', 'broadcast:x'],
      type: 'task_assignment',
      requiresAck: true,
    })
    expect(found.map(({ kind, owner }) => `${kind} ${owner}`)).toEqual([
      ...['task ada', 'task swarm:x', 'ack ada', 'ack swarm:x'],
    ])
  })

  test.each<[unknown, number | null]>([
    [{ withinMs: 5 }, since + 5],
    [{ withinMs: 0.5 }, since + 1],
    [{ withinMs: 0 }, null],
    [{ withinMs: -5 }, null],
    [{ withinMs: '5' }, null],
    [{ withinMs: 8.64e15 - since }, 8.64e15],
    [{ withinMs: 8.64e15 - since + 2 }, null],
    [undefined, null],
    [[5], null],
  ])('with the payload %j a matter until %j', (payload, until) => {
    expect(opened({ to: ['ada'], awaitingResponse: true, payload: payload as never })[0]!.until).toBe(until)
  })

  test('a matter that others can name', () => {
    const plan = message({ type: 'plan_submission', payload: { taskId: 'T' } })
    expect([keyOf(plan, 'plan'), keyOf(plan, 'task'), keyOf(plan, 'question'), keyOf(plan, 'ack')]).toEqual([
      ...['bob T', 'T', null, null],
    ])
    expect(opened({ to: ['ada'], type: 'task_assignment' })[0]!.key).toBe(idOf(1))
  })
})

describe('a reply', () => {
  const step = (type: string, payload?: unknown) =>
    stepOf({ type, payload: payload as never, replyTo: idOf(1) })?.name

  test('takes the step of its type, and answers a question otherwise', () => {
    expect([step('plan_approval', { approved: true }), step('plan_approval', { approved: false })]).toEqual([
      ...['approve', 'reject'],
    ])
    expect([step('status_response'), step('text'), step('gossip'), step('plan_submission')]).toEqual([
      ...['respond', 'answer', 'answer', 'revise'],
    ])
  })

  test('is none without a message that it replies to', () => {
    expect(stepOf({ type: 'text', replyTo: undefined })).toBeUndefined()
    expect(stepOf({ type: 'plan_approval', payload: { approved: true }, replyTo: undefined })).toBeUndefined()
  })
})

test('a report names what it settles', () => {
  const payload = { taskId: 'T', status: 'completed' }
  expect(reportOf({ type: 'status_update', payload })).toEqual({ kind: 'task', key: 'T', step: 'finish' })
  expect(reportOf({ type: 'text', payload })).toBeUndefined()
  expect(reportOf({ type: 'gossip', payload })).toBeUndefined()
})

test('a step leads on from its states, in its own kind', () => {
  const approve = findStep('plan', 'approve')
  expect(next(approve, 'plan', 'open')).toBe('approved')
  expect(next(approve, 'plan', 'rejected')).toBeUndefined()
  expect(next(approve, 'task', 'open')).toBeUndefined()
  expect(next(undefined, 'plan', 'open')).toBeUndefined()
})

describe('what a message wants of whoever gets it', () => {
  test.each<[string, Parameters<typeof message>[0], keyof typeof asking]>([
    ['mail that asks for nothing', {}, 'nothing'],
    ['an ack', { type: 'ack' }, 'nothing'],
    ['mail that wants an ack', { requiresAck: true }, 'ack'],
    ['a question', { awaitingResponse: true }, 'answer'],
    ['a request, which waits for nothing', { type: 'request' }, 'answer'],
    ['a question that also wants an ack', { awaitingResponse: true, requiresAck: true }, 'answer'],
    ['a plan', { type: 'plan_submission' }, 'answer'],
    ['a task', { type: 'task_assignment' }, 'work'],
    ['a task that also wants an ack', { type: 'task_assignment', requiresAck: true }, 'work'],
    ['mail of a type of somebody else', { type: 'gossip' }, 'nothing'],
  ])('%s', (_, fields, wanted) => {
    expect(asksFor(message(fields))).toBe(asking[wanted])
  })

  test('a reply asks for nothing unless it is a question itself', () => {
    expect(isOnlyReply(message({ replyTo: idOf(1) }))).toBe(true)
    expect(isOnlyReply(message({ replyTo: idOf(1), awaitingResponse: true }))).toBe(false)
    expect(isOnlyReply(message({ replyTo: idOf(1), type: 'task_assignment' }))).toBe(false)
    expect(isOnlyReply(message())).toBe(false)
  })
})

describe('an answer', () => {
  /** Bob has asked, and this is said to him. */
  const said = (fields: Partial<Message> = {}) =>
    message({ from: 'ada', to: ['bob'], replyTo: idOf(1), ...fields })

  test('comes from somebody else, and to whoever asked', () => {
    expect(isAnswer(said(), 'bob')).toBe(true)
    expect(isAnswer(said({ to: ['cy', 'bob'] }), 'bob')).toBe(true)
    expect(isAnswer(said({ from: 'bob' }), 'bob')).toBe(false)
    expect(isAnswer(said({ to: ['cy'] }), 'bob')).toBe(false)
    expect(isAnswer(said({ from: 'system' }), 'bob')).toBe(false)
  })

  test('is more than that it was received or passed on, or that work was closed', () => {
    expect(isAnswer(said({ type: 'ack' }), 'bob')).toBe(false)
    expect(isAnswer(said({ type: 'escalation' }), 'bob')).toBe(false)
    expect(isAnswer(said({ type: 'status_update', payload: { status: 'closed' } }), 'bob')).toBe(false)
    expect(isAnswer(said({ type: 'status_update', payload: { status: 'working' } }), 'bob')).toBe(true)
  })
})

describe('what becomes of what was asked', () => {
  const open = (kind: Kind, owner = 'ada', state: MatterState = 'open') => ({
    owner,
    kind,
    state,
    asker: 'bob',
  })
  const reply = (fields: Partial<Message> = {}) =>
    message({ from: 'ada', to: ['bob'], replyTo: idOf(1), ...fields })
  const moved = (said: Message, ...matters: ReturnType<typeof open>[]) =>
    movedBy(said, matters).map(({ owner, kind, to }) => `${owner} ${kind} ${to}`)

  test('one answer counts for everybody who was asked', () => {
    expect(moved(reply(), open('question', 'ada'), open('question', 'cy'))).toEqual([
      ...['ada question answered', 'cy question answered'],
    ])
  })

  test('what is no answer leaves a question open', () => {
    expect(moved(reply({ type: 'ack' }), open('question'))).toEqual([])
    expect(moved(reply({ from: 'bob', to: ['ada'] }), open('question'))).toEqual([])
    expect(moved(reply({ to: ['cy'] }), open('question'))).toEqual([])
  })

  test('what is settled stays as it is', () => {
    expect(moved(reply(), open('question', 'ada', 'answered'))).toEqual([])
  })

  test('a verdict decides on a plan, and on nothing else', () => {
    const verdict = (approved: boolean) => reply({ type: 'plan_approval', payload: { approved } })
    expect(moved(verdict(true), open('plan'), open('question'))).toEqual(['ada plan approved'])
    expect(moved(verdict(false), open('plan'))).toEqual(['ada plan rejected'])
    expect(moved(reply(), open('plan'))).toEqual([])
  })

  test('each agent answers for its own status, and the person for anybody', () => {
    const status = (from: string) => reply({ from, type: 'status_response', payload: { status: 'idle' } })
    const asked = [open('status', 'ada'), open('status', 'cy')]
    expect(moved(status('ada'), ...asked)).toEqual(['ada status answered'])
    expect(moved(status('dan'), ...asked)).toEqual([])
    expect(moved(status('dan'), open('status', 'role:tester'))).toEqual(['role:tester status answered'])
    expect(moved(status('user'), ...asked)).toEqual(['ada status answered', 'cy status answered'])
  })

  test('who waits for an outcome has it with the answer or the verdict, and not with a remark', () => {
    const has = (said: Message, kind: Kind) => isOutcome(said, { kind, asker: 'bob' })
    expect(has(reply(), 'question')).toBe(true)
    expect(has(reply({ type: 'ack' }), 'question')).toBe(false)
    expect(has(reply(), 'task')).toBe(false)
    expect(has(reply(), 'plan')).toBe(false)
    expect(has(reply({ type: 'plan_approval', payload: { approved: false } }), 'plan')).toBe(true)
    const report = (status: string, from = 'ada') =>
      reply({ from, type: 'status_update', payload: { status } })
    expect(['completed', 'failed', 'closed', 'working'].map((word) => has(report(word), 'task'))).toEqual([
      ...[true, true, true, false],
    ])
    expect(has(report('completed', 'bob'), 'task')).toBe(false)
  })
})
