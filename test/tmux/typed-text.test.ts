import { describe, expect, it } from 'vitest'
import { fenceLegend } from '../../src/conversation/fence.ts'
import { knownTypes } from '../../src/conversation/registry.ts'
import type { Message } from '../../src/model/message.ts'
import { noticeFor, wordsFor } from '../../src/tmux/typed-text.ts'

const token = 'a1b2c3d4e5f6'
const base: Message = {
  id: '01999999-0000-7000-8000-000000000000',
  from: 'bob',
  to: ['ada'],
  type: 'text',
  subject: '',
  body: 'the body',
  priority: 'normal',
  threadId: '01999999-0000-7000-8000-000000000000',
  createdAt: '2026-11-15T09:30:00.000Z',
  requiresAck: false,
  awaitingResponse: false,
  attachments: [],
  tags: [],
}
const typed = (change: Partial<Message>) => wordsFor({ ...base, ...change }, { token, comment: '# ' }).text

describe('a message for an agent', () => {
  it('says what it is, and holds what was sent between two marks', () => {
    expect(typed({ subject: 'Plan', body: 'one\n\ntwo' })).toBe(
      `# [mailbox] Message ${base.id} from another agent "bob", text, normal. ⏎ ${fenceLegend(token)} ⏎ <<<mail ${token} ⏎ # Plan ⏎ one ⏎ two ⏎ mail ${token}>>>`,
    )
  })

  it('says of every known type that asks for something what it asks for', () => {
    const plain = new Set(['text', 'request', 'response', 'notification', 'ack', 'error', 'broadcast'])
    for (const type of knownTypes) {
      const head = typed({ type }).split(' ⏎ ')[0]!
      const asked = head.slice(head.indexOf(`, ${type}, normal.`) + `, ${type}, normal.`.length)
      expect(asked === '').toBe(plain.has(type))
    }
  })

  it.each<[string, NonNullable<Message['payload']>, string]>([
    [
      'fix_ci_failure',
      { check: 'lint', pr: '#7', error: 'no semicolon' },
      'Check: lint ⏎ PR: #7 ⏎ Error: no semicolon',
    ],
    ['fix_review_comments', { comments: [{ path: 'a.ts', line: 3, body: 'why?' }] }, 'Comment: a.ts:3 why?'],
    ['shutdown_request', { reason: 'called off', withinMs: 60_000 }, 'Reason: called off ⏎ Within: 60 s'],
    ['status_update', { status: 'blocked', progress: 0.5 }, 'Status: blocked ⏎ Progress: 50 %'],
    ['plan_approval', { approved: false, feedback: 'too large' }, 'Verdict: rejected ⏎ Feedback: too large'],
    ['task_assignment', { taskId: 'T-7', own: 1 }, 'Task: T-7 ⏎ Own: 1'],
    ['text', { any: 'thing' }, 'payload: {"any":"thing"}'],
  ])('puts the payload of a %s into words', (type, payload, words) => {
    expect(typed({ type, payload })).toContain(`the body ⏎ ${words} ⏎ mail `)
  })

  it('does not say twice what the body says', () => {
    const text = typed({ type: 'shutdown_request', body: 'called off', payload: { reason: 'called off' } })
    expect(text.split('called off')).toHaveLength(2)
  })

  it('is cut within its budget, and says so before the text', () => {
    const { text } = wordsFor({ ...base, body: '漢'.repeat(5_000) }, { token, comment: '', budgetBytes: 600 })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(600)
    expect(text).toMatch(/more characters: mailbox read 01999999-0000-7000-8000-000000000000\) ⏎ <<<mail/)
    expect(text.endsWith(`… ⏎ mail ${token}>>>`)).toBe(true)
  })
})

it('tells a shell of several messages in one line', () => {
  const { text } = noticeFor([{ ...base, type: 'request', priority: 'high' }, base, base], {
    ...{ agent: 'ada', comment: ' # ', token },
  })
  expect(text).toBe(
    ` # mail for ada from bob and 2 more, request, high - mailbox --as ada check - the first is ${base.id} - ${token}`,
  )
})
