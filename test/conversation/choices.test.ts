import { describe, expect, test } from 'vitest'
import { choicesOf, suggestedAnswers } from '../../src/conversation/choices.ts'
import { message } from '../helpers/samples.ts'

const keysOf = (fields: Parameters<typeof message>[0]) => choicesOf(message(fields)).map(({ key }) => key)

describe('the answers that a sender suggests', () => {
  test('are the texts among its options, nine at most', () => {
    expect(suggestedAnswers({ payload: { options: ['yes', '', 7, null, 'no', ['x']] } })).toEqual([
      'yes',
      'no',
    ])
    const many = Array.from({ length: 12 }, (_, n) => `answer ${n}`)
    expect(suggestedAnswers({ payload: { options: many } })).toEqual(many.slice(0, 9))
    for (const payload of [{ options: 'yes' }, { options: { 0: 'yes', length: 1 } }, {}, undefined])
      expect(suggestedAnswers(payload === undefined ? {} : { payload })).toEqual([])
  })
})

describe('a message can be answered in a word', () => {
  test('with what its sender suggests, by number, and then with the steps of its conversation', () => {
    const plan = message({
      type: 'plan_submission',
      awaitingResponse: true,
      payload: { options: ['later', 'never'] },
    })
    expect(choicesOf(plan)).toEqual([
      { key: '1', label: 'later' },
      { key: '2', label: 'never' },
      { key: 'approve', label: 'Approve' },
      { key: 'reject', label: 'Reject' },
    ])
  })

  test('with done if it asks for work', () => {
    expect(choicesOf(message({ type: 'task_assignment' })).at(-1)).toEqual({ key: 'done', label: 'Done' })
    expect(keysOf({ type: 'plan_submission', awaitingResponse: true })).not.toContain('done')
    expect(keysOf({ type: 'gossip' })).toEqual([])
  })

  test('with an ack if it needs one, and nothing that it opens needs more', () => {
    expect(choicesOf(message({ requiresAck: true }))).toEqual([{ key: 'ack', label: 'Acknowledge' }])
    expect(keysOf({})).toEqual([])
    expect(keysOf({ type: 'task_assignment', requiresAck: true })).not.toContain('ack')
  })

  test('with steps that are called as on a button, or as the command, with a capital', () => {
    for (const type of ['handoff', 'shutdown_request', 'status_request', 'help_request', 'plan_submission'])
      for (const { key, label } of choicesOf(message({ type, awaitingResponse: true }))) {
        expect(key).toMatch(/^[a-z]+$/)
        expect(label).toMatch(/^[A-Z][a-z]/)
      }
    expect(keysOf({ type: 'shutdown_request', awaitingResponse: true }).length).toBeGreaterThan(1)
  })
})
