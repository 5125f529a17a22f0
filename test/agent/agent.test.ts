import { describe, expect, it } from 'vitest'
import { assignTask, requestShutdown, requestStatus } from '../../src/mod.ts'
import { settle, subjects, within } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'
import { gate, ladderOf, office, slowHandler, startLoop, startMock } from './loop.ts'

describe('an agent', () => {
  it('has a handler for each type, and what it returns is the note of done', async () => {
    const { space, lead, ada } = await office()
    const loop = startLoop(ada, {
      task_assignment: ({ subject }) => `built ${subject}`,
      default: ({ type }) => `a ${type}`,
    })
    const task = await assignTask(lead, { to: 'ada', subject: 'the parser' })
    const other = await lead.send({ to: 'ada', type: 'fix_review_comments', subject: 'comments' })
    await loop.event('done', 'comments')
    const done = { state: 'archived', steps: expect.arrayContaining(['shown', 'processing', 'completed']) }
    expect(await ladderOf(space, task.id)).toMatchObject({ ...done, notes: ['built the parser'] })
    expect(await ladderOf(space, other.id)).toMatchObject({ ...done, notes: ['a fix_review_comments'] })
    loop.stop()
    expect(await loop.result).toEqual({ handled: 2, failed: 0, ended: 'signal' })
  })

  it('does one task at a time, the most urgent next', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    const order: string[] = []
    let running = 0
    const loop = startLoop(ada, {
      task_assignment: async (message, context) => {
        order.push(message.subject)
        expect(++running).toBe(1)
        if (order.length === 1) await slow.handler(message, context)
        running--
      },
    })
    await assignTask(lead, { to: 'ada', subject: 'first' })
    await slow.begun
    await assignTask(lead, { to: 'ada', subject: 'can wait', priority: 'low' })
    await assignTask(lead, { to: 'ada', subject: 'cannot', priority: 'urgent' })
    slow.finish()
    await loop.event('done', 'can wait')
    expect(order).toEqual(['first', 'cannot', 'can wait'])
  })

  it('leaves a message failed when its handler throws, and goes on', async () => {
    const { space, lead, ada } = await office()
    let tries = 0
    const loop = startLoop(ada, {
      task_assignment: ({ subject }) => {
        if (subject === 'hard' && ++tries === 1) throw new Error('it broke')
      },
    })
    const hard = await assignTask(lead, { to: 'ada', subject: 'hard' })
    await assignTask(lead, { to: 'ada', subject: 'easy' })
    await loop.event('done', 'easy')
    expect(await ladderOf(space, hard.id)).toMatchObject({ state: 'failed', notes: ['it broke'] })
    await ada.retry(hard.id)
    await loop.event('done', 'hard')
    loop.stop()
    expect(await loop.result).toEqual({ handled: 2, failed: 1, ended: 'signal' })
  })

  it('fails a message with a reason whatever is thrown', async () => {
    const { space, lead, ada } = await office()
    const thrown = [new Error(''), 'a word', undefined, null, { code: 7 }, new Error('x'.repeat(20_000))]
    const loop = startLoop(ada, {
      task_assignment: ({ payload }) => {
        throw thrown[Number((payload as { taskId: string }).taskId)]
      },
    })
    for (const taskId of thrown.keys()) {
      const { id } = await assignTask(lead, { to: 'ada', subject: `${taskId}`, taskId: `${taskId}` })
      await loop.event('failed', `${taskId}`)
      expect(await ladderOf(space, id)).toMatchObject({
        state: 'failed',
        notes: [expect.stringMatching(/\S/)],
      })
    }
  })

  it('gathers what needs no handler, gives it to the next task, and is done with it afterwards', async () => {
    const { space, lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    const before = await lead.send({ to: 'ada', subject: 'Mind the tests' })
    const wanted = await lead.send({ to: 'ada', subject: 'Say that you know', requiresAck: true })
    await loop.event('gathered', 'Say that you know')
    expect(await ladderOf(space, before.id)).toMatchObject({ state: 'shown' })
    expect(await ladderOf(space, wanted.id)).toMatchObject({ state: 'acked' })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const { context } = await within(slow.begun)
    expect(context.gathered.map(({ subject }) => subject)).toEqual(['Mind the tests', 'Say that you know'])
    const during = await lead.send({ to: 'ada', subject: 'And the names' })
    await loop.event('gathered', 'And the names')
    slow.finish()
    await loop.event('done')
    await assignTask(lead, { to: 'ada', subject: 'Next' })
    await loop.event('done', 'Next')
    loop.stop()
    await loop.result
    for (const { id } of [before, wanted, during])
      expect(await ladderOf(space, id)).toMatchObject({ state: 'archived' })
  })

  it('answers how far it is, idle and while it works', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    startLoop(ada, { task_assignment: slow.handler })
    const ask = async () => {
      const { id } = await requestStatus(lead, 'ada')
      return within(lead.wait({ replyTo: id }))
    }
    expect(await ask()).toMatchObject({ type: 'status_response', payload: { status: 'idle' } })
    await assignTask(lead, { to: 'ada', subject: 'the parser' })
    await slow.begun
    expect(await ask()).toMatchObject({ payload: { status: 'working' }, body: 'Working on: the parser' })
    slow.finish()
  })

  it('is idle in the roster between tasks and alive while it works', async () => {
    const { space, lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    const state = async () => (await space.agents()).find(({ name }) => name === 'ada')?.state
    await lead.send({ to: 'ada', subject: 'hello' })
    await loop.event('gathered')
    expect(await state()).toBe('idle')
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await slow.begun
    expect(await state()).toBe('alive')
    slow.finish()
  })
})

describe('a shutdown', () => {
  it('is accepted at once by an agent with nothing to do, which leaves', async () => {
    const { space, lead, ada } = await office()
    const loop = startLoop(ada, {})
    const { id } = await requestShutdown(lead, 'ada', { reason: 'Enough.' })
    expect(await within(loop.result)).toEqual({ handled: 0, failed: 0, ended: 'shutdown' })
    expect(await lead.wait({ replyTo: id })).toMatchObject({ payload: { accepted: true } })
    expect((await space.agents()).find(({ name }) => name === 'ada')).toMatchObject({
      state: 'dead',
      gone: 'left',
    })
    expect(await space.owed()).toEqual([])
  })

  it('is deferred while a task runs, with a reason, and accepted afterwards', async () => {
    const { space, lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    const task = await assignTask(lead, { to: 'ada', subject: 'the parser' })
    await slow.begun
    const waiting = await assignTask(lead, { to: 'ada', subject: 'another' })
    const { id } = await requestShutdown(lead, 'ada')
    await loop.event('deferred')
    expect(await lead.wait({ replyTo: id })).toMatchObject({
      payload: { accepted: false, reason: 'finishing: the parser' },
    })
    expect(await space.owed({ to: 'lead' })).toMatchObject([{}, {}, { kind: 'shutdown', state: 'deferred' }])
    slow.finish()
    expect(await within(loop.result)).toEqual({ handled: 1, failed: 0, ended: 'shutdown' })
    expect(await lead.wait({ replyTo: id })).toMatchObject({ payload: { accepted: true } })
    expect(await ladderOf(space, task.id)).toMatchObject({ state: 'archived', notes: ['built'] })
    // What it had not begun is nobody's now; whoever sent it is told.
    expect(await ladderOf(space, waiting.id)).toMatchObject({ state: 'dead' })
    expect(await lead.wait({ type: 'error' })).toMatchObject({ replyTo: waiting.id })
  })

  it('ends the task when its deadline is over', async () => {
    const { space, lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    const task = await assignTask(lead, { to: 'ada', subject: 'endless' })
    const { context } = await slow.begun
    const { id } = await requestShutdown(lead, 'ada', { withinMs: 300 })
    await loop.event('deferred')
    expect(context.signal.aborted).toBe(false)
    await within(slow.told)
    expect(await within(loop.result)).toEqual({ handled: 0, failed: 1, ended: 'shutdown' })
    expect(await ladderOf(space, task.id)).toMatchObject({ state: 'failed', notes: ['told to stop'] })
    expect((await lead.thread(id)).map(({ payload }) => payload)).toContainEqual({ accepted: true })
  })

  it('for an earlier run does nothing to the next', async () => {
    const { space, lead } = await office()
    const { id } = await requestShutdown(lead, 'ada')
    await space.join('ada')
    const loop = startLoop(await space.mailbox('ada'), { task_assignment: () => 'built' })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await loop.event('done')
    expect(await ladderOf(space, id)).toMatchObject({ state: 'dead' })
  })
})

describe('stopped by its signal', () => {
  it('an agent tells its task, and leaves unread what it had not begun', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await assignTask(lead, { to: 'ada', subject: 'begun' })
    await slow.begun
    await assignTask(lead, { to: 'ada', subject: 'not begun' })
    await lead.send({ to: 'role:lead', subject: 'for others' })
    loop.stop()
    await within(slow.told)
    expect(await within(loop.result)).toMatchObject({ ended: 'signal' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['not begun'])
  })

  it('an idle agent ends at once, and one that is stopped before it starts does nothing', async () => {
    const { lead, ada } = await office()
    const idle = startLoop(ada, {})
    await settle()
    idle.stop()
    expect(await within(idle.result, 1_000)).toEqual({ handled: 0, failed: 0, ended: 'signal' })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const late = startLoop(ada, { task_assignment: () => 'built' })
    late.stop()
    await within(late.result, 1_000)
    expect((await ada.inbox()).messages.length).toBeLessThanOrEqual(1)
  })
})

describe('what an earlier run has left', () => {
  it('is taken up by the next run, after a kill -9 in the middle of it', async () => {
    const { space, lead } = await office()
    const first = startMock(space.dir, 'worker', { on: { task_assignment: [{ holdMs: 60_000 }] } })
    await first.event('ready')
    const task = await assignTask(lead, { to: 'worker', subject: 'long' })
    await first.event('handling', 'long')
    await lead.send({ to: 'worker', subject: 'to know' })
    await first.event('gathered', 'to know')
    await assignTask(lead, { to: 'worker', subject: 'not begun' })
    first.kill('SIGKILL')
    await first.exit
    expect(await ladderOf(space, task.id)).toMatchObject({ state: 'processing' })
    expect(await space.owed({ kind: 'task' })).toHaveLength(2)

    const next = startMock(space.dir, 'worker', { on: { task_assignment: [{ note: 'built' }] } })
    await next.event('done', 'not begun')
    expect(await ladderOf(space, task.id)).toMatchObject({ state: 'archived', notes: ['built'] })
    expect(next.lines.findIndex((line) => line.includes('"done"') && line.includes('long'))).toBeLessThan(
      next.lines.findIndex((line) => line.includes('"done"') && line.includes('not begun')),
    )
    expect(await space.owed()).toEqual([])
  })

  it('comes back to the role when it was claimed, and the next holder takes it', async () => {
    const { space, lead } = await office()
    const behaviour = { roles: ['worker'], on: { task_assignment: [{ holdMs: 60_000 }] } }
    const first = startMock(space.dir, 'one', behaviour)
    await first.event('ready')
    const task = await assignTask(lead, { to: 'role:worker', subject: 'shared' })
    await first.event('handling', 'shared')
    first.kill('SIGKILL')
    await first.exit
    const other = startMock(space.dir, 'two', { ...behaviour, on: { task_assignment: [{ note: 'mine' }] } })
    await other.event('done', 'shared')
    expect(await ladderOf(space, task.id)).toMatchObject({ state: 'archived' })
  })
})

it('mail of a role stays with whoever works on it for longer than the lease', async () => {
  const space = await tempSpace({ settings: { claimTtlMs: 600 } })
  const lead = await space.mailbox('lead')
  const one = await space.mailbox('one', { join: { roles: ['worker'] } })
  const two = await space.mailbox('two', { join: { roles: ['worker'] } })
  const begun = gate()
  const loop = startLoop(one, {
    task_assignment: async () => {
      begun.open()
      await letPass(2_000)
    },
  })
  const { id } = await assignTask(lead, { to: 'role:worker', subject: 'long' })
  await begun.opened
  const taken: string[] = []
  const looking = (async () => {
    for (let n = 0; n < 19; n++, await letPass(100)) {
      const claimed = await two.claimNext('worker')
      if (claimed !== null) taken.push(claimed.message.subject)
    }
  })()
  await loop.event('done', 'long')
  await looking
  expect(taken).toEqual([])
  expect(await ladderOf(space, id)).toMatchObject({ state: 'archived', attempts: 1 })
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
