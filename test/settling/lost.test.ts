import { describe, expect, it } from 'vitest'
import { approvePlan, assignTask, submitPlan } from '../../src/mod.ts'
import { check, friday, hour, idsOf, isAbout, lookIn, minute, stage } from './stage.ts'

/** Whoever waits for something gets it, or is told why not. */
describe('nothing is lost to whoever waits', () => {
  it('delivers a verdict to a session that was frozen and is resumed', async () => {
    const { space, agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const { session } = await ada.agent()
    const plan = await submitPlan(ada, { to: 'lena', subject: 'Split it', body: 'In two.' })
    await ada.leave({ frozen: true })
    await check(lead)
    const verdict = await approvePlan(lead, plan.id)
    await pass(hour)

    const resumed = await space.join('ada', { session: { id: 'ada-1' } })
    expect(resumed.session.generation).toBe(session.generation)
    expect(await check(ada)).toEqual([verdict.id])
    expect(await told('lena')).toEqual([])
  })

  it('delivers it as well when the session just goes on', async () => {
    const { space, agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const plan = await submitPlan(ada, { to: 'lena', subject: 'Split it', body: 'In two.' })
    await ada.leave({ frozen: true })
    const verdict = await approvePlan(lead, plan.id)
    await pass(hour)

    expect(await check(ada)).toEqual([verdict.id])
    const listed = (await space.agents()).find(({ name }) => name === 'ada')
    expect(listed?.state).toBe('alive')
    expect(await told('lena')).toEqual([])
  })

  it('lets no verdict bounce that was read before its reader froze', async () => {
    const { space, agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const plan = await submitPlan(ada, { to: 'lena', subject: 'Split it', body: 'In two.' })
    const verdict = await approvePlan(lead, plan.id)
    expect(await check(ada)).toEqual([verdict.id])
    await ada.leave({ frozen: true })
    await pass(hour)
    await space.join('ada', { session: { id: 'ada-1' } })
    await pass(30 * minute)

    expect(await told('lena')).toEqual([])
    expect((await space.show(verdict.id)).receipts).toMatchObject([{ recipient: 'ada', state: 'shown' }])
  })

  it('tells whoever gave work that it failed, and lists it as owed by them until they do something', async () => {
    const { agent, pass } = await stage()
    const lead = await agent('lena', 'lead')
    const bob = await agent('bob', 'worker')
    const task = await assignTask(lead, { to: 'bob', subject: 'Build it', taskId: 'T-1' })
    await check(bob)
    await bob.start(task.id)
    await bob.fail(task.id, { reason: 'the tests do not pass' })

    const { messages } = await lead.check()
    expect(messages).toMatchObject([
      {
        ...{ from: 'bob', type: 'status_update', replyTo: task.id, body: 'the tests do not pass' },
        payload: { taskId: 'T-1', status: 'failed' },
      },
    ])
    await pass(3 * 24 * hour, lookIn(lead, bob))
    expect(idsOf(await lead.owed())).toEqual([task.id])
    expect(idsOf(await bob.owed())).toEqual([])

    await assignTask(lead, { to: 'bob', subject: 'Build it again', taskId: 'T-1' })
    expect(idsOf(await lead.owed())).toEqual([])
  })

  it('keeps what is for the person over the weekend', async () => {
    const { space, clock, agent, pass, told } = await stage(friday)
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada', 'oncall')
    const bob = await agent('bob')
    const person = await space.mailbox('user', { join: false })
    const question = await ada.send({ to: 'user', subject: 'Which one?', awaitingResponse: true })
    const alarm = await bob.send({ to: 'ada', subject: 'Prod is down', priority: 'urgent' })
    const answer = await person.send({ to: 'bob', subject: 'Do it', body: 'Yes.' })
    await pass(2 * hour, lookIn(lead, ada))
    await bob.leave()
    await pass(Date.parse(friday) + 65 * hour + 30 * minute - clock.now(), lookIn(lead, ada))

    const { messages } = await person.check({ budgetTokens: 20_000 })
    expect(idsOf(messages)).toContain(question.id)
    expect(messages.filter(({ from }) => from === 'system').filter(isAbout(alarm.id))).toHaveLength(1)
    expect(messages.filter(({ from }) => from === 'system').filter(isAbout(answer.id))).toHaveLength(1)
    expect(await told('ada')).toEqual([])
    expect(idsOf(await ada.awaited())).toEqual([question.id])
  })

  it('keeps a question to a group open until somebody answers it', async () => {
    const { space, agent, pass } = await stage()
    const ada = await agent('ada')
    const bob = await agent('bob')
    const cy = await agent('cy')
    for (const name of ['bob', 'cy']) await space.update(name, { addTags: ['project:x'] })
    const question = await ada.send({ to: 'project:x', subject: 'Who knows?', awaitingResponse: true })
    expect(await check(bob)).toEqual([question.id])
    await pass(30 * hour, lookIn(ada, bob, cy))

    expect(idsOf(await ada.awaited())).toEqual([question.id])
    await bob.reply(question.id, { body: 'I do.' })
    expect(await ada.awaited()).toEqual([])
  })

  it('keeps mail that expires in the moment in which its recipient is found to be gone', async () => {
    const { space, clock, agent } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    clock.advance(minute)
    const request = await lead.send({ to: 'ada', type: 'status_request', subject: 'Where are you?' })
    // Nobody looks for a day, and then everything is due at once.
    clock.advance(25 * hour)
    await space.runDue()
    expect((await space.agents()).find(({ name }) => name === 'ada')?.state).toBe('dead')
    // Whoever looks meanwhile sees that it waits.
    expect((await space.show(request.id)).receipts[0]?.state).toBe('stored')
    expect(await ada.count()).toMatchObject({ unread: 1 })
    expect((await space.owed()).map(({ id }) => id)).toEqual([request.id])
    expect(await check(ada)).toEqual([request.id])
  })

  it('says that an agent is back which was taken for dead, and was frozen after that', async () => {
    const { space, agent, running, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const { mailbox: ada, kill } = await running('ada')
    const question = await lead.send({ to: 'ada', subject: 'Which one?', awaitingResponse: true })
    await kill()
    await pass(hour)
    expect(await check(lead)).toEqual(idsOf(await told('lena')))
    await ada.leave({ frozen: true })
    await pass(hour)
    await space.join('ada', { session: { id: 'ada-1' } })
    expect((await told('lena')).map(({ subject }) => subject)).toEqual([
      'Your message is waiting for ada, which is not running',
      'ada is back and has your message',
    ])
    expect(await check(ada)).toEqual([question.id])
  })

  it('lets the person send at night to somebody else what has expired', async () => {
    const { space, agent, pass } = await stage(friday)
    const person = await space.mailbox('user')
    const bob = await agent('bob')
    await agent('cy')
    const note = await person.send({ to: 'cy', subject: 'Note', ttlMs: 3 * hour })
    await pass(4 * hour, lookIn(bob))
    const { letters } = await space.deadLetters({})
    expect(letters.map(({ message }) => message.id)).toEqual([note.id])
    const again = await person.resend(note.id, 'bob')
    expect(await check(bob)).toEqual([again.id])
    expect((await space.deadLetters({})).letters).toEqual([])
  })

  it('keeps the report on work for whoever gave it, and has left over the weekend', async () => {
    const { space, agent, pass } = await stage(friday)
    const lead = await agent('lena', 'lead')
    const bob = await agent('bob', 'worker')
    await assignTask(lead, { to: 'bob', subject: 'Build it', taskId: 'T-1' })
    await check(bob)
    await lead.leave()
    const payload = { taskId: 'T-1', status: 'completed' }
    const report = await bob.send({ to: 'lena', type: 'status_update', subject: 'T-1: completed', payload })
    await pass(60 * hour, lookIn(bob))
    await space.join('lena', { roles: ['lead'] })
    expect(await check(lead)).toContain(report.id)
  })
})
