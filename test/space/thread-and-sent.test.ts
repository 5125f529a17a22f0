import { describe, expect, test } from 'vitest'
import { expectRefused, subjects, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

describe('a reply', () => {
  test('goes to the sender, in the thread, and is no more urgent than it says itself', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', subject: 'Plan', priority: 'high' })
    const answer = await bob.reply(question.id, { body: 'fine' })
    expect(answer).toMatchObject({
      from: 'bob',
      to: ['ada'],
      subject: 'Re: Plan',
      type: 'response',
      priority: 'normal',
      replyTo: question.id,
      threadId: question.id,
      body: 'fine',
    })
    expect(subjects(await ada.inbox())).toEqual(['Re: Plan'])
    expect(await bob.reply(question.id, { priority: 'urgent' })).toMatchObject({ priority: 'urgent' })
  })

  test('has no subject if what it answers has none', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob', body: 'why' })
    expect(await bob.reply(id, { body: 'so' })).toMatchObject({ subject: '' })
  })

  test('to a reply stays in the thread, and Re: comes once', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', subject: 'Plan' })
    const answer = await bob.reply(question.id)
    const thanks = await ada.reply(answer.id)
    expect(thanks).toMatchObject({
      to: ['bob'],
      subject: 'Re: Plan',
      replyTo: answer.id,
      threadId: question.id,
    })
  })

  test('to what one has written oneself goes where that went', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const first = await ada.send({ to: ['bob', 'cy'], subject: 'Plan' })
    await ada.reply(first.id, { body: 'one more thing' })
    expect(subjects(await bob.inbox())).toEqual(['Plan', 'Re: Plan'])
    expect(subjects(await cy.inbox())).toEqual(['Plan', 'Re: Plan'])
  })

  test('can say everything otherwise', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', subject: 'Plan' })
    const answer = await bob.reply(question.id, { to: 'cy', subject: 'Look', type: 'text', priority: 'low' })
    expect(answer).toMatchObject({
      to: ['cy'],
      subject: 'Look',
      type: 'text',
      priority: 'low',
      threadId: question.id,
    })
  })

  test('may name the message by the beginning of its id', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob' })
    expect((await bob.reply(question.id.slice(0, 30))).replyTo).toBe(question.id)
  })

  test('to a subject of the greatest length fits', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', subject: 'x'.repeat(500) })
    expect((await bob.reply(question.id)).subject).toHaveLength(500)
  })

  test('to nothing is refused', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await expectRefused(space, 'not_found', () => ada.reply('019a8000-0000-7000-8000-000000000001'))
  })

  test('to the system is refused: it reads no mail', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const system = space.mailboxInside('system')
    const { id } = await system.send({ to: 'ada', subject: 'notice' })
    await expectRefused(space, 'not_permitted', () => ada.reply(id))
  })
})

describe('a thread', () => {
  test('has all its messages, oldest first, by whichever of them one asks', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', subject: 'Plan', priority: 'low' })
    await cy.send({ to: 'ada', subject: 'noise' })
    const answer = await bob.reply(question.id, { subject: 'answer', priority: 'urgent' })
    const thanks = await ada.reply(answer.id, { subject: 'thanks' })
    for (const { id } of [question, answer, thanks]) {
      expect((await cy.thread(id)).map(({ subject }) => subject)).toEqual(['Plan', 'answer', 'thanks'])
    }
  })

  test('can have a name of its own', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.send({ to: 'bob', subject: 'a', threadId: 'release-2' })
    await bob.send({ to: 'ada', subject: 'b', threadId: 'release-2' })
    expect((await ada.thread('release-2')).map(({ subject }) => subject)).toEqual(['a', 'b'])
  })

  test('of one message is that message', async () => {
    const { ada } = await trio(await tempSpace())
    const { warnings: _, ...alone } = await ada.send({ to: 'bob' })
    expect(await ada.thread(alone.id)).toEqual([{ ...alone, signature: 'signed' }])
  })

  test('of nothing is refused', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await expectRefused(space, 'not_found', () => ada.thread('no-such-thread'))
  })

  test('does not mark anything as read', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada' })
    await ada.thread(id)
    expect((await ada.count()).unread).toBe(1)
  })
})

describe('what an agent has sent', () => {
  test('has the newest first, whoever it was for, in pages', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const addresses = ['bob', 'all', 'role:r', 'project:p', 'bob']
    for (const [n, to] of addresses.entries()) await ada.send({ to, subject: String(n) })
    await bob.send({ to: 'ada', subject: 'not mine' })
    expect(subjects(await ada.sent())).toEqual(['4', '3', '2', '1', '0'])
    const first = await ada.sent({ limit: 2 })
    expect(subjects(first)).toEqual(['4', '3'])
    await ada.send({ to: 'bob', subject: 'later' })
    const second = await ada.sent({ limit: 2, after: first.next! })
    expect(subjects(second)).toEqual(['2', '1'])
    expect(await ada.sent({ limit: 2, after: second.next! })).toMatchObject({
      messages: [{ subject: '0' }],
      next: null,
    })
  })
})
