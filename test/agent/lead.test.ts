import { describe, expect, it } from 'vitest'
import {
  type AgentHandlers,
  askForHelp,
  assignTask,
  cleanUpTeam,
  escalate,
  type LeadHandlers,
  runLead,
  type Space,
  submitPlan,
  updateStatus,
} from '../../src/mod.ts'
import { within } from '../helpers/scene.ts'
import { letPass } from '../helpers/wait.ts'
import { type Loop, ladderOf, office, startLoop, startMock } from './loop.ts'

const startLead = (mailbox: Parameters<typeof runLead>[0], handlers: LeadHandlers): Loop =>
  startLoop(mailbox, handlers as AgentHandlers, (box, _, options) => runLead(box, handlers, options))

describe('a lead', () => {
  it('judges plans: rejects one with feedback, and approves what was made of it', async () => {
    const { space, lead, ada } = await office()
    startLead(lead, {
      plan_submission: ({ body }) =>
        body.includes('tests') ? { approved: true } : { approved: false, feedback: 'Where are the tests?' },
    })
    const first = await submitPlan(ada, { subject: 'Parser', body: 'Build it.', taskId: 'T' })
    const no = await within(ada.wait({ replyTo: first.id }))
    expect(no).toMatchObject({ type: 'plan_approval', body: 'Where are the tests?' })
    expect(no?.payload).toEqual({ approved: false, feedback: 'Where are the tests?' })
    const second = await submitPlan(ada, {
      ...{ subject: 'Parser', body: 'Build it, with tests.', taskId: 'T', revises: first.id },
    })
    expect(await within(ada.wait({ replyTo: second.id }))).toMatchObject({ payload: { approved: true } })
    expect(second.threadId).toBe(first.threadId)
    expect(await space.owed()).toEqual([])
  })

  it('answers whoever waits for help', async () => {
    const { space, lead, ada } = await office()
    const loop = startLead(lead, { help_request: ({ body }) => `You ask: ${body}` })
    const { id } = await askForHelp(ada, { body: 'Which port?' })
    expect(await within(ada.wait({ replyTo: id }))).toMatchObject({ body: 'You ask: Which port?' })
    await loop.event('done')
    // The answer says it all: no note is sent as well.
    expect((await ada.inbox({ all: true })).messages).toHaveLength(1)
    expect(await space.owed()).toEqual([])
  })

  it('that cannot say leaves the request failed, and whoever asked is told why', async () => {
    const { space, lead, ada } = await office()
    const loop = startLead(lead, {
      help_request: () => {
        throw new Error('I do not know')
      },
    })
    const { id } = await askForHelp(ada, { body: 'Which port?' })
    await loop.event('failed')
    expect(await ladderOf(space, id)).toMatchObject({ state: 'failed', notes: ['I do not know'] })
    expect(await within(ada.wait({ replyTo: id }))).toMatchObject({ from: 'lead', body: 'I do not know' })
    expect(await space.owed()).toEqual([])
  })

  it('gathers what its team reports and has it at hand for the next decision', async () => {
    const { lead, ada } = await office()
    const seen: string[] = []
    const loop = startLead(lead, {
      plan_submission: (_, { gathered }) => {
        seen.push(...gathered.map(({ body }) => body))
        return { approved: true }
      },
    })
    await updateStatus(ada, { status: 'working', body: 'Half of it.' })
    await loop.event('gathered')
    await submitPlan(ada, { subject: 'The other half', body: 'x' })
    await loop.event('done')
    expect(seen).toEqual(['Half of it.'])
  })
})

describe('an escalation', () => {
  it('goes from an agent to whoever leads, and from the lead to the person, linked to what it is about', async () => {
    const { lead, ada } = await office()
    const task = await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const up = await escalate(ada, { about: task.id, reason: 'Blocked.' })
    expect(up).toMatchObject({ to: ['role:lead'], replyTo: task.id, threadId: task.threadId })
    expect(up.payload).toEqual({ reason: 'Blocked.', level: 'lead', related: [task.id] })
    const further = await escalate(lead, { about: up.id, reason: 'Blocked.', related: [task.id] })
    expect(further).toMatchObject({ to: ['user'], awaitingResponse: true, priority: 'urgent' })
    expect(further.payload).toEqual({ reason: 'Blocked.', level: 'person', related: [up.id, task.id] })
  })
})

it('a team that is put away has its seen mail archived and leaves; what nobody has read is told', async () => {
  const { space, lead, ada } = await office()
  const bob = await space.mailbox('bob')
  const seen = await lead.send({ to: 'ada', subject: 'seen' })
  await ada.read(seen.id)
  const unread = await lead.send({ to: 'bob', subject: 'unread' })
  expect(await cleanUpTeam(space, [ada.name, bob.name])).toEqual({ archived: 1 })
  expect(await ladderOf(space, seen.id)).toMatchObject({ state: 'archived' })
  expect(await ladderOf(space, unread.id)).toMatchObject({ state: 'dead' })
  expect(await lead.wait({ type: 'error', timeoutMs: 1_000 })).toMatchObject({ replyTo: unread.id })
  const states = (await space.agents()).map(({ name, state }) => `${name} ${state}`)
  expect(states).toEqual(expect.arrayContaining(['ada dead', 'bob dead', 'lead alive']))
})

it('a team is put away although a member leaves by itself at the same time', async () => {
  const { space, lead, ada } = await office()
  const seen = await lead.send({ to: 'ada', subject: 'seen' })
  await ada.read(seen.id)
  const racing = {
    mailbox: async () => ({
      ...ada,
      inbox: async () => {
        const page = await ada.inbox()
        await ada.leave()
        return page
      },
    }),
  } as unknown as Space
  expect(await cleanUpTeam(racing, ['ada'])).toEqual({ archived: 0 })
  expect(await ladderOf(space, seen.id)).toMatchObject({ state: 'archived' })
  expect(await cleanUpTeam(space, ['ada'])).toEqual({ archived: 0 })
})

it('what a lead has gathered from its role stays with it for longer than the lease', async () => {
  const { space, lead, ada } = await office({ settings: { claimTtlMs: 150 } })
  const loop = startLoop(lead, {})
  const { id } = await updateStatus(ada, { status: 'working', body: 'Half of it.' })
  for (let n = 0; n < 8; n++, await letPass(100)) await space.runDue()
  expect(loop.events.map(({ event }) => event)).toEqual(['gathered'])
  expect(await ladderOf(space, id)).toMatchObject({ state: 'shown' })
})

it('work of a role that a member of a team has not finished goes back to the role when the team is cleaned up', async () => {
  const { space, lead } = await office()
  const bob = await space.mailbox('bob', { join: { roles: ['worker'] } })
  const { id } = await assignTask(lead, { to: 'role:worker', subject: 'Build it' })
  await bob.claim(id)
  await cleanUpTeam(space, ['bob'])
  expect(await ladderOf(space, id)).toMatchObject({ state: 'stored' })
  expect(await space.owed()).toMatchObject([{ id, by: 'role:worker' }])
})

it('a lead that is started again at once is still whom a team writes to', async () => {
  const { space, ada } = await office()
  const mock = startMock(space.dir, 'chief', { roles: ['coo'] })
  await mock.event('ready')
  await (await space.mailbox('lead')).leave()
  expect(await ada.lead()).toBe('role:coo')
  mock.kill('SIGKILL')
  await mock.exit
  expect(await ada.lead()).toBe('role:coo')
})
