import { describe, expect, it } from 'vitest'
import { assignTask, brief } from '../../src/mod.ts'
import { check, hour, isAbout, lookIn, minute, stage, subjectsOf } from './stage.ts'

describe('mail to a role', () => {
  it('is finished when it is read, if it asks for nothing', async () => {
    const { agent, pass, told } = await stage()
    const ada = await agent('ada')
    const bob = await agent('bob', 'worker')
    const cy = await agent('cy', 'worker')
    const text = await ada.send({
      to: 'role:worker',
      subject: 'For your information',
      body: 'The cache is cold.',
    })
    expect(await check(bob)).toEqual([text.id])
    const again: string[] = []
    await pass(3 * hour, async () => {
      again.push(...(await check(bob)), ...(await check(cy)))
      await ada.heartbeat()
    })
    expect(again).toEqual([])
    expect(await told('ada')).toEqual([])
  })

  it('is handed out once if it is a notice', async () => {
    const { agent, pass } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const bob = await agent('bob')
    const urgent = await ada.send({ to: 'bob', subject: 'Now', priority: 'urgent' })
    const seen: string[] = []
    await pass(3 * hour, async () => {
      const { messages } = await lead.check()
      seen.push(...subjectsOf(messages.filter(isAbout(urgent.id))))
      await lookIn(ada, bob)()
    })
    expect(seen).toHaveLength(1)
  })

  it('comes into the context of a busy worker once, and its work is not taken away', async () => {
    const { agent, running, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const { mailbox: bob } = await running('bob', 'worker')
    const cy = await agent('cy', 'worker')
    const task = await assignTask(lead, { to: 'role:worker', subject: 'Build it', taskId: 'T-1' })
    const briefed: string[] = []
    let minutes = 0
    await pass(2 * hour, async () => {
      const { ids } = await brief(bob, 'tool')
      briefed.push(...ids)
      if (minutes === 0) await bob.start(task.id)
      minutes += 15
      expect(await check(cy)).toEqual([])
      await lead.heartbeat()
    })
    expect(briefed).toEqual([task.id])
    await bob.done(task.id, { note: 'Built.' })
    expect(await told('lena')).toEqual([])
  })

  it('never dies of being looked at: only failures are attempts', async () => {
    const { agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const bob = await agent('bob', 'worker')
    const task = await assignTask(lead, { to: 'role:worker', subject: 'Build it', taskId: 'T-1' })
    for (let turn = 0; turn < 7; turn++) {
      await check(bob)
      await pass(30 * minute, lookIn(lead, bob))
    }
    await bob.start(task.id)
    await bob.done(task.id, { note: 'Built.' })
    expect(await told('lena')).toEqual([])
  })

  it('is taken one piece of work at a time, and none while one is in hand', async () => {
    const { agent, running, pass } = await stage()
    const lead = await agent('lena', 'lead')
    const { mailbox: bob } = await running('bob', 'worker')
    const { mailbox: cy } = await running('cy', 'worker')
    const tasks: string[] = []
    for (const taskId of ['T-1', 'T-2', 'T-3'])
      tasks.push((await assignTask(lead, { to: 'role:worker', subject: taskId, taskId })).id)

    expect(await check(bob)).toEqual([tasks[0]])
    await bob.start(tasks[0]!)
    expect(await check(cy)).toEqual([tasks[1]])
    await cy.start(tasks[1]!)
    expect(await check(bob)).toEqual([])
    await pass(2 * hour, lookIn(lead, bob, cy))
    expect(await check(cy)).toEqual([])
    await bob.done(tasks[0]!)
    expect(await check(bob)).toEqual([tasks[2]])
    await cy.done(tasks[1]!)
  })

  it('goes to its sender only when nobody else is there', async () => {
    const { agent } = await stage()
    const bob = await agent('bob', 'worker')
    const cy = await agent('cy', 'worker')
    const first = await bob.send({
      to: 'role:worker',
      type: 'request',
      subject: 'Who can?',
      awaitingResponse: true,
    })
    expect(await check(bob)).toEqual([])
    expect(await check(cy)).toEqual([first.id])
    await cy.leave()
    const second = await bob.send({ to: 'role:worker', subject: 'For later' })
    expect(await check(bob)).toContain(second.id)
  })

  it.each(['stays', 'leaves', 'is killed'] as const)(
    'is settled for the role by an ack, if it asks for no more, also when whoever acked it %s',
    async (way) => {
      const { space, agent, running, pass, told } = await stage()
      const lead = await agent('lena', 'lead')
      const ada = await agent('ada')
      const { mailbox: bob, kill } = await running('bob', 'worker')
      const cy = await agent('cy', 'worker')
      const note = await ada.send({ to: 'role:worker', subject: 'Freeze at five', requiresAck: true })
      expect(await check(bob)).toEqual([note.id])
      await bob.ack(note.id)
      if (way === 'leaves') await bob.leave()
      if (way === 'is killed') await kill()
      const again: string[] = []
      await pass(8 * hour, async () => {
        if (way === 'stays') again.push(...(await check(bob)))
        again.push(...(await check(cy)))
        await lookIn(lead, ada)()
      })
      expect(again).toEqual([])
      expect(subjectsOf(await told('lena', 'role:lead', 'user', 'ada'))).toEqual([])
      expect(await space.owed()).toEqual([])
    },
  )
})

describe('what was started', () => {
  it('is not done by a reply that says it is under way', async () => {
    const { space, agent } = await stage()
    const ada = await agent('ada')
    const bob = await agent('bob')
    const { id } = await ada.send({ to: 'bob', subject: 'Rebuild the index' })
    await bob.start(id)
    await bob.reply(id, { body: 'Running now.' })
    expect((await space.show(id)).receipts).toMatchObject([{ state: 'processing' }])
    await bob.done(id, { note: 'rebuilt' })
    expect((await space.show(id)).receipts).toMatchObject([{ state: 'archived' }])
  })
})
