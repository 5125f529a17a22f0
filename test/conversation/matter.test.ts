import { describe, expect, test } from 'vitest'
import { keyOf, next, openedBy, opens, reportOf, stepOf } from '../../src/conversation/matter.ts'
import { findStep } from '../../src/conversation/registry.ts'
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
