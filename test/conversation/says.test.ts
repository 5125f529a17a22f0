import { describe, expect, test } from 'vitest'
import type { Surroundings } from '../../src/conversation/conversation.ts'
import { allActions } from '../../src/conversation/registry.ts'

const actionOf = (name: string) => allActions().find((one) => one.name === name)!
const say = (name: string, input: object, to = 'role:lead') => actionOf(name).says(input, { name: 'ada', to })

/** What each action says: with as little as it needs, and with everything. */
test.each<[string, object, object]>([
  [
    'submitPlan',
    { subject: 'Split it', body: 'First.' },
    { subject: 'Split it', body: 'First.', priority: 'high', payload: {} },
  ],
  [
    'submitPlan',
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', taskId: 'T', withinMs: 5, revises: 'X' },
    {
      to: 'bob',
      subject: 'S',
      body: 'B',
      priority: 'low',
      payload: { taskId: 'T', withinMs: 5 },
      replyTo: 'X',
    },
  ],
  ['approvePlan', { id: 'X' }, { body: 'Approved.', payload: { approved: true } }],
  ['approvePlan', { id: 'X', feedback: 'F' }, { body: 'F', payload: { approved: true, feedback: 'F' } }],
  ['rejectPlan', { id: 'X', feedback: 'F' }, { body: 'F', payload: { approved: false, feedback: 'F' } }],
  [
    'requestShutdown',
    { to: 'bob' },
    { priority: 'urgent', subject: 'Please shut down', body: '', payload: {} },
  ],
  [
    'requestShutdown',
    { to: 'bob', reason: 'R', withinMs: 5 },
    { priority: 'urgent', subject: 'Please shut down', body: 'R', payload: { reason: 'R', withinMs: 5 } },
  ],
  ['acceptShutdown', { id: 'X' }, { body: 'Shutting down.', payload: { accepted: true } }],
  ['deferShutdown', { id: 'X', reason: 'R' }, { body: 'R', payload: { accepted: false, reason: 'R' } }],
  ['requestStatus', { to: 'bob' }, { subject: 'What is your status?', body: '', payload: {} }],
  [
    'requestStatus',
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', withinMs: 5 },
    { subject: 'S', body: 'B', priority: 'low', payload: { withinMs: 5 } },
  ],
  ['respondStatus', { id: 'X', status: 'idle' }, { body: 'idle', payload: { status: 'idle' } }],
  [
    'respondStatus',
    { id: 'X', status: 'idle', body: 'B', taskId: 'T', progress: 0.5 },
    { body: 'B', payload: { status: 'idle', taskId: 'T', progress: 0.5 } },
  ],
  ['updateStatus', { status: 'idle' }, { subject: 'ada: idle', body: '', payload: { status: 'idle' } }],
  [
    'updateStatus',
    { to: 'bob', status: 'done', taskId: 'T', body: 'B' },
    { to: 'bob', subject: 'T: done', body: 'B', payload: { status: 'done', taskId: 'T' } },
  ],
  [
    'askForHelp',
    { body: 'B' },
    { subject: 'Help wanted', body: 'B', priority: 'urgent', awaitingResponse: true },
  ],
  [
    'askForHelp',
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', withinMs: 5 },
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', awaitingResponse: true, payload: { withinMs: 5 } },
  ],
  [
    'assignTask',
    { to: 'bob', subject: 'S' },
    { to: 'bob', subject: 'S', body: '', priority: 'high', payload: {} },
  ],
  [
    'assignTask',
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', taskId: 'T', withinMs: 5 },
    { to: 'bob', subject: 'S', body: 'B', priority: 'low', payload: { taskId: 'T', withinMs: 5 } },
  ],
  [
    'reportCiFailure',
    { to: 'bob', check: 'lint' },
    {
      ...{ to: 'bob', subject: 'CI failed: lint', body: '', priority: 'high', payload: { check: 'lint' } },
      requiresAck: true,
    },
  ],
  [
    'reportCiFailure',
    { to: 'bob', check: 'lint', subject: 'S', url: 'u', branch: 'b', commit: 'c', log: 'l', withinMs: 5 },
    {
      ...{ to: 'bob', subject: 'S', body: '', priority: 'high', requiresAck: true },
      payload: { check: 'lint', url: 'u', branch: 'b', commit: 'c', log: 'l', withinMs: 5 },
    },
  ],
  [
    'reportReview',
    {
      to: 'bob',
      comments: [{ body: 'x' }, { path: 'a.ts', body: 'y' }, { path: 'a.ts', line: 3, body: 'z' }],
    },
    {
      ...{ to: 'bob', subject: '3 review comments', body: '- x\n- a.ts y\n- a.ts:3 z', priority: 'high' },
      payload: {
        comments: [{ body: 'x' }, { path: 'a.ts', body: 'y' }, { path: 'a.ts', line: 3, body: 'z' }],
      },
      requiresAck: true,
    },
  ],
  [
    'reportReview',
    { to: 'bob', comments: [{ body: 'x' }], subject: 'S', body: 'B', pr: '7', url: 'u' },
    {
      ...{ to: 'bob', subject: 'S', body: 'B\n- x', priority: 'high', requiresAck: true },
      payload: { comments: [{ body: 'x' }], pr: '7', url: 'u' },
    },
  ],
  [
    'escalate',
    { reason: 'R' },
    {
      ...{ to: 'role:lead', priority: 'urgent', body: 'R', awaitingResponse: true, subject: 'Escalation: R' },
      payload: { reason: 'R', level: 'lead', related: [] },
    },
  ],
  [
    'escalate',
    { reason: 'R', about: 'X', related: ['Y'], subject: 'S', body: 'B', priority: 'low' },
    {
      ...{ to: 'role:lead', priority: 'low', body: 'B', awaitingResponse: true, subject: 'S', replyTo: 'X' },
      payload: { reason: 'R', level: 'lead', related: ['X', 'Y'] },
    },
  ],
])('%s with %j', (name, input, said) => {
  expect(say(name, input)).toEqual(said)
})

test('an escalation to the person says so, and its subject fits', () => {
  expect(say('escalate', { reason: 'R' }, 'user').payload).toMatchObject({ level: 'person' })
  expect(say('escalate', { reason: 'x'.repeat(600) }).subject).toHaveLength(500)
  expect(say('updateStatus', { status: 'x'.repeat(600) }).subject).toHaveLength(500)
})

/** A mailbox that has one message and one template. */
const mailbox: Surroundings = {
  show: async (id) => ({ message: { id: `${id}-in-full` } }),
  template: async (name) =>
    name === 'own'
      ? { currentState: 'Half done.', nextSteps: ['First'], notes: 'Mind the gap.' }
      : name === 'odd'
        ? { nextSteps: 'not a list' }
        : null,
}
const prepare = (name: string, input: object) => actionOf(name).prepare!(mailbox, input)

test('an escalation that is about nothing answers nothing', () => {
  expect(say('escalate', { reason: 'R' })).not.toHaveProperty('replyTo')
})

test('an escalation names the message by its whole id', async () => {
  expect(await prepare('escalate', { reason: 'R', about: 'X' })).toEqual({ reason: 'R', about: 'X-in-full' })
  expect(await prepare('escalate', { reason: 'R' })).toEqual({ reason: 'R' })
})

describe('a handoff', () => {
  const least = { to: 'bob', subject: 'S', workCompleted: 'The parser.' }

  test('says everything in its body, its context and its attachments', () => {
    const work = {
      ...{ workCompleted: 'W', currentState: 'C', nextSteps: ['n1', 'n2'], blockers: [], notes: '' },
      ...{ filesModified: ['m'], filesCreated: ['c'] },
    }
    expect(say('handOff', { to: 'bob', subject: 'S', ...work, swarm: 'dev', replyTo: 'X' })).toEqual({
      ...{ to: 'bob', subject: 'S', priority: 'normal', context: work, attachments: ['m', 'c'] },
      ...{ swarm: 'dev', replyTo: 'X' },
      body: [
        'Work handoff from ada to bob.',
        ...['', '**Work completed:** W', '', '**Current state:** C', '', '**Next steps:**', '- n1', '- n2'],
        ...['', '**Files modified:**', '- m', '', '**Files created:**', '- c'],
      ].join('\n'),
    })
    expect(say('handOff', { ...least, priority: 'low', template: 'bug' })).toEqual({
      ...{
        to: 'bob',
        subject: 'S',
        priority: 'low',
        context: { workCompleted: 'The parser.' },
        attachments: [],
      },
      body: 'Work handoff from ada to bob.\n\n**Work completed:** The parser.',
    })
  })

  test('has the labels of its fields', () => {
    const texts = { currentState: 'x', stateFile: 'x', jobId: 'x', notes: 'x' }
    const lists = { dependencies: ['x'], relatedEscalations: ['x'], blockers: ['x'] }
    const { body } = say('handOff', { ...least, ...texts, ...lists })
    for (const label of ['State file', 'Job', 'Notes']) expect(body).toContain(`**${label}:** x`)
    for (const label of ['Dependencies', 'Related escalations', 'Blockers'])
      expect(body).toContain(`**${label}:**\n- x`)
  })

  test('goes as it is without a template', async () => {
    expect(await prepare('handOff', { ...least, priority: 'low', swarm: 'dev' })).toEqual({
      ...{ ...least, priority: 'low', swarm: 'dev' },
    })
  })

  test('takes from a template what it does not say, and adds to its lists', async () => {
    expect(
      await prepare('handOff', { ...least, template: 'own', nextSteps: ['Second'], notes: 'Mine.' }),
    ).toEqual({
      ...{ ...least, currentState: 'Half done.', nextSteps: ['First', 'Second'], notes: 'Mine.' },
    })
  })

  test.each([
    ['implementation', 3],
    ['review', 2],
    ['bug', 3],
    ['research', 2],
  ])('has a template %s', async (template, steps) => {
    const filled = (await prepare('handOff', { ...least, template })) as {
      currentState: string
      nextSteps: string[]
    }
    expect(filled.currentState).toMatch(/^The .*\.$|^It .*\.$/)
    expect(filled.nextSteps.filter((step) => /^[A-Z]/.test(step))).toHaveLength(steps)
  })

  test.each<[string, object, string]>([
    ['nothing that was done', { to: 'bob', subject: 'S' }, 'a handoff says what was done'],
    ['an empty word for it', { ...least, workCompleted: '' }, 'workCompleted must be text that is not empty'],
    ['a field nobody knows', { ...least, colour: 'red' }, 'a handoff: no field "colour"'],
    ['a list that is none', { ...least, nextSteps: 'x' }, 'a handoff: nextSteps must be a list of texts'],
    ['a template nobody knows', { ...least, template: 'toString' }, 'there is no template "toString"'],
    [
      'a template that is none',
      { ...least, template: 'odd' },
      'a handoff: nextSteps must be a list of texts',
    ],
  ])('with %s is refused', async (_, input, said) => {
    await expect(prepare('handOff', input)).rejects.toMatchObject({
      code: said.startsWith('there is no') ? 'not_found' : 'invalid',
      message: expect.stringContaining(said),
      hint: expect.stringMatching(
        /^fields: workCompleted, currentState|^built in: implementation, review,|^give --/,
      ),
    })
  })
})

describe('a comment of a review, in one line', () => {
  const { reads } = allActions().find(({ name }) => name === 'reportReview')!.input.comments

  test.each<[string, object]>([
    ['src/a.ts:12: Too long.', { path: 'src/a.ts', line: 12, body: 'Too long.' }],
    ['a.ts: Too long.', { path: 'a.ts', body: 'Too long.' }],
    ['src/lexer:5:  two spaces', { path: 'src/lexer', line: 5, body: 'two spaces' }],
    ['./x: one\ntwo', { path: './x', body: 'one\ntwo' }],
    ['Add a test.', { body: 'Add a test.' }],
    ['Note: a.ts is too long.', { body: 'Note: a.ts is too long.' }],
    ['a.ts:x: Too long.', { body: 'a.ts:x: Too long.' }],
    ['a.ts:12:Too long.', { body: 'a.ts:12:Too long.' }],
    ['see a.ts: Too long.', { body: 'see a.ts: Too long.' }],
    ['a.ts: ', { body: 'a.ts: ' }],
    ['https://example.org: down', { body: 'https://example.org: down' }],
  ])('%j', (text, comment) => {
    expect(reads(text)).toEqual(comment)
  })
})
