import { describe, expect, test } from 'vitest'
import { decideHandle } from '../../src/command/handle.ts'
import type { HandleCommand } from '../../src/command/ladder.ts'
import { mootNotices } from '../../src/command/moot.ts'
import { decideSend } from '../../src/command/send.ts'
import type { Matter } from '../../src/conversation/matter.ts'
import type { NoticeKind } from '../../src/conversation/notice.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { Draft } from '../../src/model/entry.ts'
import type { SendInput } from '../../src/model/fields.ts'
import type { Message } from '../../src/model/message.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { agent, idOf } from '../helpers/samples.ts'
import { context, type Mail, mail, messagesIn, type ReceiptInput, receiptsIn, spaceOf } from './fake-view.ts'

// docs/settling.md, cell by cell where the code decides. The whole of it is tried in test/settling.

const member = { roles: ['dev'], tags: ['project:x'] }
/** Ada asks, bob acts. */
const team = [
  agent('ada'),
  agent('bob', member),
  agent('cy', member),
  agent('dan', member),
  agent('lea', { roles: ['lead'] }),
]
const id = idOf(1)
const ask = (fields: Partial<Message>, ...receipts: ReceiptInput[]): Mail =>
  mail(1, { from: 'ada', to: ['bob'], subject: 'Lexer', ...fields }, ...receipts)

type States = Partial<Record<string, Matter['state']>>

/** A space with what ada asked; matters are open, but for those of these owners. */
function viewWith(asked: Mail, states: States = {}, more: Partial<View> = {}, ...others: Mail[]): View {
  const view = spaceOf(team, asked, ...others)
  const matters = (seq: number) =>
    view.matters(seq).map((one) => ({ ...one, state: states[one.owner] ?? one.state }))
  return { ...view, matters, ...more }
}

/** What a decision says, without the message that was sent. */
const said = (drafts: readonly Draft[]): string[] =>
  receiptsIn(drafts).map(({ step, by, changes, note = '' }) => {
    const all = changes.map(
      ({ owner, box, was = 'none', state }) =>
        `${owner}${box === owner ? '' : ` in ${box}`} ${was} > ${state}`,
    )
    return `${by} ${step} (${note}): ${all.join(', ')}`
  })

const replyTo = (view: View, from: string, input: Partial<SendInput> = {}): Draft[] =>
  decideSend(
    view,
    {
      ...{ from, parent: { id, threadId: id } },
      input: { to: 'ada', type: 'response', replyTo: id, body: 'Like this.', ...input },
    },
    context(),
  ).drafts
const bobReplies = (view: View, input: Partial<SendInput> = {}) => said(replyTo(view, 'bob', input))
const handle = (view: View, step: HandleCommand['step'], more: Partial<HandleCommand> = {}) =>
  decideHandle(view, { agent: 'bob', step, id, ...more }, context())

const question = { awaitingResponse: true } as const
const task = { type: 'task_assignment', payload: { taskId: 'T' } } as const
const approval = { type: 'plan_approval', payload: { approved: true } } as const
const refusal = { type: 'plan_approval', payload: { approved: false } } as const
const accepts = (accepted: boolean) => ({ type: 'shutdown_response', payload: { accepted } })

describe('a reply does with the copy of whoever gives it', () => {
  test.each<[string, Partial<Message>, ReceiptState, Partial<SendInput>, string[]]>([
    ...([
      [
        'finishes what asks for nothing',
        {},
        'stored',
        {},
        ['bob completed (replied): bob stored > archived'],
      ],
      [
        'or only for an ack',
        { requiresAck: true },
        'shown',
        {},
        ['bob completed (replied): bob shown > archived'],
      ],
      ['leaves what was started to whoever started it', {}, 'processing', {}, []],
      ['also where an ack was wanted', { requiresAck: true }, 'processing', {}, []],
      [
        'but a question is answered, started or not',
        question,
        'processing',
        {},
        ['bob completed (replied): bob processing > archived'],
      ],
      [
        'acknowledges work that is not done yet',
        task,
        'stored',
        {},
        ['bob acked (replied): bob stored > acked'],
      ],
      ['and does not say so twice', task, 'acked', {}, []],
      [
        'of type ack acknowledges',
        question,
        'stored',
        { type: 'ack' },
        ['bob acked (replied): bob stored > acked'],
      ],
      [
        'to somebody else is only reading it',
        question,
        'stored',
        { to: 'cy' },
        ['bob shown (replied): bob stored > shown'],
      ],
      [
        'that says it was closed is only reading it',
        question,
        'stored',
        { type: 'status_update', payload: { status: 'closed' } },
        ['bob shown (replied): bob stored > shown'],
      ],
      [
        'approves',
        { type: 'plan_submission' },
        'stored',
        approval,
        ['bob completed (replied): bob stored > archived'],
      ],
      [
        'rejects',
        { type: 'plan_submission' },
        'shown',
        refusal,
        ['bob completed (replied): bob shown > archived'],
      ],
      [
        'in plain words decides no plan',
        { type: 'plan_submission' },
        'shown',
        {},
        ['bob acked (replied): bob shown > acked'],
      ],
      [
        'accepts to stop',
        { type: 'shutdown_request' },
        'shown',
        accepts(true),
        ['bob completed (replied): bob shown > archived'],
      ],
      [
        'defers to stop',
        { type: 'shutdown_request' },
        'shown',
        accepts(false),
        ['bob acked (replied): bob shown > acked'],
      ],
      ['to what is finished changes nothing', {}, 'archived', {}, []],
      ['to what is withdrawn changes nothing', {}, 'withdrawn', {}, []],
    ] as const),
  ] as never)('%s', (_, fields, state, input, expected) => {
    expect(bobReplies(viewWith(ask(fields, { owner: 'bob', state })), input)).toEqual(expected)
  })

  test('takes what it is to do for a role, and acknowledges that', () => {
    const view = viewWith(ask({ ...task, to: ['role:dev'] }))
    expect(bobReplies(view)).toEqual(['bob acked (replied): role:dev in bob stored > acked'])
    expect(receiptsIn(replyTo(view, 'bob'))[0]!.changes[0]).toHaveProperty('claimUntil')
  })

  test('finishes some copies and acknowledges others', () => {
    const both = ask({ ...task, to: ['bob', 'role:dev'] })
    expect(bobReplies(viewWith(both))).toEqual([
      'bob acked (replied): bob stored > acked, role:dev in bob stored > acked',
    ])
    expect(bobReplies(viewWith(both, { 'role:dev': 'done' }))).toEqual([
      'bob completed (replied): role:dev in bob stored > archived',
      'bob acked (replied): bob stored > acked',
    ])
  })

  test('acknowledges what a group still has to do', () => {
    const shown: ReceiptInput = { owner: 'bob', state: 'shown', viaGroup: true }
    const view = (states: States = {}) =>
      viewWith(ask({ ...task, to: ['project:x'] }, { owner: 'project:x' }, shown), states)
    expect(bobReplies(view())).toEqual(['bob acked (replied): bob shown > acked'])
    expect(bobReplies(view({ 'project:x': 'done' }))).toEqual([
      'bob completed (replied): bob shown > archived',
    ])
  })

  test('is not asked of whoever wrote it, nor of somebody who has none', () => {
    const self = viewWith(ask({ ...question, from: 'bob', to: ['bob', 'cy'] }))
    expect(bobReplies(self, { to: 'cy' })).toEqual([])
    expect(said(replyTo(viewWith(ask({})), 'cy'))).toEqual([])
    expect(said(replyTo(viewWith(ask({})), 'system'))).toEqual([])
  })
})

describe('a reply ends the copies of others', () => {
  test('once the question is answered', () => {
    const asked = ask(
      { ...question, to: ['bob', 'cy', 'dan', 'role:lead'] },
      ...[{ owner: 'bob' }, { owner: 'cy', state: 'processing', attempts: 2 } as const],
      ...[{ owner: 'dan', state: 'completed' } as const, { owner: 'role:lead', failures: 3 }],
    )
    const drafts = replyTo(viewWith(asked), 'bob')
    expect(said(drafts)).toEqual([
      'bob completed (replied): bob stored > archived',
      'bob completed (answered): cy processing > archived, role:lead stored > archived',
    ])
    expect(receiptsIn(drafts)[1]!.changes).toEqual([
      { id, seq: 1, rank: 1, owner: 'cy', box: 'cy', state: 'archived', was: 'processing', attempts: 2 },
      {
        id,
        seq: 1,
        rank: 1,
        owner: 'role:lead',
        box: 'role:lead',
        state: 'archived',
        was: 'stored',
        failures: 3,
      },
    ])
  })

  test('also of the members of a group, but not of those at work on it', () => {
    const states = ['stored', 'notified', 'shown', 'acked', 'processing', 'failed', 'archived'] as const
    const asked = ask(
      { ...question, to: ['project:x'] },
      { owner: 'project:x' },
      ...states.map((state) => ({ owner: `m-${state}`, state, viaGroup: true })),
      { owner: 'someone', state: 'shown' },
    )
    const drafts = replyTo(viewWith(asked), 'bob')
    expect(said(drafts)).toEqual([
      'bob completed (replied): bob none > archived',
      'bob completed (answered): project:x stored > archived, m-stored stored > archived, ' +
        'm-notified notified > archived, m-shown shown > archived, m-acked acked > archived',
    ])
    expect(receiptsIn(drafts)[1]!.changes.map(({ viaGroup }) => viaGroup)).toEqual([
      ...[undefined, true, true, true, true],
    ])
  })

  test('but those of a group only if the group was asked', () => {
    const asked = ask(
      { ...question, to: ['bob', 'cy'] },
      { owner: 'bob' },
      { owner: 'cy' },
      { owner: 'dan', viaGroup: true },
    )
    expect(bobReplies(viewWith(asked))[1]).toBe('bob completed (answered): cy stored > archived')
  })

  test('with one verdict on a plan, whoever gives it', () => {
    const asked = ask({ type: 'plan_submission', to: ['bob', 'cy'] })
    expect(bobReplies(viewWith(asked), approval)).toEqual([
      'bob completed (replied): bob stored > archived',
      'bob completed (answered): cy stored > archived',
    ])
    for (const from of ['user', 'system'])
      expect(said(replyTo(viewWith(asked), from, approval))).toEqual([
        `${from} completed (answered): bob stored > archived, cy stored > archived`,
      ])
  })

  test('never where each has to answer for itself', () => {
    const status = { type: 'status_request' } as const
    const own = ['bob completed (replied): bob stored > archived']
    const answer = { type: 'status_response' }
    expect(bobReplies(viewWith(ask({ ...status, to: ['bob', 'cy'] })), answer)).toEqual(own)
    const group = ask(
      { ...status, to: ['project:x'] },
      { owner: 'project:x' },
      { owner: 'cy', state: 'shown', viaGroup: true },
    )
    expect(bobReplies(viewWith(group), answer)).toEqual(['bob completed (replied): bob none > archived'])
    expect(said(replyTo(viewWith(ask({ ...status, to: ['bob', 'cy'] })), 'user', answer))).toEqual([
      'user completed (answered): bob stored > archived, cy stored > archived',
    ])
  })

  test('not while work is to be done, nor a second time', () => {
    expect(bobReplies(viewWith(ask({ ...task, to: ['bob', 'cy'] })))).toEqual([
      'bob acked (replied): bob stored > acked',
    ])
    const answered = ask({ ...question, to: ['bob', 'cy'] })
    expect(bobReplies(viewWith(answered, { bob: 'answered', cy: 'answered' }))).toEqual([
      'bob completed (replied): bob stored > archived',
    ])
  })
})

describe('being done with mail', () => {
  test.each<[string, Partial<Message>, HandleCommand['step'], string | undefined, object | undefined]>([
    [
      'tells that work is done',
      task,
      'completed',
      undefined,
      {
        subject: 'Done: Lexer',
        priority: 'normal',
        body: '',
        type: 'status_update',
        payload: { status: 'completed', taskId: 'T', about: id },
      },
    ],
    ['with its note', task, 'completed', 'All green.', { subject: 'Done: Lexer', body: 'All green.' }],
    [
      'tells that work has failed',
      task,
      'failed',
      'No disk.',
      {
        subject: 'Failed: Lexer',
        priority: 'high',
        body: 'No disk.',
        payload: { status: 'failed', taskId: 'T', about: id },
      },
    ],
    [
      'tells that work is not done',
      task,
      'archived',
      undefined,
      { subject: 'Not done: Lexer', priority: 'high', payload: { status: 'failed', taskId: 'T', about: id } },
    ],
    [
      'names only a task with a name',
      { ...task, payload: { taskId: 7 } },
      'completed',
      undefined,
      { payload: { status: 'completed', about: id } },
    ],
    [
      'tells that there is no answer',
      question,
      'completed',
      undefined,
      {
        subject: 'Closed without an answer: Lexer',
        type: 'status_update',
        priority: 'normal',
        payload: { status: 'closed', about: id },
      },
    ],
    [
      'also by putting it into the archive',
      question,
      'archived',
      undefined,
      { subject: 'Closed without an answer: Lexer', payload: { status: 'closed', about: id } },
    ],
    [
      'or by failing',
      question,
      'failed',
      undefined,
      { subject: 'Failed: Lexer', priority: 'normal', payload: { status: 'closed', about: id } },
    ],
    [
      'answers with a note',
      question,
      'completed',
      'Yes.',
      { subject: 'Re: Lexer', type: 'response', body: 'Yes.', priority: 'normal', replyTo: id, threadId: id },
    ],
    [
      'but not with the note of a failure',
      question,
      'failed',
      'No.',
      { subject: 'Failed: Lexer', type: 'status_update', body: 'No.' },
    ],
    [
      'answers what has no subject',
      { ...question, subject: '' },
      'completed',
      'Yes.',
      { subject: 'Re: (no subject)' },
    ],
    [
      'answers what is an answer itself',
      { ...question, subject: 'RE: Lexer' },
      'completed',
      'Yes.',
      { subject: 'RE: Lexer' },
    ],
    [
      'answers what only looks like one',
      { ...question, subject: 'Care: re:' },
      'completed',
      'Yes.',
      { subject: 'Re: Care: re:' },
    ],
    [
      'decides no plan',
      { type: 'plan_submission' },
      'completed',
      'Fine.',
      { subject: 'Closed without an answer: Lexer', type: 'status_update', body: 'Fine.' },
    ],
    ['tells nobody of what asks for nothing', {}, 'completed', 'Read.', undefined],
    ['nor of an ack', { requiresAck: true }, 'completed', undefined, undefined],
    ['nor of a first look', task, 'processing', 'Now.', undefined],
    ['nor the system', { ...task, from: 'system' }, 'completed', undefined, undefined],
    ['nor itself', { ...task, from: 'bob' }, 'completed', undefined, undefined],
  ])('%s', (_, fields, step, note, expected) => {
    const told = messagesIn(handle(viewWith(ask(fields)), step, { note }))
    expect(told).toHaveLength(expected === undefined ? 0 : 1)
    if (expected !== undefined) expect(told[0]).toMatchObject({ from: 'bob', to: ['ada'], ...expected })
    if (expected !== undefined && 'payload' in expected) expect(told[0]!.payload).toEqual(expected.payload)
  })

  test('says nothing of a matter that is over, or not its own', () => {
    expect(messagesIn(handle(viewWith(ask(task), { bob: 'done' }), 'completed'))).toEqual([])
    const wide = ask({ ...task, to: ['cy', 'all'] }, { owner: 'cy' }, { owner: 'bob', state: 'shown' })
    expect(messagesIn(handle(viewWith(wide), 'completed'))).toEqual([])
    // What has failed is still owed.
    expect(
      messagesIn(
        handle(viewWith(ask(task, { owner: 'bob', state: 'failed' }), { bob: 'failed' }), 'completed'),
      ),
    ).toHaveLength(1)
  })

  test('says nothing twice', () => {
    expect(messagesIn(handle(viewWith(ask(task, { owner: 'bob', state: 'archived' })), 'completed'))).toEqual(
      [],
    )
    // One failure too many: the system tells of the dead letter.
    const last = ask(task, { owner: 'bob', state: 'shown', failures: 4 })
    expect(messagesIn(handle(viewWith(last), 'failed')).map(({ from }) => from)).toEqual(['system'])
  })

  test('says nothing where a reply has said it', () => {
    const reply = (fields: Partial<Message> = {}) =>
      mail(2, { threadId: id, from: 'bob', to: ['lea', 'ada'], replyTo: id, ...fields })
    const tells = (step: HandleCommand['step'], note?: string, ...others: Mail[]) =>
      messagesIn(handle(viewWith(ask({ type: 'plan_submission' }), {}, {}, ...others), step, { note })).length
    expect(tells('completed', undefined, reply())).toBe(0)
    expect(tells('completed', 'More.', reply())).toBe(1)
    expect(tells('failed', undefined, reply())).toBe(1)
    expect(tells('completed', undefined, reply({ to: ['lea'] }))).toBe(1)
    expect(tells('completed', undefined, reply({ from: 'cy' }))).toBe(1)
    expect(tells('completed', undefined, reply({ threadId: idOf(9) }))).toBe(1)
    // It was written before, and is no reply.
    const early = mail(0, { threadId: id, from: 'bob', to: ['ada'] })
    expect(tells('completed', undefined, early)).toBe(1)
    // Its text is gone.
    const lost = viewWith(ask({ type: 'plan_submission' }), {}, { lastOf: () => idOf(77) })
    expect(messagesIn(handle(lost, 'completed'))).toHaveLength(1)
    // A word about work on the way is not its end.
    expect(messagesIn(handle(viewWith(ask(task), {}, {}, reply()), 'completed'))).toHaveLength(1)
  })

  describe('for a group', () => {
    const wide = (fields: Partial<Message>): Mail =>
      ask(
        { ...fields, to: ['project:x'] },
        ...[{ owner: 'project:x' }, { owner: 'cy', state: 'shown', viaGroup: true } as const],
        { owner: 'dan', state: 'processing', viaGroup: true },
      )
    const others = 'bob completed (settled): project:x stored > archived, cy shown > archived'

    test.each<[string, Partial<Message>, HandleCommand['step'], string | undefined, string[], number]>([
      [
        'one does the work for all',
        task,
        'completed',
        undefined,
        ['bob completed (): bob none > archived', others],
        1,
      ],
      ['one fails for itself', task, 'failed', undefined, ['bob failed (): bob none > failed'], 1],
      [
        'one puts it away for itself, and it is not worth a word',
        task,
        'archived',
        undefined,
        ['bob archived (): bob none > archived'],
        0,
      ],
      [
        'one answers for all',
        question,
        'completed',
        'Yes.',
        ['bob completed (Yes.): bob none > archived', others],
        1,
      ],
      [
        'one is done with a question for itself',
        question,
        'completed',
        undefined,
        ['bob completed (): bob none > archived'],
        0,
      ],
      [
        'each gives its status',
        { type: 'status_request' },
        'completed',
        'Busy.',
        ['bob completed (Busy.): bob none > archived'],
        1,
      ],
    ])('%s', (_, fields, step, note, receipts, told) => {
      const drafts = handle(viewWith(wide(fields)), step, { note })
      expect(said(drafts)).toEqual(receipts)
      expect(messagesIn(drafts)).toHaveLength(told)
    })

    test('work that was done is not done again', () => {
      expect(said(handle(viewWith(wide(task), { 'project:x': 'done' }), 'completed'))).toEqual([
        'bob completed (): bob none > archived',
      ])
    })

    test('work for agents by name is done by each', () => {
      expect(said(handle(viewWith(ask({ ...task, to: ['bob', 'cy'] })), 'completed'))).toEqual([
        'bob completed (): bob stored > archived',
      ])
      expect(
        said(handle(viewWith(ask({ ...question, to: ['bob', 'cy'] })), 'completed', { note: 'Yes.' })),
      ).toEqual([
        'bob completed (Yes.): bob stored > archived',
        'bob completed (settled): cy stored > archived',
      ])
    })
  })
})

describe('a report on a task', () => {
  const report = (view: View, status: string, { replyTo: parent, ...input }: Partial<SendInput> = {}) =>
    decideSend(
      view,
      {
        ...{ from: 'bob', parent: parent === undefined ? undefined : { id: parent, threadId: parent } },
        input: { to: 'ada', type: 'status_update', payload: { taskId: 'T', status }, ...input },
      },
      context(),
    ).drafts
  const given = (...mails: Mail[]): View => {
    const view = spaceOf(team, ...mails)
    const openMatters: View['openMatters'] = (kind, key) =>
      mails.flatMap(({ facts }) =>
        view.matters(facts.seq).filter((one) => one.kind === kind && one.key === key),
      )
    return { ...view, openMatters }
  }

  test('is as good as doing that with the message that gave it', () => {
    expect(said(report(given(ask(task)), 'completed'))).toEqual(['bob completed (): bob stored > archived'])
    expect(said(report(given(ask(task)), 'failed', { body: 'No disk.' }))).toEqual([
      'bob failed (No disk.): bob stored > failed',
    ])
    expect(said(report(given(ask(task)), 'working'))).toEqual([])
    expect(said(report(given(ask({ ...task, payload: { taskId: 'U' } })), 'completed'))).toEqual([])
  })

  test('is enough for whoever gets it, and told to whoever gave the task otherwise', () => {
    const from = (to: string) =>
      messagesIn(report(given(ask(task)), 'completed', { to })).map(({ to: all }) => all)
    expect(from('ada')).toEqual([['ada']])
    expect(from('lea')).toEqual([['lea'], ['ada']])
  })

  test('is noted with its first words', () => {
    const [noted] = receiptsIn(report(given(ask(task)), 'completed', { body: 'x'.repeat(1_001) }))
    expect(noted!.note).toBe('x'.repeat(1_000))
    expect(receiptsIn(report(given(ask(task)), 'completed', { body: '' }))[0]).not.toHaveProperty('note')
  })

  test('settles each message that gave the task, once, and none of somebody else', () => {
    const other = mail(2, { from: 'lea', to: ['bob'], ...task })
    const theirs = mail(3, { from: 'ada', to: ['cy'], ...task })
    expect(
      said(report(given(ask({ ...task, to: ['bob', 'role:dev'] }), other, theirs), 'completed')),
    ).toEqual([
      'bob completed (): bob stored > archived, role:dev in bob stored > archived',
      'bob completed (): bob stored > archived',
    ])
  })

  test('as a reply to the task settles it once, and as a reply to anything else both', () => {
    const view = given(ask(task), mail(2, { from: 'ada', to: ['bob'] }))
    expect(said(report(view, 'completed', { replyTo: id }))).toEqual([
      'bob completed (): bob stored > archived',
    ])
    expect(said(report(view, 'completed', { replyTo: idOf(2) }))).toEqual([
      'bob completed (): bob stored > archived',
      'bob completed (replied): bob stored > archived',
    ])
  })

  test('does not hide what is wrong with the code', () => {
    const broken: View = {
      ...given(ask(task)),
      receipts: () => {
        throw new TypeError('broken')
      },
    }
    expect(() => report(broken, 'completed')).toThrow(TypeError)
  })
})

describe('a notice', () => {
  const every: NoticeKind[] = ['unread', 'ack', 'answer', 'deadline', 'undelivered', 'waiting', 'ended']
  const noticeOf = (number: number, ...about: { kind: NoticeKind; id?: string; to?: string }[]): Mail =>
    mail(number, {
      ...{ from: 'system', to: ['lea'], type: 'escalation' },
      payload: {
        notice: about[0]!.kind,
        about: about.map((one) => ({ id, to: 'bob', reason: 'r', ...one })),
      },
    })
  const kindsIn = (view: View, drafts: readonly Draft[]) =>
    receiptsIn(drafts)
      .filter(({ step }) => step === 'withdrawn')
      .flatMap(({ changes }) => changes)
      .map(({ seq }) => (view.text(seq).payload as { notice: string }).notice)
  const told = every.map((kind, at) => noticeOf(10 + at, { kind }))
  const withNotices = (asked: Mail, states: States = {}) => viewWith(asked, states, {}, ...told)

  test.each<[string, Partial<Message>, Partial<SendInput>, NoticeKind[]]>([
    ['an answer', question, {}, ['unread', 'ack', 'answer', 'deadline', 'waiting']],
    ['a reply to what asks for nothing', {}, {}, ['unread', 'ack', 'answer', 'deadline', 'waiting']],
    ['a reply to work', task, {}, ['unread', 'ack']],
    ['an ack', question, { type: 'ack' }, ['unread', 'ack']],
    ['a word to somebody else', question, { to: 'cy' }, ['unread']],
  ])('is taken back unread with %s', (_, fields, input, kinds) => {
    const view = withNotices(ask(fields))
    expect(kindsIn(view, replyTo(view, 'bob', input))).toEqual(kinds)
  })

  test('stays with a reply that changes nothing', () => {
    const view = withNotices(ask({}, { owner: 'bob', state: 'archived' }))
    expect(replyTo(view, 'bob')).toHaveLength(1)
  })

  test.each<[HandleCommand['step'], ReceiptState, NoticeKind[]]>([
    ['shown', 'stored', ['unread']],
    ['acked', 'shown', ['unread', 'ack']],
    ['completed', 'shown', ['unread', 'ack', 'answer', 'deadline', 'waiting']],
    ['released', 'shown', []],
    ['acked', 'acked', []],
  ])('is taken back when mail is %s that was %s', (step, state, kinds) => {
    const view = withNotices(ask({}, { owner: 'bob', state }))
    expect(kindsIn(view, handle(view, step))).toEqual(kinds)
  })

  test('of several messages, or for several reasons, stays while one of them holds', () => {
    const two = noticeOf(20, { kind: 'unread' }, { kind: 'unread', id: idOf(5) })
    const mixed = noticeOf(21, { kind: 'unread' }, { kind: 'ended' })
    const same = noticeOf(22, { kind: 'unread' }, { kind: 'ack' })
    const view = viewWith(ask({}), {}, {}, two, mixed, same)
    const drafts = handle(view, 'completed')
    expect(said(drafts)).toEqual([
      'bob completed (): bob stored > archived',
      'system withdrawn (settled): lea stored > withdrawn',
    ])
    expect(receiptsIn(drafts)[1]!.changes[0]!.seq).toBe(22)
  })

  const away: Partial<Agent>[] = [{ state: 'frozen' }, { state: 'dead', gone: 'silent' }]

  /** Which kinds of notices are still true of bob's copy. */
  function truths(asked: Mail, states: States = {}, bob: Partial<Agent> = {}): NoticeKind[] {
    const view = spaceOf([agent('ada'), agent('bob', bob), agent('lea')], asked, ...told)
    const matters: View['matters'] = (seq) =>
      view.matters(seq).map((one) => ({ ...one, state: states[one.kind] ?? one.state }))
    const moot = new Set(mootNotices({ ...view, matters }).map(({ seq }) => seq))
    return every.filter((_, at) => !moot.has(10 + at))
  }

  test.each<[ReceiptState, NoticeKind[]]>([
    ['stored', ['unread', 'ack', 'deadline']],
    ['notified', ['unread', 'ack', 'deadline']],
    ['shown', ['ack', 'deadline']],
    ['acked', []],
    ['processing', []],
    ['completed', []],
    ['failed', []],
    ['archived', []],
    ['expired', ['unread', 'deadline', 'undelivered', 'ended']],
    ['dead', ['unread', 'deadline', 'undelivered', 'ended']],
    ['withdrawn', ['deadline']],
  ])('about %s mail that wants an ack is true for these reasons', (state, kinds) => {
    expect(truths(ask({ requiresAck: true }, { owner: 'bob', state }))).toEqual(kinds)
  })

  test('about an answer is true until it is there', () => {
    const shown = (fields: Partial<Message>) => ask(fields, { owner: 'bob', state: 'acked' })
    expect(truths(shown(question))).toEqual(['answer', 'deadline'])
    expect(truths(shown(question), { question: 'answered' })).toEqual([])
    // The run that was asked is over.
    expect(truths(shown(question), { question: 'closed' })).toEqual(['ended'])
    expect(truths(shown({ type: 'shutdown_request' }), { shutdown: 'deferred' })).toEqual([])
    expect(truths(ask({ ...question, to: ['cy'] }, { owner: 'bob', state: 'acked' }))).toEqual([])
  })

  test('that mail waits for an agent is true while the agent is away and something is left to do', () => {
    const shown = (fields: Partial<Message>) => ask(fields, { owner: 'bob', state: 'acked' })
    for (const bob of away) {
      expect(truths(ask({}), {}, bob)).toContain('waiting')
      expect(truths(shown(question), {}, bob)).toContain('waiting')
      expect(truths(shown({ type: 'shutdown_request' }), { shutdown: 'deferred' }, bob)).toContain('waiting')
      expect(truths(shown({ requiresAck: true }), {}, bob)).not.toContain('waiting')
      expect(truths(shown({}), {}, bob)).not.toContain('waiting')
    }
    expect(truths(ask({}), {}, { state: 'dead', gone: 'left' })).not.toContain('waiting')
    const nobody = ask({ to: ['nobody'] })
    const view = spaceOf(team, nobody, noticeOf(30, { kind: 'waiting', to: 'nobody' }))
    expect(mootNotices(view)).toHaveLength(1)
  })

  test('about what is not there any more is not true, and one with a true part is', () => {
    const view = spaceOf(
      team,
      ...[ask({}), noticeOf(30, { kind: 'ended', id: idOf(77) }), noticeOf(31, { kind: 'ended', to: 'cy' })],
      noticeOf(32, { kind: 'ack', id: idOf(77) }, { kind: 'ack' }),
    )
    expect(mootNotices(view).map(({ seq }) => seq)).toEqual([30, 31])
  })
})
