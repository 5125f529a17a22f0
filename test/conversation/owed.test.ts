import { describe, expect, it } from 'vitest'
import { askForHelp, assignTask, requestStatus, respondStatus, updateStatus } from '../../src/mod.ts'
import { clockAt, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

describe('asked of several', () => {
  it('everybody may answer a request for the status that went to all', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    const { id } = await requestStatus(ada, 'all')
    await respondStatus(bob, id, { status: 'idle' })
    await respondStatus(cy, id, { status: 'working' })
  })

  it('everybody may answer a request for the status that named them', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    const { id } = await ada.send({ to: ['bob', 'cy'], type: 'status_request' })
    await respondStatus(bob, id, { status: 'idle' })
    expect((await space.owed()).map(({ by }) => by)).toEqual(['cy'])
    await respondStatus(cy, id, { status: 'working' })
  })

  it('an ack that a group gave is owed no more', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    const { id } = await ada.send({ to: 'all', requiresAck: true })
    await bob.ack(id)
    await cy.ack(id)
    await (await space.mailbox('user')).ack(id)
    expect(await space.owed()).toEqual([])
  })

  it('a task that a member of a group has done is owed no more', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob', { join: { tags: ['project:x'] } })
    const { id } = await assignTask(ada, { to: 'project:x', subject: 'Build it' })
    await bob.done(id)
    expect(await space.owed()).toEqual([])
  })
})

describe('what is owed', () => {
  it('does not break for a time limit beyond all time', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await ada.send({ to: 'bob', awaitingResponse: true, payload: { withinMs: Number.MAX_SAFE_INTEGER } })
    expect(await space.owed()).toHaveLength(1)
  })

  it('is nothing from the moment that the life of a question is over, written down or not', async () => {
    const clock = clockAt()
    const space = await tempSpace({ now: clock.now })
    const { ada } = await trio(space)
    await ada.send({ to: 'bob', awaitingResponse: true, ttlMs: 1_000 })
    clock.advance(2_000)
    expect((await space.agents()).filter(({ state }) => state === 'waiting')).toEqual([])
    expect(await space.owed()).toEqual([])
  })

  it('is a failed task again from the moment that its agent starts it again', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await assignTask(ada, { to: 'bob', subject: 'Build it' })
    await bob.fail(id, { reason: 'It broke.' })
    await bob.start(id)
    expect(await space.owed()).toMatchObject([{ id, kind: 'task', state: 'open' }])
  })

  it('is a failed task again from the moment that its agent reports on it, and none when that is done', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { seq } = await assignTask(ada, { to: 'bob', subject: 'Build it', taskId: 'T' })
    await updateStatus(bob, { to: 'ada', taskId: 'T', status: 'failed' })
    await updateStatus(bob, { to: 'ada', taskId: 'T', status: 'completed' })
    const states = await space.core.query(({ index }) =>
      index.sql('SELECT state FROM matter WHERE seq = ?').all([seq]),
    )
    expect(states).toEqual([['done']])
  })

  it('does not lose a task that was archived unfinished', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id, seq } = await assignTask(ada, { to: 'bob', subject: 'Build it' })
    await bob.read(id)
    await bob.archive(id)
    const states = await space.core.query(({ index }) =>
      index.sql('SELECT state FROM matter WHERE seq = ?').all([seq]),
    )
    expect(states).not.toEqual([['done']])
  })

  it('is still an answer when somebody has only acknowledged the question', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await askForHelp(ada, { to: 'bob', body: 'Which port?' })
    await bob.reply(id, { type: 'ack', body: 'Got it.' })
    expect(await space.owed()).toMatchObject([{ id, kind: 'question' }])
  })
})

describe('the answer', () => {
  it('comes first, however much urgent mail there is and however little is asked for', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    const { id } = await ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
    for (let n = 0; n < 6; n++) await cy.send({ to: 'ada', subject: `Urgent ${n}`, priority: 'urgent' })
    await bob.reply(id, { body: '8080' })
    const { messages } = await ada.check({ limit: 5 })
    expect(messages[0]).toMatchObject({ subject: 'Re: Which port?' })
  })
})
