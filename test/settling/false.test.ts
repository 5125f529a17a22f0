import { describe, expect, it } from 'vitest'
import { assignTask, deferShutdown, requestShutdown } from '../../src/mod.ts'
import {
  check,
  friday,
  hour,
  idsOf,
  isAbout,
  lookIn,
  minute,
  type Stage,
  stage,
  subjectsOf,
} from './stage.ts'

/** Everybody who could be told of something. */
const everybody = ['lena', 'role:lead', 'ada', 'bob', 'user']

async function trio(on: Stage) {
  return { lead: await on.agent('lena', 'lead'), ada: await on.agent('ada') }
}

describe('nothing false is told', () => {
  it.each(['leaves', 'dies'] as const)('takes back no state of one who %s', async (way) => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const { mailbox: bob, kill } = await on.running('bob')
    const note = await ada.send({ to: 'bob', subject: 'Note', requiresAck: true })
    const question = await ada.send({ to: 'bob', subject: 'Question', awaitingResponse: true })
    await check(bob)
    await bob.ack(note.id)
    const answer = await bob.reply(question.id, { body: 'Yes.' })
    if (way === 'leaves') await bob.leave()
    await kill()
    await on.pass(26 * hour, lookIn(lead, ada))
    expect(subjectsOf(await on.told(...everybody))).toEqual([])

    await on.space.join('bob', { session: { id: 'bob-2' } })
    expect(await check(bob)).toEqual([])
    await on.pass(2 * hour, lookIn(lead, ada, bob))
    expect(subjectsOf(await on.told(...everybody))).toEqual([])
    expect((await on.space.show(note.id)).receipts[0]!.state).toMatch(/^(acked|archived)$/)
    expect(await on.space.owed()).toEqual([])
    expect(await check(ada)).toEqual([answer.id])
  })

  it.each(['was frozen', 'was killed'] as const)(
    'counts from when mail became unread: its reader %s',
    async (how) => {
      const on = await stage()
      const { lead, ada } = await trio(on)
      const { mailbox: bob, kill } = await on.running('bob')
      if (how === 'was frozen') await bob.leave({ frozen: true })
      else await kill()
      await on.space.runDue()
      const urgent = await ada.send({ to: 'bob', subject: 'Now', priority: 'urgent' })
      await on.pass(3 * hour, lookIn(lead, ada))

      await on.space.join('bob', { session: { id: 'bob-1' } })
      expect((await on.told('lena', 'role:lead', 'user', 'bob')).filter(isAbout(urgent.id))).toEqual([])
      expect(await check(bob)).toEqual([urgent.id])
      await on.pass(hour, lookIn(lead, ada, bob))
      expect((await on.told('lena', 'role:lead', 'user', 'bob')).filter(isAbout(urgent.id))).toEqual([])
    },
  )

  it('takes a deferral for an answer to a request to shut down', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const request = await requestShutdown(lead, 'ada', { reason: 'Enough.' })
    await check(ada)
    const deferral = await deferShutdown(ada, request.id, { reason: 'Finishing.' })
    await on.pass(5 * hour, lookIn(lead, ada))

    expect(await check(lead)).toEqual([deferral.id])
    expect(subjectsOf(await on.told(...everybody))).toEqual([])
    expect(await on.space.owed()).toMatchObject([{ id: request.id, state: 'deferred' }])
  })

  it('tells the person once of a matter, and the lead once', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob', 'oncall')
    const alarm = await ada.send({
      ...{ to: 'role:oncall', subject: 'Prod is down', priority: 'urgent' },
      ...{ requiresAck: true, awaitingResponse: true },
    })
    const there = lookIn(lead, ada, bob)
    await on.pass(3 * hour, there)
    await check(lead)
    const person = await on.space.mailbox('user', { join: false })
    await person.check()
    // Now it is read, and still nobody acks or answers.
    expect(await check(bob)).toEqual([alarm.id])
    await on.pass(4 * hour, there)
    await person.check()

    expect((await on.told('user')).filter(isAbout(alarm.id))).toHaveLength(1)
    expect((await on.told('lena', 'role:lead')).filter(isAbout(alarm.id)).length).toBeLessThanOrEqual(1)
  })

  it('takes a deadline for the first alarm, and gives it to whoever set it', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    const question = await ada.send({
      ...{ to: 'bob', subject: 'Which port?', awaitingResponse: true, payload: { withinMs: 180 * minute } },
    })
    await check(bob)
    const there = lookIn(lead, ada, bob)
    await on.pass(165 * minute, there)
    expect(subjectsOf(await on.told(...everybody))).toEqual([])
    await on.pass(30 * minute, there)
    expect((await on.told('ada')).filter(isAbout(question.id))).toHaveLength(1)
    expect(await on.told('user')).toEqual([])
  })

  it('counts the acks of a group by member', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    const cy = await on.agent('cy')
    const dan = await on.agent('dan')
    for (const name of ['ada', 'bob', 'cy', 'dan']) await on.space.update(name, { addTags: ['project:x'] })
    const news = await lead.send({ to: 'project:x', subject: 'News', requiresAck: true })
    for (const mailbox of [ada, bob, cy]) expect(await check(mailbox)).toEqual([news.id])
    await ada.ack(news.id)

    const owing = async () => (await on.space.owed({ kind: 'ack' })).map(({ by }) => by).sort()
    expect(await owing()).toEqual(['bob', 'cy', 'dan'])
    await bob.reply(news.id, { body: 'Seen.' })
    expect(await owing()).toEqual(['cy', 'dan'])
    await on.pass(7 * hour, lookIn(lead, ada, bob, cy, dan))
    // It says who has not acked, and never that nobody has read it.
    const told = (await on.told('lena', 'role:lead', 'user')).filter(isAbout(news.id))
    for (const { subject, body } of told)
      expect(`${subject} ${body}`).not.toMatch(/anybody read|not delivered/i)
    expect(await owing()).toEqual(['cy', 'dan'])
    await cy.ack(news.id)
    expect(await owing()).toEqual(['dan'])
    expect(idsOf(await on.space.owed({ kind: 'ack' }))).toEqual([news.id])
  })

  it('lets no mail expire that was read, though it is shown again for want of an ack', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    const note = await ada.send({ to: 'bob', subject: 'Note', requiresAck: true, ttlMs: 20 * minute })
    expect(await check(bob)).toEqual([note.id])
    await on.pass(2 * hour, lookIn(lead, ada, bob))
    expect(await on.told('ada')).toEqual([])
    await bob.ack(note.id)
    expect(await on.space.owed()).toEqual([])
    expect((await on.space.show(note.id)).receipts).toMatchObject([{ recipient: 'bob', state: 'acked' }])
  })

  it.each(['fails', 'is deferred'] as const)(
    'takes back that a deadline was missed when the matter %s before anybody has read that',
    async (way) => {
      const on = await stage()
      const { lead, ada } = await trio(on)
      const request =
        way === 'fails'
          ? await assignTask(lead, { to: 'ada', subject: 'Build it', withinMs: hour })
          : await requestShutdown(lead, 'ada', { reason: 'Enough.', withinMs: hour })
      await check(ada)
      await on.pass(90 * minute, lookIn(lead, ada))
      expect((await on.told('lena')).filter(isAbout(request.id))).toHaveLength(1)
      if (way === 'fails') await ada.fail(request.id, { reason: 'the tests do not pass' })
      else await deferShutdown(ada, request.id, { reason: 'Finishing.' })
      const { messages } = await lead.check()
      expect(messages.map(({ from, replyTo }) => [from, replyTo])).toEqual([['ada', request.id]])
    },
  )

  it('says of mail that was read and not acknowledged that its reader has stopped, and when it is back', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    const note = await ada.send({ to: 'bob', subject: 'Note', requiresAck: true })
    expect(await check(bob)).toEqual([note.id])
    await bob.leave()
    await on.pass(15 * minute, lookIn(lead, ada))
    expect(subjectsOf(await on.told('ada'))).toEqual(['bob has stopped before it settled your message'])
    await check(ada)
    await on.space.join('bob')
    expect(subjectsOf((await ada.check()).messages)).toEqual(['bob is back and has your message'])
    expect(idsOf(await bob.owed())).toEqual([note.id])
  })

  it('says the same when it was shown again for want of an ack', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    await ada.send({ to: 'bob', subject: 'Note', requiresAck: true })
    await check(bob)
    await on.pass(30 * minute, lookIn(lead, ada))
    await bob.leave()
    await on.pass(15 * minute, lookIn(lead, ada))
    expect(subjectsOf(await on.told('ada'))).toEqual(['bob has stopped before it settled your message'])
  })

  it('takes that back when its reader is back and settles it before anybody has read that', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const bob = await on.agent('bob')
    const question = await ada.send({ to: 'bob', subject: 'Which one?', awaitingResponse: true })
    await check(bob)
    await bob.leave()
    await on.pass(15 * minute, lookIn(lead))
    await on.space.join('bob')
    const answer = await bob.reply(question.id, { body: 'This one.' })
    expect(await check(ada)).toEqual([answer.id])
  })

  it('takes that back while nobody has read it', async () => {
    const on = await stage()
    const { ada } = await trio(on)
    const bob = await on.agent('bob')
    await ada.send({ to: 'bob', subject: 'Note', requiresAck: true })
    await check(bob)
    await bob.leave()
    await on.space.runDue()
    await on.space.join('bob')
    await on.space.runDue()
    expect(await check(ada)).toEqual([])
  })

  it('keeps what became of the mail of the person for its hours', async () => {
    const on = await stage(friday)
    const person = await on.space.mailbox('user')
    const { mailbox: bob, kill } = await on.running('bob')
    const lead = await on.agent('lena', 'lead')
    const question = await person.send({ to: 'bob', subject: 'Which one?', awaitingResponse: true })
    await check(bob)
    await on.pass(3 * hour, lookIn(lead))
    await kill()
    await on.pass(56 * hour, lookIn(lead))
    // Sunday night: nothing rings, and on Monday there is one word about it.
    expect(await on.told('user')).toEqual([])
    await on.pass(7 * hour, lookIn(lead))
    expect((await on.told('user')).filter(isAbout(question.id))).toHaveLength(1)
  })

  it('does not call mail unread that has expired and waits for the hours of the person', async () => {
    const on = await stage(friday)
    const person = await on.space.mailbox('user')
    const { lead } = await trio(on)
    const bob = await on.agent('bob')
    await on.pass(3 * hour, lookIn(lead, bob))
    const alarm = await person.send({ to: 'bob', subject: 'Now!', priority: 'urgent', ttlMs: minute })
    await on.pass(hour, lookIn(lead, bob))
    expect(await on.told(...everybody)).toEqual([])
    await on.pass(62 * hour, lookIn(lead, bob))
    expect((await on.told(...everybody)).filter(isAbout(alarm.id)).map(({ to }) => to)).toEqual([['user']])
  })

  it('rings the person once in a night for urgent mail, though somebody took it and gave it back', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const otto = await on.agent('otto', 'oncall')
    await lead.leave()
    await on.pass(10 * hour, lookIn(ada, otto))
    const alarm = await ada.send({
      to: 'role:oncall',
      subject: 'Prod is down',
      priority: 'urgent',
      requiresAck: true,
    })
    await on.pass(30 * minute, lookIn(ada))
    expect((await on.told('user')).filter(isAbout(alarm.id))).toHaveLength(1)
    expect(await check(otto)).toEqual([alarm.id])
    await otto.leave()
    await on.pass(2 * hour, lookIn(ada))
    // The first word was taken back when it was read. In the morning it is said again.
    expect((await on.told('user')).filter(isAbout(alarm.id))).toHaveLength(0)
    await on.pass(12 * hour, lookIn(ada))
    expect((await on.told('user')).filter(isAbout(alarm.id))).toHaveLength(1)
  })

  it('says nothing of one who acknowledged and is gone, while another still has to', async () => {
    const on = await stage()
    const { lead, ada } = await trio(on)
    const { mailbox: bob, kill } = await on.running('bob')
    await on.agent('cy')
    const note = await ada.send({ to: ['bob', 'cy'], subject: 'Note', requiresAck: true })
    await check(bob)
    await bob.ack(note.id)
    await kill()
    await on.space.runDue()
    // What is done is done: nothing is said and taken back again and again.
    expect(await on.space.runDue()).toBe(0)
    await on.pass(15 * minute, lookIn(lead, ada))
    expect(await check(ada)).toEqual([])
  })

  it('does not bring back a notice that is no longer true when its reader was away as well', async () => {
    const on = await stage()
    const { mailbox: lead, kill } = await on.running('lena', 'lead')
    const bob = await on.agent('bob')
    const note = await lead.send({ to: 'bob', subject: 'Note', requiresAck: true })
    await check(bob)
    await bob.leave()
    await kill()
    await on.pass(25 * hour)
    expect(subjectsOf(await on.told('lena'))).toEqual(['bob has stopped before it settled your message'])
    await on.space.join('bob')
    await bob.ack(note.id)
    await on.space.join('lena', { roles: ['lead'] })
    expect(await check(lead)).toEqual([])
  })
})
