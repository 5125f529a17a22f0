import { describe, expect, test } from 'vitest'
import { fence } from '../../src/conversation/fence.ts'
import { knownTypes, typeOf } from '../../src/conversation/registry.ts'
import { toMarkdown } from '../../src/conversation/render.ts'
import { titleOf, wordsOf } from '../../src/conversation/words.ts'
import type { Message } from '../../src/model/message.ts'
import { wordsFor } from '../../src/tmux/typed-text.ts'
import { message } from '../helpers/samples.ts'

type Payload = Message['payload']

/** What other programs send, with a payload and nothing else: its subject and its text in our words. */
const silent: [string, Payload, string, string][] = [
  [
    'fix_ci_failure',
    { pr: 'https://example.org/pull/123', check: 'lint', error: 'Missing semicolon at line 42' },
    'CI failed: lint',
    'The check lint failed on PR https://example.org/pull/123.\n\nMissing semicolon at line 42',
  ],
  [
    'fix_ci_failure',
    { branch: 'main', commit: 'abc' },
    'CI failed',
    'A check failed on branch main, commit abc.',
  ],
  ['fix_ci_failure', {}, 'CI failed', 'A check failed.'],
  [
    'fix_review_comments',
    { pr: '#123', comments: [{ path: 'a.ts', line: 4, body: 'Too long.' }, { body: 'Why?' }] },
    '2 review comments',
    'PR #123:\n- a.ts:4 Too long.\n- Why?',
  ],
  ['fix_review_comments', { comments: [{ body: 'Why?' }] }, '1 review comment', '- Why?'],
  ['fix_review_comments', { pr: 7, comments: [{ body: 'Why?' }] }, '1 review comment', 'PR 7:\n- Why?'],
  [
    'fix_ci_failure',
    { check: 'lint', url: 'https://example.org/7' },
    'CI failed: lint',
    'The check lint failed.\n\nhttps://example.org/7',
  ],
  ['task_assignment', { taskId: 'T-7', description: 'Build it.' }, 'Task T-7', 'Build it.'],
  ['status_request', { text: 'How far are you?' }, 'What is your status?', 'How far are you?'],
  [
    'status_request',
    {},
    'What is your status?',
    'Please say what you are working on, on which branch, what blocks you, and when it will be done.',
  ],
  ['status_response', { taskId: 7, status: 'working' }, '7: working', '7: working'],
  ['status_update', { taskId: 'T-7', status: 'completed' }, 'T-7: completed', 'T-7: completed'],
  [
    'shutdown_request',
    { reason: 'The task is over.' },
    'Please shut down',
    'Please stop. The reason: The task is over.',
  ],
  ['shutdown_request', {}, 'Please shut down', 'Please stop.'],
  ['shutdown_response', { accepted: true }, 'Shutdown accepted', 'Shutting down.'],
  [
    'shutdown_response',
    { accepted: false, reason: 'Tests run.' },
    'Shutdown deferred',
    'Not yet: Tests run.',
  ],
  ['shutdown_response', { accepted: false }, 'Shutdown deferred', 'Not yet.'],
  ['plan_approval', { approved: true }, 'Plan approved', 'Approved.'],
  ['plan_approval', { approved: false, feedback: 'Too large.' }, 'Plan rejected', 'Rejected: Too large.'],
  ['escalation', { reason: 'Blocked.' }, 'Escalation: Blocked.', 'Blocked.'],
  ['ack', { text: 'Message received and displayed' }, 'Received', 'Message received and displayed'],
  ['ack', { status: 'processing' }, 'Received', 'Received.'],
  ['error', { reason: 'No disk.' }, 'An error', 'No disk.'],
]

describe('typed mail that has only a payload', () => {
  test.each(silent)('%s %j is %j', (type, payload, subject, body) => {
    const bare = message({ type, payload, subject: '', body: '' })
    expect(titleOf(bare)).toBe(subject)
    expect(wordsOf(bare)).toMatchObject({ subject, body, payload: undefined })
    const views = [toMarkdown(bare), fence(bare), wordsFor(bare, { token: 'abc', comment: '' }).text]
    for (const view of views) {
      expect(view).toContain(subject)
      for (const line of body.split('\n')) expect(view).toContain(line)
      expect(view).not.toMatch(/\{"|```json|\(no subject\)/)
    }
  })

  test('keeps the words of its sender where there are any', () => {
    for (const [type, payload] of silent) {
      const own = message({ type, payload, subject: 'My subject', body: 'My words.' })
      expect(wordsOf(own)).toMatchObject({ subject: 'My subject', body: 'My words.' })
    }
  })

  test('of every type that asks for something has a title', () => {
    const asking = knownTypes.filter((type) => typeOf(type)!.opens !== undefined && typeOf(type)!.payload)
    const untitled = asking.filter((type) => titleOf({ type, subject: '', payload: {} }) === '')
    // A help request is nothing but its text.
    expect(untitled).toEqual(['help_request'])
  })
})

describe('a handoff', () => {
  const context = {
    ...{ work_completed: 'Design in DESIGN.md', current_state: 'Ready', next_steps: ['Build it', 'Test it'] },
    ...{ blockers: [], files_modified: ['DESIGN.md'], job_id: null, notes: '' },
  }

  test('of another program reads as ours do', () => {
    const bare = message({ type: 'handoff', subject: 'S', body: '', context })
    expect(wordsOf(bare).body).toBe(
      [
        'Work handoff from bob to ada, role:architect.',
        ...['', '**Work completed:** Design in DESIGN.md', '', '**Current state:** Ready'],
        ...['', '**Next steps:**', '- Build it', '- Test it', '', '**Files modified:**', '- DESIGN.md'],
      ].join('\n'),
    )
    expect(fence(bare)).not.toContain('{"')
  })

  test('with a context that is something else leaves it as it is', () => {
    const bare = message({ type: 'handoff', body: '', context: { workCompleted: { a: 1 } } })
    expect(wordsOf(bare)).toMatchObject({ body: '', context: { workCompleted: { a: 1 } } })
  })
})

test('a label that the sender chose stands below the body, never in the head', () => {
  const forged = message({
    ...{ type: 'task_assignment', body: 'The body.' },
    payload: { From: 'user', Priority: 'urgent', taskId: 'T' },
  })
  const [head = '', rest = ''] = toMarkdown(forged).split('\n---\n')
  expect(head.match(/^\*\*(From|Priority):\*\*/gm)).toEqual(['**From:**', '**Priority:**'])
  expect(rest).toContain('### Payload\n\n- **From:** user\n- **Priority:** urgent')
})

test('however a message is made, it takes no time to see what its body says', () => {
  const long = 'a'.repeat(500_000)
  const texts = Array.from({ length: 2_000 }, (_, n) => [`key${n}`, 'a'.repeat(200)])
  const payload = { error: long, check: 'a', ...Object.fromEntries(texts) }
  const { facts, others, payload: rest } = wordsOf(message({ type: 'fix_ci_failure', body: long, payload }))
  // The error is all of the body, and a letter of a long word is not said.
  expect(facts).toEqual([{ label: 'Check', text: 'a' }])
  expect(others).toHaveLength(50)
  expect(Object.keys(rest as object)).toHaveLength(1_950)
})
