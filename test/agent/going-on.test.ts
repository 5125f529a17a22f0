import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/base/sqlite.ts'
import { acceptShutdown, assignTask, requestShutdown, requestStatus, respondStatus } from '../../src/mod.ts'
import { untilStopped } from '../helpers/processes.ts'
import { within } from '../helpers/scene.ts'
import { tempSpace, testSettings } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'
import { office, slowHandler, startLoop, startMock } from './loop.ts'

/** Stops a process, but not while it holds the lock of the index: that would stop everybody. */
async function stopOutsideIndex(one: ReturnType<typeof startMock>, dir: string): Promise<void> {
  await until(async () => {
    one.kill('SIGSTOP')
    await untilStopped(one.process.pid!)
    const index = openDatabase(join(dir, 'index.db'), 0)
    try {
      index.exec('BEGIN IMMEDIATE; ROLLBACK')
      return true
    } catch {
      one.kill('SIGCONT')
      return false
    } finally {
      index.close()
    }
  })
}

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
    const { id } = await requestStatus(lead, 'all')
    const answers = async () => (await lead.inbox()).messages.filter(({ replyTo }) => replyTo === id)
    await until(async () => (await answers()).length === 2)
    for (const to of ['ada', 'bob']) await lead.send({ to, subject: 'Still there?' })
    await Promise.all(loops.map((loop) => loop.event('gathered', 'Still there?')))
  })

  it('when an answer is refused because it has written too much', async () => {
    const { lead, ada } = await office({ settings: { 'limits.ratePerMinute': 3 } })
    const loop = startLoop(ada, {})
    for (let n = 0; n < 3; n++) await ada.send({ to: 'lead', subject: `${n}` })
    await requestStatus(lead, 'ada')
    await lead.send({ to: 'ada', subject: 'Still there?' })
    await loop.event('gathered', 'Still there?')
  })

  it('when it was held up, and its work was given to somebody else meanwhile', async () => {
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
    await stopOutsideIndex(one, space.dir)
    const two = await space.mailbox('two', { join: { roles: ['worker'] } })
    // Work that was started lasts as long as its process, and a stopped process is one.
    await letPass(2 * settings.claimTtlMs)
    expect(await two.claimNext('worker')).toBeNull()
    await (await space.mailbox('one', { join: false })).release(id)
    expect(await two.claimNext('worker')).toMatchObject({ message: { id } })
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
