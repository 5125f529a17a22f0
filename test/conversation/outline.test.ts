import { describe, expect, test } from 'vitest'
import { outlineOf } from '../../src/conversation/outline.ts'
import { knownTypes } from '../../src/conversation/registry.ts'
import { idOf } from '../helpers/samples.ts'

const secret = 'a secret word'
const of = (type: string, payload: unknown) => outlineOf({ type, payload: payload as never })

describe('of the payload of an encrypted message', () => {
  test('what matters are opened and settled by stays readable', () => {
    expect(of('text', { withinMs: 5, about: idOf(1), text: secret })).toEqual({ withinMs: 5, about: idOf(1) })
    expect(of('plan_approval', { approved: false, feedback: secret })).toEqual({ approved: false })
    expect(of('plan_approval', { approved: true })).toEqual({ approved: true })
    expect(of('shutdown_response', { accepted: false, reason: secret })).toEqual({ accepted: false })
    expect(of('task_assignment', { taskId: 'T-7', description: secret })).toEqual({ taskId: 'T-7' })
    for (const status of ['completed', 'failed', 'closed'])
      expect(of('status_update', { taskId: 'T-7', status, progress: 0.5 })).toEqual({ taskId: 'T-7', status })
    expect(of('status_update', { status: secret })).toBeUndefined()
  })

  test('that it is about something stays readable, and what that is only if it is a message', () => {
    for (const about of [secret, 7, { id: idOf(1) }, `${idOf(1)} ${secret}`])
      expect(of('text', { about })).toEqual({ about: true })
  })

  test('a value of another kind than its field has is no part of it', () => {
    const values = [secret, { secret }, [secret]]
    for (const value of values) {
      expect(of('plan_approval', { approved: value })).toBeUndefined()
      expect(of('text', { withinMs: value })).toBeUndefined()
      expect(of('status_update', { status: value })).toBeUndefined()
    }
    expect(of('task_assignment', { taskId: { secret } })).toBeUndefined()
  })

  test('nothing else does, in any type', () => {
    for (const type of [...knownTypes, 'gossip', 'constructor', '__proto__']) {
      const payload = {
        secret,
        description: secret,
        reason: secret,
        feedback: secret,
        text: secret,
        error: secret,
      }
      expect(JSON.stringify(of(type, { ...payload, withinMs: 1 }))).not.toContain(secret)
      expect(of(type, {})).toBeUndefined()
    }
    // Words of other objects are no fields.
    expect(of('text', Object.create({ withinMs: 5 }))).toBeUndefined()
  })

  test('there is none where the payload is no object', () => {
    for (const payload of [undefined, null, 'text', 7, [1]]) expect(of('text', payload)).toBeUndefined()
  })
})
