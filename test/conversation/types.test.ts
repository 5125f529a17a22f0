import { describe, expect, test } from 'vitest'
import {
  actionsFor,
  allActions,
  conversations,
  findStep,
  isOpenMatter,
  kinds,
  knownTypes,
  labelOf,
  matterOf,
  matterStates,
  needs,
  replyTypeFor,
  typeOf,
  waysToAnswer,
} from '../../src/conversation/registry.ts'
import { refusal } from '../helpers/refusal.ts'

/** What each type means, beside its words. The types that mean nothing of their own are not here. */
const traits = [
  ...['opens', 'answers', 'ends', 'settlesNothing', 'isBound', 'interrupts', 'isEmergency'],
  ...['need', 'isComposed'],
] as const
const meanings: Record<string, object> = {
  text: { isComposed: true },
  request: { isComposed: true },
  response: {},
  notification: { isComposed: true },
  ack: { settlesNothing: true },
  error: {},
  broadcast: {},
  handoff: { opens: 'task' },
  escalation: { settlesNothing: true, need: { kind: 'escalation', label: 'escalation' } },
  plan_submission: { opens: 'plan', need: { kind: 'plan', label: 'plan to approve' } },
  plan_approval: { answers: 'plan_submission', isBound: true },
  shutdown_request: { opens: 'shutdown', isBound: true, interrupts: true, isEmergency: true },
  shutdown_response: { answers: 'shutdown_request' },
  status_request: {
    ...{ opens: 'status', interrupts: true, isComposed: true },
    need: { kind: 'question', label: 'question' },
  },
  status_response: { answers: 'status_request' },
  // Only one that says it was closed.
  status_update: { ends: expect.any(Function), settlesNothing: expect.any(Function) },
  help_request: { opens: 'question', need: { kind: 'help', label: 'asks for help' }, isComposed: true },
  task_assignment: { opens: 'task', isComposed: true },
  fix_ci_failure: { opens: 'task' },
  fix_review_comments: { opens: 'task' },
}

describe('a type of message', () => {
  test('is one of these', () => {
    expect(knownTypes).toEqual(Object.keys(meanings))
    expect(typeOf('gossip')).toBeUndefined()
  })

  test.each(Object.entries(meanings))('%s means what it says', (name, meaning) => {
    const declared = typeOf(name)!
    const found = traits.flatMap((trait) => (declared[trait] === undefined ? [] : [[trait, declared[trait]]]))
    expect(Object.fromEntries(found)).toEqual(meaning)
  })

  test('nobody declared has a label of its own', () => {
    expect([labelOf('help_request'), labelOf('my_own_type')]).toEqual(['help request', 'my own type'])
  })

  test.each<[string, unknown, string]>([
    ['plan_submission', {}, 'revise'],
    ['plan_approval', { approved: true }, 'approve'],
    ['plan_approval', { approved: false }, 'reject'],
    ['plan_approval', { approved: 'yes' }, 'reject'],
    ['shutdown_response', { accepted: true }, 'accept'],
    ['shutdown_response', { accepted: 1 }, 'defer'],
    ['status_response', {}, 'respond'],
  ])('%s with %j takes the step %s', (type, payload, step) => {
    expect(typeOf(type)!.takes!(payload as Record<string, unknown>)).toBe(step)
  })

  test.each<[unknown, unknown]>([
    [
      { taskId: 'T', status: 'completed' },
      { kind: 'task', key: 'T', step: 'finish' },
    ],
    [
      { taskId: 'T', status: 'failed' },
      { kind: 'task', key: 'T', step: 'fail' },
    ],
    [{ taskId: 'T', status: 'working' }, undefined],
    [{ status: 'completed' }, undefined],
    [{ taskId: 7, status: 'completed' }, undefined],
  ])('a status update with %j reports %j', (payload, report) => {
    expect(typeOf('status_update')!.reports!(payload as Record<string, unknown>)).toEqual(report)
  })
})

describe('a matter', () => {
  test('is of one of these kinds, each with its steps', () => {
    const found = conversations.flatMap(({ matter }) => (matter === undefined ? [] : [matter]))
    expect(
      found.map(({ kind, owes, byReply, isOnly, handled }) => ({ kind, owes, byReply, isOnly, handled })),
    ).toEqual([
      { kind: 'question', owes: 'answer', byReply: 'answer' },
      { kind: 'plan', owes: 'approval', isOnly: true },
      { kind: 'shutdown', owes: 'shutdown' },
      { kind: 'status', owes: 'status', byReply: 'respond' },
      { kind: 'task', owes: 'work', handled: { done: 'finish', fail: 'fail' } },
    ])
    expect(kinds).toEqual(['question', 'plan', 'shutdown', 'status', 'task', 'ack'])
    expect(found.map(({ kind }) => matterOf(kind))).toEqual(found)
  })

  test.each<[string, string, object]>([
    ['question', 'answer', { from: ['open'], to: 'answered' }],
    ['plan', 'approve', { from: ['open'], to: 'approved' }],
    ['plan', 'reject', { from: ['open'], to: 'rejected' }],
    ['plan', 'revise', { from: ['rejected'], to: 'revised', by: 'asker' }],
    ['shutdown', 'defer', { from: ['open', 'deferred'], to: 'deferred', staysOpen: true, each: true }],
    ['shutdown', 'accept', { from: ['open', 'deferred'], to: 'accepted', each: true }],
    ['status', 'respond', { from: ['open'], to: 'answered', each: true }],
    ['task', 'finish', { from: ['open', 'failed'], to: 'done', done: 'finished' }],
    ['task', 'fail', { from: ['open'], to: 'failed', staysOpen: true }],
  ])('of the kind %s can take the step %s', (kind, name, step) => {
    expect(findStep(kind, name)).toEqual({ ...step, kind, name })
  })

  test('takes no step of another kind', () => {
    expect(findStep('question', 'approve')).toBeUndefined()
    expect(findStep('ack', 'answer')).toBeUndefined()
  })

  test('is in one of these states, of which three are open', () => {
    expect(matterStates).toEqual([
      ...['open', 'answered', 'approved', 'rejected', 'revised', 'deferred', 'accepted', 'done', 'failed'],
      ...['acked', 'closed', 'reassigned', 'void'],
    ])
    expect(matterStates.filter(isOpenMatter)).toEqual(['open', 'deferred', 'failed'])
  })

  test('is known by what it is about', () => {
    const about = (kind: string, payload: unknown) =>
      matterOf(kind)!.key?.({ id: 'the id', from: 'ada', payload: payload as never })
    expect(about('plan', { taskId: 'T' })).toBe('ada T')
    expect([about('plan', {}), about('plan', { taskId: 7 }), about('plan', undefined)]).toEqual([
      'ada ',
      'ada ',
      'ada ',
    ])
    expect(about('task', { taskId: 'T' })).toBe('T')
    expect([about('task', {}), about('task', { taskId: '' }), about('task', { taskId: 7 })]).toEqual([
      ...['the id', 'the id', 'the id'],
    ])
    expect([about('question', {}), about('shutdown', {}), about('status', {})]).toEqual([
      ...[undefined, undefined, undefined],
    ])
  })
})

describe('the answer to a message', () => {
  test.each([
    ['plan_submission', ['mailbox plan approve X', 'mailbox plan reject X --feedback F']],
    ['shutdown_request', ['mailbox shutdown accept X', 'mailbox shutdown defer X --reason R']],
    ['status_request', ['mailbox status --reply-to X --status S']],
    ['help_request', ['mailbox reply X --body B']],
    ['task_assignment', ['mailbox start X', 'mailbox done X', 'mailbox fail X --reason R']],
    ['handoff', ['mailbox start X', 'mailbox done X', 'mailbox fail X --reason R']],
    ['fix_ci_failure', ['mailbox start X', 'mailbox done X', 'mailbox fail X --reason R']],
    ['fix_review_comments', ['mailbox start X', 'mailbox done X', 'mailbox fail X --reason R']],
    ['text', []],
    ['gossip', []],
  ])('%s is given by these commands', (type, ways) => {
    expect(waysToAnswer(type, 'X')).toEqual(ways)
  })

  test('in plain words has the type that needs nothing but words', () => {
    expect(
      knownTypes.map((type) => [type, replyTypeFor(type)]).filter(([, reply]) => reply !== undefined),
    ).toEqual([['status_request', 'status_response']])
  })

  test('comes by these actions', () => {
    const names = (type: string) => actionsFor(type).map(({ name }) => name)
    expect(names('plan_submission')).toEqual(['approvePlan', 'rejectPlan'])
    expect(names('shutdown_request')).toEqual(['acceptShutdown', 'deferShutdown'])
    expect(names('status_request')).toEqual(['respondStatus'])
    expect(names('text')).toEqual([])
  })
})

/** Of each action: its type, its command, what it is called with, and what it needs. */
const actionTable: Record<string, object> = {
  handOff: { type: 'handoff', needs: ['to', 'subject', 'workCompleted'] },
  escalate: { type: 'escalation', needs: ['reason'] },
  submitPlan: { type: 'plan_submission', command: 'submit', needs: ['subject', 'body'] },
  approvePlan: {
    type: 'plan_approval',
    command: 'approve',
    step: 'approve',
    positional: ['id'],
    needs: ['id'],
  },
  rejectPlan: {
    ...{ type: 'plan_approval', command: 'reject', step: 'reject', positional: ['id'] },
    needs: ['id', 'feedback'],
  },
  requestShutdown: { type: 'shutdown_request', command: 'request', positional: ['to'], needs: ['to'] },
  acceptShutdown: {
    ...{ type: 'shutdown_response', command: 'accept', step: 'accept', positional: ['id'] },
    needs: ['id'],
  },
  deferShutdown: {
    ...{ type: 'shutdown_response', command: 'defer', step: 'defer', positional: ['id'] },
    needs: ['id', 'reason'],
  },
  requestStatus: { type: 'status_request', positional: ['to'], needs: ['to'] },
  respondStatus: { type: 'status_response', positional: ['id'], needs: ['id', 'status'] },
  updateStatus: { type: 'status_update', needs: ['status'] },
  askForHelp: { type: 'help_request', needs: ['body'] },
  assignTask: { type: 'task_assignment', needs: ['to', 'subject'] },
  reportCiFailure: { type: 'fix_ci_failure', needs: ['to', 'check'] },
  reportReview: { type: 'fix_review_comments', needs: ['to', 'comments'] },
}

test.each(Object.entries(actionTable))('%s is an action with its parts', (name, expected) => {
  const { type, command, step, positional, input } = allActions().find((one) => one.name === name)!
  const required = Object.entries<{ required?: boolean }>(input).filter(([, field]) => field.required)
  const found = { type, command, step, positional, needs: required.map(([field]) => field) }
  expect(found).toEqual(expected)
})

test('there are no other actions', () => {
  expect(allActions().map(({ name }) => name)).toEqual(Object.keys(actionTable))
})

test('an action that answers asks for its reason where it needs one', () => {
  const of = (name: string) => allActions().find((one) => one.name === name)!
  expect(of('approvePlan')).toMatchObject({
    reason: { field: 'feedback' },
    button: { label: 'Approve', done: 'Plan approved' },
  })
  expect(of('rejectPlan')).toMatchObject({
    reason: { field: 'feedback', otherwise: 'Rejected without feedback.' },
    button: { label: 'Reject', done: 'Plan rejected', asks: 'What should change' },
  })
  expect(of('deferShutdown')).toMatchObject({ reason: { field: 'reason', otherwise: 'Busy.' } })
})

/** What each action takes: the option or argument on the command line, and the kind of value. */
const asked = '--to <address>=word --subject <text>=text --body <text>=text --priority <priority>=priority'
test.each([
  [
    'handOff',
    '<to>=word --subject <text>=word --work-completed <text>=word --current-state <text>=text --next-step <text>=texts --blocker <text>=texts --dependency <text>=texts --file-modified <path>=texts --file-created <path>=texts --state-file <path>=text --escalation <id>=texts --job <id>=text --notes <text>=text --template <name>=word --priority <priority>=priority --swarm <name>=word replyTo=word',
  ],
  ['escalate', `[id]=word --reason <text>=word ${asked} --within <duration>=duration --related <id>=texts`],
  [
    'submitPlan',
    '--to <address>=word --subject <text>=word --body <text>=text --priority <priority>=priority --within <duration>=duration --task <id>=word --revises <id>=word',
  ],
  ['approvePlan', '<id>=word --feedback <text>=text'],
  ['rejectPlan', '<id>=word --feedback <text>=word'],
  ['requestShutdown', '<to>=word --reason <text>=text --within <duration>=duration'],
  ['acceptShutdown', '<id>=word'],
  ['deferShutdown', '<id>=word --reason <text>=word'],
  ['requestStatus', `${asked} --within <duration>=duration`],
  [
    'respondStatus',
    '<id>=word --status <word>=word --body <text>=text --task <id>=word --progress <share>=share',
  ],
  [
    'updateStatus',
    '--status <word>=word --body <text>=text --task <id>=word --progress <share>=share --to <address>=word',
  ],
  [
    'askForHelp',
    '--to <address>=word --subject <text>=text --body <text>=word --priority <priority>=priority --within <duration>=duration --option <text>=texts',
  ],
  [
    'assignTask',
    '<to>=word --subject <text>=word --body <text>=text --priority <priority>=priority --within <duration>=duration --task <id>=word --after <id>=texts',
  ],
  [
    'reportCiFailure',
    '<to>=word --check <name>=word --pr <pr>=text --branch <name>=text --commit <id>=text --url <url>=text --error <text>=text --log <text>=text --subject <text>=text --body <text>=text --priority <priority>=priority --within <duration>=duration',
  ],
  [
    'reportReview',
    '<to>=word --comment <text>=records --pr <pr>=text --url <url>=text --subject <text>=text --body <text>=text --priority <priority>=priority --within <duration>=duration',
  ],
])('%s takes %s', (name, options) => {
  const { input } = allActions().find((one) => one.name === name)!
  const fields = Object.entries<{ kind: string; flag?: string }>(input)
  expect(fields.map(([field, { kind, flag = field }]) => `${flag}=${kind}`).join(' ')).toBe(options)
})

test('the comments of a review have a body, and perhaps a path and a whole line', () => {
  const { fields } = allActions().find(({ name }) => name === 'reportReview')!.input['comments']
  expect(fields).toEqual({
    body: { kind: 'text', required: true },
    path: { kind: 'text' },
    line: { kind: 'whole' },
  })
})

test('a conversation has a name, and a verb with examples where people start it', () => {
  const found = conversations.map(({ name, verb }) => {
    const { name: word = '', group = 'protocols', examples = [] } = verb?.() ?? {}
    expect(examples.every((example) => example.startsWith(`mailbox ${word} `))).toBe(true)
    return `${name}: ${word} ${group} ${examples.length}`
  })
  expect(found).toEqual([
    ...[
      'question:  protocols 0',
      'handoff: handoff send 2',
      'escalation: escalate send 1',
      'plan: plan protocols 4',
    ],
    ...[
      'shutdown: shutdown protocols 3',
      'status: status protocols 3',
      'help request: help-request protocols 1',
    ],
    ...['task: task protocols 2', 'CI failure: ci-failure protocols 2', 'review: review protocols 1'],
  ])
})

test('whoever asks for help is told how to wait for it', () => {
  expect(allActions().find(({ name }) => name === 'askForHelp')!.tip).toEqual([
    'wait for the answer',
    'wait --reply-to ID',
  ])
})

test('what needs somebody has words', () => {
  expect(Object.fromEntries(needs)).toEqual({
    ...{ escalation: 'escalation', plan: 'plan to approve', question: 'question', help: 'asks for help' },
    ...{ ack: 'needs an ack', mail: 'mail', notice: 'notice' },
  })
})

describe('the verb status', () => {
  const choose = (given: Record<string, unknown>) =>
    conversations.find(({ verb }) => verb?.().name === 'status')!.verb!().choose!(given)

  test('asks with --of, answers with --reply-to, and reports otherwise', () => {
    expect(choose({ of: 'ada', body: 'Well?', status: 'x' })).toEqual({
      action: 'requestStatus',
      input: { to: 'ada', body: 'Well?' },
    })
    expect(choose({ id: 'X', status: 'working', body: 'b', to: 'lead', progress: 0.5 })).toEqual({
      action: 'respondStatus',
      input: { id: 'X', status: 'working', body: 'b', progress: 0.5 },
    })
    expect(choose({ status: 'working', to: 'lead', taskId: 'T' })).toEqual({
      action: 'updateStatus',
      input: { status: 'working', to: 'lead', taskId: 'T' },
    })
    expect(refusal(() => choose({ id: 'X' }))).toMatchObject({
      ...{ code: 'invalid', message: 'there is no status to report' },
    })
  })

  test('needs no status where it asks', () => {
    const { options } = conversations.find(({ verb }) => verb?.().name === 'status')!.verb!()
    expect(options).toMatchObject({
      status: { required: false, flag: '--status <word>' },
      of: { kind: 'word', flag: '--of <agent>' },
    })
    expect(options!['id']).toMatchObject({ kind: 'word', flag: '--reply-to <id>' })
  })
})
