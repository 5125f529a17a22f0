import { describe, expect, it } from 'vitest'
import {
  type AgentContext,
  type AgentHandlers,
  askForHelp,
  assignTask,
  type InboxMessage,
  type LeadHandlers,
  type Mailbox,
  requestShutdown,
  runLead,
  submitPlan,
} from '../../src/mod.ts'
import { subjects, within } from '../helpers/scene.ts'
import { gate, ladderOf, office, slowHandler, startLoop } from './loop.ts'

const startLead = (mailbox: Mailbox, handlers: LeadHandlers) =>
  startLoop(mailbox, handlers as AgentHandlers, (box, _, options) => runLead(box, handlers, options))

/** Builds when its plan was approved, and takes a no for what it is. */
async function planFirst(_: InboxMessage, { mailbox, signal }: AgentContext): Promise<string> {
  const plan = { to: 'lead', subject: 'Parser', taskId: 'T-1' }
  let submitted = await submitPlan(mailbox, { ...plan, body: 'Build it.' })
  for (let version = 1; ; version++) {
    const verdict = await mailbox.wait({ replyTo: submitted.id, signal })
    const { approved, feedback } = verdict!.payload as { approved: boolean; feedback?: string }
    if (approved) return `approved: version ${version}`
    submitted = await submitPlan(mailbox, { ...plan, body: `Build it. ${feedback}`, revises: submitted.id })
  }
}

const withTests = ({ body }: InboxMessage) =>
  body.includes('tests') ? { approved: true } : { approved: false, feedback: 'And the tests?' }

describe('a handler that waits gets what it waits for', () => {
  it('the verdict on its plan: rejected, revised, approved', async () => {
    const { space, lead, ada } = await office()
    startLead(lead, { plan_submission: withTests })
    const loop = startLoop(ada, { task_assignment: planFirst })
    const { id } = await space
      .mailbox('bob')
      .then((bob) => assignTask(bob, { to: 'ada', subject: 'Build it' }))
    await loop.event('done', 'Build it')
    expect(await ladderOf(space, id)).toMatchObject({ notes: ['approved: version 2'] })
    expect(loop.events.map(({ event }) => event)).toEqual(['started', 'done'])
  })

  it('the answer to its question, also when other mail comes first', async () => {
    const { lead, ada } = await office()
    const asked = gate<string>()
    const loop = startLoop(ada, {
      task_assignment: async (_, { mailbox }) => {
        const { id } = await askForHelp(mailbox, { to: 'lead', body: 'Which port?' })
        asked.open(id)
        return (await mailbox.wait({ replyTo: id }))?.body
      },
    })
    const task = await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const id = await within(asked.opened)
    await lead.send({ to: 'ada', subject: 'to know' })
    await loop.event('gathered', 'to know')
    await lead.reply(id, { body: '8080' })
    await loop.event('done', 'Build it')
    const { receipts } = await lead.show(task.id)
    expect(receipts[0]?.steps).toContainEqual(expect.objectContaining({ state: 'completed', note: '8080' }))
  })

  it('the answers of all whom it gave work to', async () => {
    const { space, lead, ada } = await office()
    for (const name of ['bob', 'cy'])
      startLoop(await space.mailbox(name), {
        task_assignment: async ({ id }, { mailbox }) =>
          void (await mailbox.reply(id, { body: `by ${name}` })),
      })
    const loop = startLoop(ada, {
      task_assignment: async (_, { mailbox }) => {
        const tasks = await Promise.all(
          ['bob', 'cy'].map((to) => assignTask(mailbox, { to, subject: 'A part' })),
        )
        const ids = tasks.map(({ id }) => id)
        const { matters } = await mailbox.waitUntilSettled(ids)
        expect(matters.map(({ to, state }) => `${to} ${state}`).sort()).toEqual(['bob done', 'cy done'])
        const answers = await mailbox.waitForMessages({ replyTo: ids, type: 'response' })
        return answers
          .map(({ body }) => body)
          .sort()
          .join(', ')
      },
    })
    const { id } = await assignTask(lead, { to: 'ada', subject: 'All of it' })
    await loop.event('done', 'All of it')
    expect(await ladderOf(space, id)).toMatchObject({ notes: ['by bob, by cy'] })
  })

  it('and is not cut off by a shutdown, which is accepted when it is through', async () => {
    const { lead, ada } = await office()
    const loop = startLoop(ada, { task_assignment: planFirst })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const plan = await within(lead.wait({ type: 'plan_submission' }))
    const { id } = await requestShutdown(lead, 'ada')
    await loop.event('deferred')
    expect(await lead.wait({ replyTo: id })).toMatchObject({ payload: { accepted: false } })
    await lead.reply(plan!.id, { type: 'plan_approval', payload: { approved: true } })
    expect(await within(loop.result)).toEqual({ handled: 1, failed: 0, ended: 'shutdown' })
    expect(await lead.wait({ replyTo: id })).toMatchObject({ payload: { accepted: true } })
  })

  it('or learns from its signal that it must end before that', async () => {
    const { space, lead, ada } = await office()
    const loop = startLoop(ada, { task_assignment: planFirst })
    const task = await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await within(lead.wait({ type: 'plan_submission' }))
    await requestShutdown(lead, 'ada', { withinMs: 100 })
    expect(await within(loop.result)).toEqual({ handled: 0, failed: 1, ended: 'shutdown' })
    expect(await ladderOf(space, task.id)).toMatchObject({
      state: 'failed',
      notes: ['the wait was cancelled'],
    })
  })
})

describe('mail that a handler does not wait for', () => {
  it('is gathered when the task is over, if it is an answer, and at the next task’s hand', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    const contexts: string[][] = []
    const loop = startLoop(ada, {
      task_assignment: async (message, context) => {
        contexts.push(context.gathered.map(({ subject }) => subject))
        if (message.subject === 'first') await slow.handler(message, context)
      },
    })
    const { id } = await ada.send({ to: 'lead', subject: 'By the way' })
    await assignTask(lead, { to: 'ada', subject: 'first' })
    await within(slow.begun)
    await lead.reply(id, { subject: 'an answer' })
    await lead.send({ to: 'ada', subject: 'no answer' })
    await loop.event('gathered', 'no answer')
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['an answer'])
    slow.finish()
    await loop.event('gathered', 'an answer')
    await assignTask(lead, { to: 'ada', subject: 'second' })
    await loop.event('done', 'second')
    expect(contexts).toEqual([[], ['no answer', 'an answer']])
  })

  it('is gathered at once if it answers somebody else', async () => {
    const { space, lead, ada } = await office()
    const bob = await space.mailbox('bob')
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await within(slow.begun)
    const { id } = await bob.send({ to: 'lead', subject: 'From bob' })
    await lead.reply(id, { to: ['bob', 'ada'], subject: 'To both' })
    await loop.event('gathered', 'To both')
    slow.finish()
  })

  it('is not called done because it was context: who asked is still owed an answer', async () => {
    const { space, lead, ada } = await office()
    const loop = startLoop(ada, { task_assignment: () => 'built' })
    const question = await lead.send({ to: 'ada', subject: 'Which port?', awaitingResponse: true })
    const work = await lead.send({
      to: 'ada',
      type: 'handoff',
      subject: 'No handler for this',
      body: 'Build.',
    })
    const known = await lead.send({ to: 'ada', subject: 'to know' })
    await loop.event('gathered', 'to know')
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await loop.event('done', 'Build it')
    loop.stop()
    await loop.result
    expect(await ladderOf(space, known.id)).toMatchObject({ state: 'archived' })
    expect((await space.owed()).map(({ id }) => id).sort()).toEqual([question.id, work.id].sort())
  })
})

it('a lead decides on plans while its own task waits for the agent that sent them', async () => {
  const { space, lead, ada } = await office()
  const leading = startLead(lead, {
    plan_submission: withTests,
    request: async (_, { mailbox }) => {
      const task = await assignTask(mailbox, { to: 'ada', subject: 'Build it' })
      const { matters } = await mailbox.waitUntilSettled(task.id)
      return matters.map(({ state }) => state).join()
    },
  })
  startLoop(ada, { task_assignment: planFirst })
  const person = await space.mailbox('user')
  const { id } = await person.send({ to: 'lead', type: 'request', subject: 'A parser, please' })
  await leading.event('done', 'A parser, please')
  expect(await ladderOf(space, id)).toMatchObject({ notes: ['done'] })
})

it('a lead handles one request of its team at a time beside its task, and is asked to stop after both', async () => {
  const { space, lead, ada } = await office()
  const bob = await space.mailbox('bob')
  const [task, plan] = [slowHandler(), slowHandler()]
  const leading = startLead(lead, {
    request: task.handler,
    plan_submission: async (message, context) => {
      await plan.handler(message, context)
      return { approved: true }
    },
    help_request: () => '8080',
  })
  await ada.send({ to: 'lead', type: 'request', subject: 'long' })
  await within(task.begun)
  await submitPlan(ada, { subject: 'Parser', body: 'Build it.' })
  await within(plan.begun)
  const help = await askForHelp(bob, { body: 'Which port?' })
  const { id } = await requestShutdown(ada, 'lead')
  await leading.event('deferred')
  expect(await ada.wait({ replyTo: id })).toMatchObject({ payload: { reason: 'finishing: long' } })
  task.finish()
  await leading.event('done', 'long')
  plan.finish()
  expect(await within(leading.result)).toMatchObject({ handled: 2, ended: 'shutdown' })
  // It waited for its turn, and nobody else can answer it.
  expect(await ladderOf(space, help.id)).toMatchObject({ steps: expect.not.arrayContaining(['processing']) })
})

it('a loop whose space is closed under its task ends with that error', async () => {
  const { space, lead, ada } = await office()
  const slow = slowHandler()
  const loop = startLoop(ada, { task_assignment: slow.handler })
  await assignTask(lead, { to: 'ada', subject: 'Build it' })
  await within(slow.begun)
  await space.close()
  slow.finish()
  await expect(within(loop.result)).rejects.toMatchObject({ code: 'closed' })
})
