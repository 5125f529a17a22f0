import { describe, expect, it } from 'vitest'
import {
  acceptShutdown,
  approvePlan,
  askForHelp,
  assignTask,
  deferShutdown,
  escalate,
  type Mailbox,
  rejectPlan,
  requestShutdown,
  requestStatus,
  respondStatus,
  type SentMessage,
  submitPlan,
  updateStatus,
} from '../../src/mod.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { clockAt, expectRefused, hour, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

/** Who has a part: ada asks, bob is asked. */
interface Scene {
  space: DiskSpace
  ada: Mailbox
  bob: Mailbox
  cy: Mailbox
}

type Step = (typeof stepNames)[number]
const stepNames = [
  ...(['answer', 'respond', 'approve', 'reject', 'revise', 'accept', 'defer'] as const),
  ...(['finish', 'fail', 'ack'] as const),
]

async function scene(options: Parameters<typeof tempSpace>[0] = {}): Promise<Scene> {
  const space = await tempSpace(options)
  return { space, ...(await trio(space)) }
}

/** Where a conversation stands, as the index has it. */
async function stateOf({ space }: Pick<Scene, 'space'>, id: string, kind: string): Promise<string> {
  const states = await space.core.query(({ index }) =>
    index
      .sql('SELECT x.state FROM matter x JOIN message m ON m.seq = x.seq WHERE m.id = ? AND x.kind = ?')
      .all([id, kind]),
  )
  expect(states).toHaveLength(1)
  return states[0]![0] as string
}

const owedKinds = async (space: DiskSpace, by?: string): Promise<string[]> =>
  (await space.owed(by === undefined ? {} : { by })).map(({ kind }) => kind)

let tasks = 0
const newTask = () => `T-${++tasks}`
const taskOf = ({ payload }: SentMessage) => (payload as { taskId?: string } | undefined)?.taskId ?? newTask()

const open: Record<string, (scene: Scene) => Promise<SentMessage>> = {
  question: ({ ada }) => ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true }),
  status: ({ ada }) => requestStatus(ada, 'bob'),
  plan: ({ ada }) => submitPlan(ada, { to: 'bob', subject: 'Plan', body: 'First.', taskId: newTask() }),
  shutdown: ({ ada }) => requestShutdown(ada, 'bob', { reason: 'Enough.' }),
  task: ({ ada }) => assignTask(ada, { to: 'bob', subject: 'Build it', taskId: newTask() }),
  ack: ({ ada }) => ada.send({ to: 'bob', subject: 'Mind this', requiresAck: true }),
}

const take: Record<Step, (scene: Scene, about: SentMessage) => Promise<unknown>> = {
  answer: ({ bob }, { id }) => bob.reply(id, { body: '8080' }),
  respond: ({ bob }, { id }) => respondStatus(bob, id, { status: 'working' }),
  approve: ({ bob }, { id }) => approvePlan(bob, id),
  reject: ({ bob }, { id }) => rejectPlan(bob, id, { feedback: 'Smaller.' }),
  revise: ({ ada }, about) =>
    submitPlan(ada, {
      to: 'bob',
      subject: 'Plan 2',
      body: 'Less.',
      taskId: taskOf(about),
      revises: about.id,
    }),
  accept: ({ bob }, { id }) => acceptShutdown(bob, id),
  defer: ({ bob }, { id }) => deferShutdown(bob, id, { reason: 'Still busy.' }),
  finish: ({ bob }, { id }) => bob.done(id),
  fail: ({ bob }, { id }) => bob.fail(id, { reason: 'It broke.' }),
  ack: ({ bob }, { id }) => bob.ack(id),
}

/**
 * The conversations of the specification, section 6, written out: how to get into a state, and where each
 * step leads from there. `same`: it may be said, and changes nothing. What is not named is refused.
 */
interface Row {
  kind: keyof typeof open
  state: string
  reach: (Step | 'withdraw' | 'reassign')[]
  leads: Partial<Record<Step, string>>
}
/** Whoever is done with mail, or has failed, has closed what it asks for; an ack says only that it was received. */
const handled = { finish: 'closed', fail: 'closed', ack: 'same' } as const
/** What is settled is finished. It can be finished again, but no longer fail. */
const over = { finish: 'same', ack: 'same' } as const
/** Anybody may say something, and submit a plan with reference to anything. */
const talk = { answer: 'same', revise: 'same' } as const
/** A reply in plain words settles it as well as the answer of its kind. */
const asked = { ...handled, revise: 'same', answer: 'answered' } as const

const table: Row[] = [
  { kind: 'question', state: 'open', reach: [], leads: asked },
  { kind: 'question', state: 'answered', reach: ['answer'], leads: { ...talk, ...over } },
  { kind: 'question', state: 'closed', reach: ['finish'], leads: { ...talk, ...over } },
  { kind: 'question', state: 'void', reach: ['withdraw'], leads: talk },

  { kind: 'status', state: 'open', reach: [], leads: { ...asked, respond: 'answered' } },
  { kind: 'status', state: 'answered', reach: ['respond'], leads: { ...talk, ...over } },
  { kind: 'status', state: 'closed', reach: ['finish'], leads: { ...talk, ...over } },
  { kind: 'status', state: 'void', reach: ['withdraw'], leads: talk },

  {
    ...{ kind: 'plan', state: 'open', reach: [] },
    leads: { answer: 'same', ...handled, approve: 'approved', reject: 'rejected' },
  },
  { kind: 'plan', state: 'approved', reach: ['approve'], leads: { answer: 'same', ...over } },
  { kind: 'plan', state: 'closed', reach: ['finish'], leads: { answer: 'same', ...over } },
  {
    ...{ kind: 'plan', state: 'rejected', reach: ['reject'] },
    leads: { answer: 'same', ...over, revise: 'revised' },
  },
  { kind: 'plan', state: 'revised', reach: ['reject', 'revise'], leads: { answer: 'same', ...over } },
  { kind: 'plan', state: 'void', reach: ['withdraw'], leads: { answer: 'same' } },

  {
    ...{ kind: 'shutdown', state: 'open', reach: [] },
    leads: { ...talk, ...handled, accept: 'accepted', defer: 'deferred' },
  },
  {
    ...{ kind: 'shutdown', state: 'deferred', reach: ['defer'] },
    leads: { ...talk, ...handled, accept: 'accepted', defer: 'same' },
  },
  { kind: 'shutdown', state: 'accepted', reach: ['accept'], leads: { ...talk, ...over } },
  { kind: 'shutdown', state: 'closed', reach: ['finish'], leads: { ...talk, ...over } },
  { kind: 'shutdown', state: 'void', reach: ['withdraw'], leads: talk },

  {
    ...{ kind: 'task', state: 'open', reach: [] },
    leads: { ...talk, ack: 'same', finish: 'done', fail: 'failed' },
  },
  { kind: 'task', state: 'done', reach: ['finish'], leads: { ...talk, ...over } },
  {
    kind: 'task',
    state: 'failed',
    reach: ['fail'],
    leads: { ...talk, ...over, fail: 'same', finish: 'done' },
  },
  {
    ...{ kind: 'task', state: 'reassigned', reach: ['fail', 'reassign'] },
    leads: { ...talk, ...over, fail: 'same' },
  },
  { kind: 'task', state: 'void', reach: ['withdraw'], leads: talk },

  {
    ...{ kind: 'ack', state: 'open', reach: [] },
    leads: { revise: 'same', answer: 'acked', ack: 'acked', finish: 'acked', fail: 'acked' },
  },
  { kind: 'ack', state: 'acked', reach: ['ack'], leads: { ...talk, ...over, fail: 'same' } },
  { kind: 'ack', state: 'void', reach: ['withdraw'], leads: talk },
]

describe('every step from every state', () => {
  for (const { kind, state, reach, leads } of table) {
    const legal = stepNames.filter((step) => leads[step] !== undefined && leads[step] !== 'same')
    it(`${kind}, ${state}: ${legal.join(', ') || 'nothing'} leads on`, async () => {
      const all = await scene()
      for (const step of stepNames) {
        const about = await open[kind]!(all)
        for (const one of reach) {
          if (one === 'withdraw') await all.ada.withdraw(about.id)
          else if (one === 'reassign')
            await assignTask(all.ada, { to: 'cy', subject: 'Build it', taskId: taskOf(about) })
          else await take[one](all, about)
        }
        expect(await stateOf(all, about.id, kind)).toBe(state)

        const to = leads[step]
        if (to === undefined) await expectRefused(all.space, 'conflict', () => take[step](all, about))
        else await take[step](all, about)
        const expected = to === undefined || to === 'same' ? state : to
        expect(await stateOf(all, about.id, kind), step).toBe(expected)

        const isOwed = (await all.space.owed()).some((one) => one.id === about.id && one.kind === kind)
        expect(isOwed, step).toBe(['open', 'deferred', 'failed'].includes(expected))
        if (kind === 'plan') await closePlans(all)
      }
    })
  }

  /** An agent has one open plan for a task; the next round has a task of its own, but let it be tidy. */
  async function closePlans(all: Scene): Promise<void> {
    for (const { id, kind } of await all.space.owed()) if (kind === 'plan') await approvePlan(all.bob, id)
  }

  it('there are 27 states and 270 steps to try', () => {
    expect(table).toHaveLength(27)
    expect(new Set(table.map(({ kind, state }) => `${kind} ${state}`)).size).toBe(27)
    expect(table.length * stepNames.length).toBe(270)
  })
})

describe('who may', () => {
  it('answer for another is nobody: a plan, a shutdown and a status are for whoever was asked', async () => {
    const all = await scene()
    const { space, cy } = all
    const cases: [keyof typeof open, (id: string) => Promise<unknown>][] = [
      ['plan', (id) => approvePlan(cy, id)],
      ['plan', (id) => rejectPlan(cy, id, { feedback: 'No.' })],
      ['shutdown', (id) => acceptShutdown(cy, id)],
      ['shutdown', (id) => deferShutdown(cy, id, { reason: 'No.' })],
      ['status', (id) => respondStatus(cy, id, { status: 'idle' })],
    ]
    for (const [kind, act] of cases) {
      const { id } = await open[kind]!(all)
      await expectRefused(space, 'not_permitted', () => act(id))
      expect(await stateOf(all, id, kind)).toBe('open')
    }
  })

  it('approve their own plan is nobody', async () => {
    const all = await scene()
    const { id } = await open['plan']!(all)
    await expectRefused(all.space, 'not_permitted', () => approvePlan(all.ada, id))
  })

  it('revise a plan is whoever submitted it', async () => {
    const all = await scene()
    const { id } = await open['plan']!(all)
    await rejectPlan(all.bob, id, { feedback: 'Smaller.' })
    await expectRefused(all.space, 'not_permitted', () =>
      submitPlan(all.cy, { to: 'bob', subject: 'Mine', body: 'x', revises: id }),
    )
  })

  it('decide in place of whoever was asked is the person', async () => {
    const all = await scene()
    const user = await all.space.mailbox('user')
    const { id } = await open['plan']!(all)
    await approvePlan(user, id)
    expect(await stateOf(all, id, 'plan')).toBe('approved')
  })

  it('approve a plan to a role is whoever holds it', async () => {
    const { space, ada, cy } = await scene()
    const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
    const { id } = await submitPlan(ada, { subject: 'Plan', body: 'x' })
    await expectRefused(space, 'not_permitted', () => approvePlan(cy, id))
    await approvePlan(lead, id)
    expect(await stateOf({ space }, id, 'plan')).toBe('approved')
  })
})

describe('plans', () => {
  it('an agent has one open plan for a task, whomever it is submitted to', async () => {
    const { space, ada, bob, cy } = await scene()
    const plan = { to: 'bob', subject: 'Plan', body: 'x', taskId: 'T' }
    const first = await submitPlan(ada, plan)
    await expectRefused(space, 'conflict', () => submitPlan(ada, plan))
    await expectRefused(space, 'conflict', () => submitPlan(ada, { ...plan, to: 'cy' }))
    await submitPlan(ada, { ...plan, taskId: 'U' })
    await submitPlan(cy, plan)
    await approvePlan(bob, first.id)
    await submitPlan(ada, plan)
  })

  it('one that was taken back makes room for another', async () => {
    const { ada } = await scene()
    const plan = { to: 'bob', subject: 'Plan', body: 'x', taskId: 'T' }
    await ada.withdraw((await submitPlan(ada, plan)).id)
    await submitPlan(ada, plan)
  })

  it('a rejection without feedback, or without a verdict, is not understood', async () => {
    const all = await scene()
    const { id } = await open['plan']!(all)
    const bad = [undefined, {}, { approved: 'yes' }, { approved: null }, [], 'approved']
    for (const payload of bad) {
      await expectRefused(all.space, 'invalid', () =>
        all.bob.reply(id, { type: 'plan_approval', ...(payload === undefined ? {} : { payload }) }),
      )
    }
    expect(await stateOf(all, id, 'plan')).toBe('open')
  })
})

describe('shutdowns', () => {
  it('one for an old generation is a dead letter and cannot be accepted by the next run', async () => {
    const all = await scene()
    const { space, ada } = all
    const { id } = await requestShutdown(ada, 'bob', { reason: 'Enough.' })
    await space.join('bob')
    const bob = await space.mailbox('bob')
    await expectRefused(space, 'conflict', () => acceptShutdown(bob, id))
    await expectRefused(space, 'conflict', () => deferShutdown(bob, id, { reason: 'Not me.' }))
    expect(await stateOf(all, id, 'shutdown')).toBe('void')
    expect(await owedKinds(space)).toEqual([])
    expect((await bob.inbox()).messages).toEqual([])
    expect((await ada.inbox()).messages).toMatchObject([{ from: 'system', type: 'error', replyTo: id }])
  })
})

describe('a request to shut down', () => {
  it('is for one run of one agent, never for a group, a role or several', async () => {
    const { space, ada } = await scene()
    for (const to of ['all', 'team:x', 'role:worker']) {
      await expectRefused(space, 'invalid', () => requestShutdown(ada, to))
    }
    await expectRefused(space, 'invalid', () => ada.send({ to: ['bob', 'cy'], type: 'shutdown_request' }))
  })
})

describe('waiting', () => {
  const waiters = async (space: DiskSpace) =>
    (await space.agents()).filter(({ state }) => state === 'waiting').map(({ name }) => name)

  it('lasts from the question to the answer', async () => {
    const { space, ada, bob } = await scene()
    const { id } = await askForHelp(ada, { to: 'bob', body: 'Which port?' })
    expect(await waiters(space)).toEqual(['ada'])
    expect((await space.agents()).find(({ name }) => name === 'ada')).toMatchObject({ waitingFor: [id] })
    await bob.reply(id, { body: '8080' })
    expect(await waiters(space)).toEqual([])
  })

  it('goes on until every question has its answer', async () => {
    const { space, ada, bob, cy } = await scene()
    const one = await askForHelp(ada, { to: 'bob', body: 'Which port?' })
    const two = await askForHelp(ada, { to: 'cy', body: 'Which host?' })
    await bob.reply(one.id, { body: '8080' })
    expect(await waiters(space)).toEqual(['ada'])
    await cy.reply(two.id, { body: 'localhost' })
    expect(await waiters(space)).toEqual([])
  })

  it('does not end with a word of the asker, of the system, an escalation, or something said to a third', async () => {
    const clock = clockAt()
    const all = await scene({ now: clock.now, settings: { urgentAfterMs: 60_000 } })
    const { space, ada, bob, cy } = all
    const { id } = await askForHelp(ada, { to: 'bob', body: 'Which port?' })
    clock.advance(2 * 60_000)
    await space.runDue()
    const said = (await space.mailbox('user')).thread(id)
    expect((await said).some(({ from, type }) => from === 'system' && type === 'escalation')).toBe(true)
    await ada.reply(id, { body: 'Anybody?' })
    await bob.reply(id, { to: 'cy', body: 'Do you know?' })
    await escalate(bob, { to: 'cy', about: id, reason: 'I do not know.' })
    await escalate(bob, { to: 'ada', about: id, reason: 'I told cy.' })
    expect(await stateOf(all, id, 'question')).toBe('open')
    expect(await waiters(space)).toContain('ada')
    await cy.reply(id, { body: '8080' })
    // Whoever has escalated something waits as well.
    expect(await waiters(space)).toEqual(['bob'])
  })
})

describe('what was owed', () => {
  const each = ['question', 'status', 'plan', 'shutdown', 'task', 'ack'] as const

  for (const kind of each) {
    it(`is void when the ${kind} is withdrawn`, async () => {
      const all = await scene()
      const { id } = await open[kind]!(all)
      expect(await owedKinds(all.space, 'bob')).toEqual([kind])
      await all.ada.withdraw(id)
      expect(await stateOf(all, id, kind)).toBe('void')
      expect(await owedKinds(all.space)).toEqual([])
    })

    it(`is void when the ${kind} has expired`, async () => {
      const clock = clockAt()
      const all = await scene({ now: clock.now, settings: { urgentAfterMs: 0, answerAfterMs: 0 } })
      const { id } = await open[kind]!(all)
      clock.advance(25 * hour)
      await all.space.runDue()
      expect(await stateOf(all, id, kind)).toBe('void')
      expect(await owedKinds(all.space)).toEqual([])
    })

    it(`is void when the agent of the ${kind} has left, and open again when it is back`, async () => {
      const all = await scene()
      const { id } = await open[kind]!(all)
      await all.bob.leave()
      expect(await stateOf(all, id, kind)).toBe('void')
      expect(await owedKinds(all.space)).toEqual([])
      await all.space.join('bob')
      // A request to shut down was for the run that is over.
      expect(await stateOf(all, id, kind)).toBe(kind === 'shutdown' ? 'void' : 'open')
      expect(await owedKinds(all.space, 'bob')).toEqual(kind === 'shutdown' ? [] : [kind])
    })
  }

  it('stays settled when its agent leaves and comes back', async () => {
    const all = await scene()
    const question = await open['question']!(all)
    await all.bob.reply(question.id, { body: '8080' })
    await all.bob.leave()
    await all.space.join('bob')
    expect(await stateOf(all, question.id, 'question')).toBe('answered')
  })

  it('is open again when a failed task is retried or given back', async () => {
    const all = await scene()
    for (const again of ['retry', 'release'] as const) {
      const { id } = await open['task']!(all)
      await all.bob.fail(id, { reason: 'It broke.' })
      // What has failed is for whoever asked.
      expect(await owedKinds(all.space, 'bob')).toEqual([])
      expect(await all.space.owed()).toMatchObject([
        { kind: 'task', state: 'failed', from: 'ada', by: 'ada' },
      ])
      await all.bob[again](id)
      expect(await all.space.owed()).toMatchObject([{ kind: 'task', state: 'open', from: 'ada', by: 'bob' }])
      await all.bob.done(id)
      expect(await owedKinds(all.space)).toEqual([])
    }
  })

  it('is no longer owed when a failed task is withdrawn or given to another', async () => {
    const all = await scene()
    const { id } = await open['task']!(all)
    await all.bob.fail(id, { reason: 'It broke.' })
    await all.ada.withdraw(id)
    expect(await owedKinds(all.space)).toEqual([])
    await assignTask(all.ada, { to: 'bob', subject: 'Build it', taskId: 'again' })
    await all.bob.fail((await all.bob.inbox()).messages[0]!.id, { reason: 'It broke.' })
    await assignTask(all.ada, { to: 'cy', subject: 'Build it', taskId: 'again' })
    expect(await all.space.owed()).toMatchObject([{ kind: 'task', state: 'open', by: 'cy' }])
  })

  it('is settled by a report of whoever has the task, and of nobody else', async () => {
    const { space, ada, bob, cy } = await scene()
    await assignTask(ada, { to: 'bob', subject: 'Build it', taskId: 'T' })
    await updateStatus(cy, { to: 'ada', taskId: 'T', status: 'completed' })
    await updateStatus(bob, { to: 'ada', taskId: 'U', status: 'completed' })
    await updateStatus(bob, { to: 'ada', taskId: 'T', status: 'working' })
    expect(await owedKinds(space)).toEqual(['task'])
    await updateStatus(bob, { to: 'ada', taskId: 'T', status: 'completed' })
    expect(await owedKinds(space)).toEqual([])
  })

  it('is settled by a report for the message as well, which nobody gets again', async () => {
    const clock = clockAt()
    const { space, ada } = await scene({ now: clock.now })
    const one = await space.mailbox('one', { join: { roles: ['worker'] } })
    const two = await space.mailbox('two', { join: { roles: ['worker'] } })
    const done = await assignTask(ada, { to: 'role:worker', subject: 'Build it', taskId: 'T' })
    await one.claim(done.id)
    await updateStatus(one, { to: 'ada', taskId: 'T', status: 'completed', body: 'All built.' })
    expect((await space.show(done.id)).receipts).toMatchObject([{ state: 'archived', claimedBy: 'one' }])
    const failed = await assignTask(ada, { to: 'one', subject: 'Test it', taskId: 'U' })
    await updateStatus(one, { to: 'ada', taskId: 'U', status: 'failed' })
    expect((await space.show(failed.id)).receipts).toMatchObject([{ state: 'failed' }])
    // The reports have said it; whoever asked is not told again.
    const said = await ada.check()
    expect(said.messages.map(({ type, body }) => [type, body])).toEqual([
      ['status_update', 'All built.'],
      ['status_update', 'U: failed'],
    ])
    // A report to somebody else does not reach whoever asked.
    const hidden = await assignTask(ada, { to: 'one', subject: 'Ship it', taskId: 'V' })
    await updateStatus(one, { to: 'two', taskId: 'V', status: 'completed' })
    expect((await ada.check()).messages).toMatchObject([{ from: 'one', replyTo: hidden.id }])
    clock.advance(23 * hour)
    await space.runDue()
    expect((await two.check()).messages).toMatchObject([{ type: 'status_update' }])
    expect(await space.owed()).toMatchObject([{ id: failed.id, by: 'ada' }])
  })

  it('by a role is owed by every holder until one takes it, and then by that one', async () => {
    const { space, ada } = await scene()
    const one = await space.mailbox('one', { join: { roles: ['worker'] } })
    await space.mailbox('two', { join: { roles: ['worker'] } })
    const { id } = await assignTask(ada, { to: 'role:worker', subject: 'Build it' })
    expect(await owedKinds(space, 'one')).toEqual(['task'])
    expect(await owedKinds(space, 'two')).toEqual(['task'])
    await one.claim(id)
    expect(await owedKinds(space, 'one')).toEqual(['task'])
    expect(await owedKinds(space, 'two')).toEqual([])
    expect(await space.owed({ to: 'ada' })).toMatchObject([{ from: 'ada', to: 'role:worker', by: 'one' }])
    await one.done(id)
    expect(await owedKinds(space)).toEqual([])
  })

  it('is the same when the index is thrown away', async () => {
    const all = await scene()
    for (const kind of each) await open[kind]!(all)
    const deferred = await open['shutdown']!(all)
    await deferShutdown(all.bob, deferred.id, { reason: 'Busy.' })
    const before = await all.space.owed()
    await all.space.rebuild()
    expect(await all.space.owed()).toEqual(before)
    expect(before).toHaveLength(7)
  })
})
