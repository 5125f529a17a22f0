import { describe, expect, test } from 'vitest'
import { aboutOf, noticeOf } from '../../src/conversation/notice.ts'
import { isOfType, typeNamed, warnOfType } from '../../src/conversation/type-names.ts'

describe('a type', () => {
  test.each([
    ['shutdown_request', 'shutdown_request'],
    ['ShutdownRequest', 'shutdown_request'],
    ['SHUTDOWN-REQUEST', 'shutdown_request'],
    ['shutdown--request_', 'shutdown_request'],
    ['Text', 'text'],
    ['shutdown request', 'shutdown request'],
    ['gossip', 'gossip'],
    ['', ''],
  ])('that is called %j is %j', (name, type) => {
    expect(typeNamed(name)).toBe(type)
  })

  test('is one of those wanted, whatever they are called', () => {
    expect(isOfType('text', 'text')).toBe(true)
    expect(isOfType('text', ['plan_submission', 'TEXT'])).toBe(true)
    expect(isOfType('Text', 'text')).toBe(true)
    expect(isOfType('text', ['plan_submission', 'response'])).toBe(false)
    expect(isOfType('text', [])).toBe(false)
    expect(isOfType('gossip', ['gossip'])).toBe(true)
    expect(isOfType('gossip', 'Gossip')).toBe(false)
  })

  test.each<[string, string | undefined]>([
    ['text', undefined],
    ['PLAN-SUBMISSION', undefined],
    ['gossip', undefined],
    ['deploy_request', undefined],
    ['a', undefined],
    // Few letters are soon another word.
    ['tex', undefined],
    ['tect', undefined],
    // One letter in five may be wrong.
    ['respons', 'response'],
    ['hanoff', 'handoff'],
    ['hnoff', undefined],
    ['plan_submision', 'plan_submission'],
    ['plan_sbmision', 'plan_submission'],
    ['task_asignmnt', 'task_assignment'],
    ['sk_asignmnt', undefined],
    // A part of a name.
    ['status', 'status_request or status_response or status_update'],
    ['STATUS', 'status_request or status_response or status_update'],
    ['request-status', 'status_request'],
    ['ci_failure_fix', 'fix_ci_failure'],
    ['ci_failure_now', undefined],
  ])('that is called %j is said to be %j', (name, meant) => {
    const warning = warnOfType(name)
    if (meant === undefined) expect(warning).toBeUndefined()
    else {
      expect(warning).toContain(`${name} is not a known type`)
      expect(warning).toContain(`did you mean ${meant}?`)
    }
    // It is remembered.
    expect(warnOfType(name)).toBe(warning)
  })

  test('that another system calls otherwise is said to be taken as ours', () => {
    expect(warnOfType('shutdown')).toBe('the type shutdown was taken as shutdown_request')
    expect(warnOfType('Shutdown')).toBe('the type Shutdown was taken as shutdown_request')
  })

  test('that is not known is judged again after many others', () => {
    for (let n = 0; n < 250; n++) expect(warnOfType(`gossip of the ${n}th day`)).toBeUndefined()
    expect(warnOfType('respons')).toContain('response')
  })
})

describe('a notice', () => {
  const about = [
    { id: 'a', to: 'ada', kind: 'unread', reason: 'r' },
    { id: 'b', to: 'ada', kind: 'unread', reason: 'r' },
  ]

  test('is told from other messages by its payload', () => {
    expect(noticeOf({ payload: { notice: 'unread', about } })).toEqual({ notice: 'unread', about })
    expect(aboutOf({ payload: { notice: 'unread', about } })).toEqual(['a', 'b'])
  })

  test.each([
    [{}],
    [{ notice: 'unread' }],
    [{ about }],
    [{ notice: 5, about }],
    [{ notice: 'unread', about: 'a' }],
    [{ notice: 'unread', about: { length: 1 } }],
  ])('is none with %j', (payload) => {
    expect(noticeOf({ payload })).toBeUndefined()
    expect(aboutOf({ payload })).toEqual([])
  })

  test('can be written by anybody, and what it names are texts', () => {
    expect(aboutOf({ payload: { notice: 'x', about: [{ id: 5 }, { id: 'b' }, {}] } as never })).toEqual(['b'])
    expect(aboutOf({})).toEqual([])
  })
})
