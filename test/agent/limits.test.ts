import { describe, expect, it } from 'vitest'
import {
  approvePlan,
  askForHelp,
  assignTask,
  type LocalSpace,
  type Mailbox,
  requestShutdown,
  submitPlan,
} from '../../src/mod.ts'
import { clockAt, expectRefused, minute, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

describe('agents that answer one another without end', () => {
  const limit = 6
  const scene = async () => {
    const space = await tempSpace({ settings: { 'limits.threadMessages': limit } })
    return { space, ...(await trio(space)), user: await space.mailbox('user') }
  }

  /** Answers in turn until one is refused; how many went through. */
  async function debate(
    ada: Mailbox,
    bob: Mailbox,
    first: string,
  ): Promise<{ last: string; answers: number }> {
    let last = first
    for (let answers = 0; ; answers++) {
      const next = await (answers % 2 === 0 ? bob : ada).reply(last, { body: 'But.' }).catch(() => undefined)
      if (next === undefined || answers > 50) return { last, answers }
      last = next.id
    }
  }

  it('are paused, and the person is told once', async () => {
    const { space, ada, bob, user } = await scene()
    const { id } = await ada.send({ to: 'bob', subject: 'Tabs or spaces?' })
    const { last, answers } = await debate(ada, bob, id)
    expect(answers).toBe(limit)
    for (const box of [ada, bob]) {
      const error = await expectRefused(space, 'over_limit', () => box.reply(last, { body: 'But!' }))
      expect(error.message).toContain('limits.threadMessages')
    }
    const { messages } = await user.inbox()
    expect(messages).toMatchObject([{ from: 'system', type: 'escalation', payload: { threadId: id } }])
  })

  it('go on after a word of the person, and are paused again', async () => {
    const { ada, bob, user } = await scene()
    const { id } = await ada.send({ to: 'bob', subject: 'Tabs or spaces?' })
    const { last } = await debate(ada, bob, id)
    await user.reply(last, { to: ['ada', 'bob'], body: 'Spaces. Go on.' })
    expect((await debate(ada, bob, last)).answers).toBe(limit)
    expect((await user.inbox({ type: 'escalation' })).messages).toHaveLength(2)
  })

  it('are not held up in another thread, nor is the person in this one', async () => {
    const { ada, bob, user } = await scene()
    const { id } = await ada.send({ to: 'bob', subject: 'Tabs or spaces?' })
    await debate(ada, bob, id)
    await ada.send({ to: 'bob', subject: 'Something else' })
    for (let n = 0; n < 3 * limit; n++) await user.reply(id, { to: 'ada', body: 'I may.' })
  })

  it('may go on for ever where the limit is 0', async () => {
    const space = await tempSpace({ settings: { 'limits.threadMessages': 0 } })
    const { ada, bob } = await trio(space)
    const { id } = await ada.send({ to: 'bob', subject: 'Tabs or spaces?' })
    expect((await debate(ada, bob, id)).answers).toBeGreaterThan(50)
  })
})

describe('what is not answered', () => {
  const scene = async (answerAfterMs: number) => {
    const clock = clockAt()
    const settings = { answerAfterMs, urgentAfterMs: 0, staleAfterMs: 0, silentAfterMs: 0 }
    const space = await tempSpace({ now: clock.now, settings })
    const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
    return { clock, space, lead, ...(await trio(space)), user: await space.mailbox('user') }
  }
  const told = async (box: Mailbox, type: string) =>
    (await box.inbox({ from: 'system', type })).messages.map(({ payload }) => payload)

  async function pass(
    clock: { advance: (ms: number) => void },
    space: LocalSpace,
    ms: number,
  ): Promise<void> {
    clock.advance(ms)
    await space.runDue()
    await space.runDue()
  }

  for (const kind of ['question', 'status', 'plan', 'shutdown'] as const) {
    it(`goes to the lead, then to the person, and no further: a ${kind}`, async () => {
      const { clock, space, lead, ada, user } = await scene(10 * minute)
      const ask = {
        question: () => askForHelp(ada, { to: 'bob', body: 'Which port?' }),
        status: () => ada.send({ to: 'bob', type: 'status_request' }),
        plan: () => submitPlan(ada, { to: 'bob', subject: 'Plan', body: 'x' }),
        shutdown: () => requestShutdown(ada, 'bob'),
      }
      const { id } = await ask[kind]()
      await pass(clock, space, 9 * minute)
      expect([await told(lead, 'escalation'), await told(user, 'escalation')]).toEqual([[], []])
      await pass(clock, space, 2 * minute)
      expect(await told(lead, 'escalation')).toMatchObject([{ id, recipient: 'bob', level: 1 }])
      expect(await told(user, 'escalation')).toEqual([])
      await pass(clock, space, 10 * minute)
      expect(await told(user, 'escalation')).toMatchObject([{ id, recipient: 'bob', level: 2 }])
      await pass(clock, space, 300 * minute)
      expect(await told(lead, 'escalation')).toHaveLength(1)
      expect(await told(user, 'escalation')).toHaveLength(1)
    })
  }

  it('is nobody’s business once it is answered', async () => {
    const { clock, space, lead, ada, bob, user } = await scene(10 * minute)
    const { id } = await submitPlan(ada, { to: 'bob', subject: 'Plan', body: 'x' })
    await approvePlan(bob, id)
    await pass(clock, space, 60 * minute)
    expect([await told(lead, 'escalation'), await told(user, 'escalation')]).toEqual([[], []])
  })

  it('waits for ever where the setting is 0', async () => {
    const { clock, space, lead, ada } = await scene(0)
    await askForHelp(ada, { to: 'bob', body: 'Which port?' })
    await pass(clock, space, 600 * minute)
    expect(await told(lead, 'escalation')).toEqual([])
    expect(await space.owed()).toMatchObject([{ kind: 'question', overdue: false }])
  })

  it('within the time that was given is told to whoever gave it, once: a plan, a task, a shutdown', async () => {
    const { clock, space, ada } = await scene(0)
    const withinMs = 5 * minute
    const plan = await submitPlan(ada, { to: 'bob', subject: 'Plan', body: 'x', withinMs })
    const task = await assignTask(ada, { to: 'bob', subject: 'Task', withinMs })
    const shutdown = await requestShutdown(ada, 'cy', { withinMs })
    await pass(clock, space, 4 * minute)
    expect(await told(ada, 'notification')).toEqual([])
    expect((await space.owed()).map(({ overdue }) => overdue)).toEqual([false, false, false])
    await pass(clock, space, 2 * minute)
    // One notice for each recipient.
    const missed = [
      {
        notice: 'deadline',
        about: [
          { id: plan.id, to: 'bob', reason: 'the plan was not settled in time' },
          { id: task.id, to: 'bob', reason: 'the task was not settled in time' },
        ],
      },
      { notice: 'deadline', about: [{ id: shutdown.id, to: 'cy' }], id: shutdown.id, recipient: 'cy' },
    ]
    expect(await told(ada, 'notification')).toMatchObject(missed)
    expect((await space.owed()).map(({ overdue }) => overdue)).toEqual([true, true, true])
    await pass(clock, space, 100 * minute)
    expect(await told(ada, 'notification')).toHaveLength(2)
  })
})
