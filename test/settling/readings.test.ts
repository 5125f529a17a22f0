import { describe, expect, it } from 'vitest'
import { assignTask, brief, submitPlan } from '../../src/mod.ts'
import { check, hour, idsOf, isAbout, lookIn, minute, stage, subjectsOf } from './stage.ts'

describe('what is read agrees with what is', () => {
  it.each(['inbox', 'stats'] as const)(
    'counts the same in count and %s for a frozen holder of a role',
    async (where) => {
      const { space, clock, agent } = await stage()
      const ada = await agent('ada')
      const bob = await agent('bob', 'worker')
      await bob.leave({ frozen: true })
      await ada.send({ to: 'role:worker', subject: 'Before lunch', ttlMs: hour })
      await ada.send({ to: 'role:worker', subject: 'At any time' })
      await ada.send({ to: 'bob', subject: 'For you', ttlMs: hour })
      const other = async () => {
        if (where === 'inbox') return (await bob.inbox({ unread: true })).messages.length
        return (await space.stats()).agents.find(({ name }) => name === 'bob')!.pending
      }
      expect([(await bob.count()).unread, await other()]).toEqual([3, 3])
      // Nobody has looked since.
      clock.advance(2 * hour)
      const { unread } = await bob.count()
      expect(await other()).toBe(unread)
    },
  )

  it('names each message once in a briefing, work first, and what is awaited of every kind', async () => {
    const { agent } = await stage()
    const lead = await agent('lena', 'lead')
    const bob = await agent('bob', 'worker')
    const notes: string[] = []
    for (const subject of ['One', 'Two', 'Three', 'Four', 'Five'])
      notes.push((await lead.send({ to: 'bob', subject, requiresAck: true })).id)
    const task = await assignTask(lead, { to: 'bob', subject: 'Build it', taskId: 'T-1' })
    await check(bob)
    for (const id of notes) await bob.ack(id)
    await bob.start(task.id)
    const plan = await submitPlan(bob, { to: 'lena', subject: 'In two steps', body: 'First this.' })
    const fresh = await lead.send({ to: 'bob', subject: 'And this?', awaitingResponse: true })

    const { text } = await brief(bob, 'start')
    const named = [...text.matchAll(/^Message (\S+) from (?:another|the) /gm)].map((match) => match[1])
    expect(named).toEqual([task.id, plan.id, fresh.id])
  })

  it('recalls nothing that was only read, or that has failed', async () => {
    const { agent } = await stage()
    const lead = await agent('lena', 'lead')
    const bob = await agent('bob', 'worker')
    await lead.send({ to: 'role:worker', subject: 'For your information', body: 'The cache is cold.' })
    const task = await assignTask(lead, { to: 'role:worker', subject: 'Build it', taskId: 'T-1' })
    await check(bob)
    await bob.start(task.id)
    await bob.fail(task.id, { reason: 'the tests do not pass' })
    const { text } = await brief(bob, 'start')
    expect([...text.matchAll(/^Message (\S+) from (?:another|the) /gm)]).toEqual([])
  })

  it('waits a day for an agent that crashed, says so once, and corrects it when the agent is back', async () => {
    const { space, agent, running, pass, told } = await stage()
    const ada = await agent('ada')
    const { mailbox: bob, kill } = await running('bob')
    const question = await ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
    await kill()
    await pass(2 * hour, lookIn(ada))
    const first = (await told('ada')).filter(isAbout(question.id))
    expect(subjectsOf(first)).toHaveLength(1)
    expect(first[0]!.subject).toMatch(/waiting for bob/i)
    expect(await check(ada)).toEqual(idsOf(first))

    await space.join('bob', { session: { id: 'bob-2' } })
    expect(await check(bob)).toEqual([question.id])
    const later = (await told('ada')).filter(isAbout(question.id)).slice(1)
    expect(subjectsOf(later)).toHaveLength(1)
    expect(later[0]!.subject).toMatch(/\bback\b/i)
    await pass(2 * hour, lookIn(ada, bob))
    for (const { subject } of await told('ada')) expect(subject).not.toMatch(/not delivered/i)
  })

  it('takes back a word about a crash that nobody has read when the agent is back', async () => {
    const { space, agent, running, pass, told } = await stage()
    const ada = await agent('ada')
    const { mailbox: bob, kill } = await running('bob')
    const question = await ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
    await kill()
    await pass(2 * hour, lookIn(ada))
    await space.join('bob', { session: { id: 'bob-2' } })
    expect(await told('ada')).toEqual([])
    expect(await check(bob)).toEqual([question.id])
  })

  it('gives up after a day', async () => {
    const { agent, running, pass, told } = await stage()
    const ada = await agent('ada')
    const { kill } = await running('bob')
    const question = await ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
    await kill()
    const bounces = async () =>
      (await told('ada')).filter(isAbout(question.id)).filter(({ subject }) => /not delivered/i.test(subject))
    await pass(23 * hour, lookIn(ada))
    expect(await bounces()).toEqual([])
    await pass(3 * hour, lookIn(ada))
    expect(await bounces()).toHaveLength(1)
  })

  it('gives a reply no urgency that nobody asked for', async () => {
    const { agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const urgent = await ada.send({
      to: 'role:lead',
      subject: 'Stuck',
      priority: 'urgent',
      awaitingResponse: true,
    })
    await check(lead)
    const answer = await lead.reply(urgent.id, { body: 'Port 80.' })
    expect(answer.priority).toBe('normal')
    const loud = await lead.reply(urgent.id, { body: 'Port 81, now.', priority: 'urgent' })
    await pass(3 * hour + 30 * minute, lookIn(lead, ada))
    const notices = await told('lena', 'role:lead', 'user', 'ada')
    expect(notices.filter(isAbout(answer.id))).toEqual([])
    expect(notices.filter(isAbout(loud.id))).toEqual([])
  })

  it('names a message once in a briefing that its recipient sent to a role of its own', async () => {
    const { agent } = await stage()
    const otto = await agent('otto', 'oncall')
    const alarm = await otto.send({ to: 'role:oncall', subject: 'Prod is down', requiresAck: true })
    const { text } = await brief(otto, 'start')
    expect([...text.matchAll(/^Message (\S+) from (?:another|the) /gm)].map((match) => match[1])).toEqual([
      alarm.id,
    ])
  })
})
