import { describe, expect, test } from 'vitest'
import { fence } from '../../src/conversation/fence.ts'
import { knownTypes, typeOf } from '../../src/conversation/registry.ts'
import { toMarkdown } from '../../src/conversation/render.ts'
import {
  filesBesides,
  labelFor,
  listsOf,
  previewOf,
  titleOf,
  withoutMarks,
  wordsOf,
} from '../../src/conversation/words.ts'
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

describe('the beginning of a message', () => {
  test('is one line without the signs of Markdown', () => {
    expect(withoutMarks('# Plan\n\n- **Split** the `parser`\n2. then __test__ it\n   > soon')).toBe(
      'Plan Split the parser then test it soon',
    )
    expect(withoutMarks('###### deep\n12. twelve\n* star\n``` code ```')).toBe('deep twelve star code')
    // These are no signs.
    expect(withoutMarks('a # b - c 2. d > e, 2.5 and #7 -x')).toBe('a # b - c 2. d > e, 2.5 and #7 -x')
    expect(withoutMarks('  two \t words \n\n ')).toBe('two words')
  })

  test('is 160 characters long, of the body or what the payload says', () => {
    expect(previewOf(message({ body: 'x'.repeat(500) }))).toBe('x'.repeat(160))
    expect(previewOf(message({ body: `${' '.repeat(639)}x` }))).toBe('x')
    expect(previewOf(message({ body: `${' '.repeat(640)}x` }))).toBe('')
    expect(previewOf(message({ body: '', payload: { text: '**so**' } }))).toBe('so')
    expect(previewOf(message({ body: '', type: 'plan_approval', payload: { approved: true } }))).toBe(
      'Approved.',
    )
    expect(previewOf(message({ body: 'the body', payload: { text: 'another' } }))).toBe('the body')
    expect(previewOf(message({ body: '' }))).toBe('')
  })
})

describe('what the body says', () => {
  const left = (body: string, ...after: string[]) =>
    wordsOf(message({ type: 'task_assignment', body, payload: { after } })).facts.map(({ text }) => text)

  test('is not said again: a short text in any case, as a word of its own', () => {
    expect(left('First t-1, then t-2.', 'T-1', 'T-2', 'T-3')).toEqual(['T-3'])
    expect(left('not-1 T-12 xT-1', 'T-1')).toEqual(['T-1'])
    expect(left('xT-1 and T-1', 'T-1')).toEqual([])
    expect(left('T-1', 'T-1')).toEqual([])
    expect(left('a (x) b', '(x)')).toEqual([])
    expect(left('', 'T-1')).toEqual(['T-1'])
    expect(left('body', '')).toEqual([])
    expect(left(`${'x'.repeat(9_997)} T-1`, 'T-1')).toEqual(['T-1'])
    expect(left(`${'x'.repeat(9_996)} T-1`, 'T-1')).toEqual([])
  })

  test('is not said again: a long text as lines of its own', () => {
    const long = `${'word '.repeat(50)}end`
    expect(left(`So:\n${long}\nbye`, long)).toEqual([])
    expect(left(long, long)).toEqual([])
    expect(left(`So: ${long}`, long)).toEqual([long])
    expect(left(`${'\n'.repeat(98)}${long}`, long)).toEqual([])
    expect(left(`${'\n'.repeat(120)}${long}`, long)).toEqual([long])
    expect(left(`${'\n'.repeat(20)}${long.toUpperCase()}`, long)).toEqual([long])
  })

  test('of a context is not said again either', () => {
    const context = { done: 'the parser', next: ['tests', 'docs'], left: ['x', 7], n: 5 }
    const body = '**Done:** the parser\n- tests\n- docs\n- x\n- 7'
    expect(wordsOf(message({ body, context })).context).toEqual({ left: ['x', 7], n: 5 })
    expect(
      wordsOf(message({ body: '**Done:** the parser', context: { done: 'the parser' } })).context,
    ).toBeUndefined()
    expect(wordsOf(message({ body: 'x' })).context).toBeUndefined()
    const attachments = ['a.ts', 'b.ts']
    expect(filesBesides({ attachments, context }, 'Files:\n- a.ts\n- b.ts.x')).toEqual(['b.ts'])
    expect(filesBesides({ attachments }, 'Files:\n- a.ts')).toEqual(attachments)
  })
})

describe('words for values', () => {
  test('that a sender named are made of the name', () => {
    expect(['blockedBy', 'blocked_by', 'blocked  by', 'URL', 'x', '_a_', 'step2Go'].map(labelFor)).toEqual([
      'Blocked by',
      'Blocked by',
      'Blocked by',
      'Url',
      'X',
      'A',
      'Step2 go',
    ])
    expect(labelFor('x'.repeat(100))).toHaveLength(60)
  })

  test('under the same label are one list if they follow one another', () => {
    const fact = (label: string, text: string) => ({ label, text })
    expect(listsOf([fact('A', '1'), fact('A', '2'), fact('B', '3'), fact('A', '4')])).toEqual([
      { label: 'A', texts: ['1', '2'] },
      { label: 'B', texts: ['3'] },
      { label: 'A', texts: ['4'] },
    ])
    expect(listsOf([])).toEqual([])
  })

  test('that can be read are texts, numbers, and lists of these; others are data', () => {
    const payload = {
      taskId: 'T',
      n: 7,
      list: ['a', 2, true],
      deep: { x: 1 },
      mixed: ['a', { y: 1 }],
      none: null,
    }
    const { others, payload: rest } = wordsOf(message({ type: 'task_assignment', body: 'b', payload }))
    expect(others).toEqual([
      { label: 'N', text: '7' },
      { label: 'List', text: 'a, 2, true' },
    ])
    expect(rest).toEqual({ deep: { x: 1 }, mixed: ['a', { y: 1 }], none: null })
  })

  test('of more than fifty are data', () => {
    const payload = Object.fromEntries(Array.from({ length: 52 }, (_, n) => [`key${n}`, `value ${n}`]))
    const { others, payload: rest } = wordsOf(message({ type: 'task_assignment', body: 'b', payload }))
    expect([others.length, rest]).toEqual([50, { key50: 'value 50', key51: 'value 51' }])
  })
})
