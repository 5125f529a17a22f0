import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  acceptShutdown,
  assignTask,
  cleanUpTeam,
  requestShutdown,
  requestStatus,
  respondStatus,
  updateStatus,
} from '../../src/mod.ts'
import { untilStopped } from '../helpers/processes.ts'
import { within } from '../helpers/scene.ts'
import { tempSpace, testSettings } from '../helpers/temp.ts'
import { gate, ladderOf, office, slowHandler, startLoop, startMock } from './loop.ts'

/**
 * Each of these says what should be and is not yet. Whoever mends one takes its `.fails` away.
 */
describe('an agent goes on', () => {
  it('when it was killed between an answer and the note that it was given', async () => {
    const { lead, ada } = await office()
    const { id } = await requestStatus(lead, 'ada')
    await ada.read(id)
    await respondStatus(ada, id, { status: 'idle' })
    const loop = startLoop(ada, { task_assignment: () => 'built' })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await loop.event('done', 'Build it')
  })

  it('when the person has accepted a shutdown in its place', async () => {
    const { space, lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await slow.begun
    const { id } = await requestShutdown(lead, 'ada')
    await loop.event('deferred')
    await acceptShutdown(await space.mailbox('user'), id)
    slow.finish()
    expect(await within(loop.result)).toMatchObject({ ended: 'shutdown' })
  })

  it('when another of its team has answered what was asked of all', async () => {
    const { space, lead, ada } = await office()
    const loops = [startLoop(ada, {}), startLoop(await space.mailbox('bob'), {})]
    await requestStatus(lead, 'all')
    await sleep(300)
    for (const to of ['ada', 'bob']) await lead.send({ to, subject: 'Still there?' })
    await Promise.all(loops.map((loop) => loop.event('gathered', 'Still there?')))
  })

  it('when an answer is refused because it has written too much', async () => {
    const { lead, ada } = await office({ settings: { 'limits.ratePerMinute': 3 } })
    const loop = startLoop(ada, {})
    for (let n = 0; n < 3; n++) await ada.send({ to: 'lead', subject: `${n}` })
    await requestStatus(lead, 'ada')
    await sleep(200)
    await lead.send({ to: 'ada', subject: 'Still there?' })
    await loop.event('gathered', 'Still there?')
  })

  it('when it was held up for so long that somebody else has taken its work', async () => {
    const space = await tempSpace()
    const lead = await space.mailbox('lead')
    const settings = { ...testSettings, claimTtlMs: 1_000 }
    const one = startMock(space.dir, 'one', {
      roles: ['worker'],
      settings,
      on: { task_assignment: [{ holdMs: 600 }] },
    })
    await one.event('ready')
    const { id } = await assignTask(lead, { to: 'role:worker', subject: 'shared' })
    await one.event('handling', 'shared')
    // Whoever is stopped with the lock of the index in its hand stops everybody.
    await sleep(150)
    one.kill('SIGSTOP')
    await untilStopped(one.process.pid!)
    const two = await space.mailbox('two', { join: { roles: ['worker'] } })
    await expect.poll(() => two.claimNext('worker'), { timeout: 5_000 }).toMatchObject({ message: { id } })
    one.kill('SIGCONT')
    await assignTask(lead, { to: 'one', subject: 'next' })
    await one.event('done', 'next')
  })

  it('when its handler has finished the message itself and throws afterwards', async () => {
    const { space, lead } = await office()
    const mock = startMock(space.dir, 'worker', {
      on: { task_assignment: [], text: [{ done: true }, { throw: 'too late' }] },
    })
    await mock.event('ready')
    await lead.send({ to: 'worker', subject: 'finish, then throw' })
    await mock.event('handling', 'finish, then throw')
    await assignTask(lead, { to: 'worker', subject: 'next' })
    await mock.event('done', 'next')
  })
})

describe('while it takes up what an earlier run has left, an agent', () => {
  it('says how far it is', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'long' })
    await ada.start(id)
    const slow = slowHandler()
    startLoop(ada, { task_assignment: slow.handler })
    await slow.begun
    const asked = await requestStatus(lead, 'ada')
    const answer = await lead.wait({ replyTo: asked.id, timeoutMs: 1_000 })
    slow.finish()
    expect(answer).toMatchObject({ payload: { status: 'working' } })
  })

  it('defers a shutdown', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'long' })
    await ada.start(id)
    const slow = slowHandler()
    startLoop(ada, { task_assignment: slow.handler })
    await slow.begun
    const { id: request } = await requestShutdown(lead, 'ada')
    const answer = await lead.wait({ replyTo: request, timeoutMs: 1_000 })
    slow.finish()
    expect(answer).toMatchObject({ payload: { accepted: false } })
  })

  it('stops when it is told to', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'long' })
    await ada.start(id)
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await slow.begun
    loop.stop()
    const isTold = await Promise.race([slow.told.then(() => true), sleep(1_000, false)])
    slow.finish()
    expect(isTold).toBe(true)
  })

  it('begins nothing more once it has accepted a shutdown', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'left over' })
    await ada.read(id)
    await ada.read((await requestShutdown(lead, 'ada')).id)
    const loop = startLoop(ada, { task_assignment: () => 'built' })
    expect(await within(loop.result)).toMatchObject({ ended: 'shutdown', handled: 0 })
  })
})

describe('a task', () => {
  it('is the only one, also when there is a handler for requests for the status', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    let atOnce = 0
    const answered = gate()
    const loop = startLoop(ada, {
      task_assignment: async (message, context) => {
        atOnce++
        await slow.handler(message, context)
        atOnce--
      },
      status_request: async ({ id }, { mailbox }) => {
        await respondStatus(mailbox, id, { status: 'own words' })
        answered.open()
      },
      request: () => {
        expect(atOnce).toBe(0)
      },
    })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await slow.begun
    await requestStatus(lead, 'ada')
    await within(answered.opened)
    await sleep(100)
    await lead.send({ to: 'ada', type: 'request', subject: 'next' })
    await sleep(200)
    slow.finish()
    await loop.event('done', 'next')
  })

  it('is not ended by a deadline that is a month away', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const { context } = await slow.begun
    await requestShutdown(lead, 'ada', { withinMs: 30 * 86_400_000 })
    await loop.event('deferred')
    await sleep(100)
    expect(context.signal.aborted).toBe(false)
    slow.finish()
  })

  it('that does not listen cannot keep an agent beyond its deadline', async () => {
    const { lead, ada } = await office()
    const begun = gate()
    const free = gate()
    const loop = startLoop(ada, {
      task_assignment: async () => {
        begun.open()
        await free.opened
      },
    })
    await assignTask(lead, { to: 'ada', subject: 'deaf' })
    await begun.opened
    await requestShutdown(lead, 'ada', { withinMs: 200 })
    try {
      expect(await within(loop.result, 2_000)).toMatchObject({ ended: 'shutdown' })
    } finally {
      free.open()
    }
  })
})

it('what a lead has gathered from its role stays with it for longer than the lease', async () => {
  const { space, lead, ada } = await office({ settings: { claimTtlMs: 150 } })
  const loop = startLoop(lead, {})
  const { id } = await updateStatus(ada, { status: 'working', body: 'Half of it.' })
  for (let n = 0; n < 20; n++, await sleep(100)) await space.tend()
  expect(loop.events.map(({ event }) => event)).toEqual(['gathered'])
  expect(await ladderOf(space, id)).toMatchObject({ state: 'shown' })
})

it('an agent that has asked something has the answer at hand before it begins anything else', async () => {
  const { lead, ada } = await office()
  const { id } = await ada.send({ to: 'lead', subject: 'Which port?', awaitingResponse: true })
  await lead.reply(id, { body: '8080' })
  await assignTask(lead, { to: 'ada', subject: 'Build it', priority: 'urgent' })
  const slow = slowHandler()
  startLoop(ada, { task_assignment: slow.handler })
  const { context } = await slow.begun
  slow.finish()
  expect(context.gathered.map(({ body }) => body)).toEqual(['8080'])
})

it('work of a role that a member of a team has not finished goes back to the role when the team is put away', async () => {
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
