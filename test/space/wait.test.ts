import { describe, expect, test } from 'vitest'
import { type Mailbox, MailboxError } from '../../src/mod.ts'
import { reopen, settle, subjects, subjectsAndStates, trio, within } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

const noTime = { timeoutMs: 0 }

/** Lets all of them wait while something is sent; the subjects of what they got before they were stopped. */
async function race(mailboxes: Mailbox[], send: () => Promise<unknown>): Promise<string[]> {
  const controller = new AbortController()
  const waiting = mailboxes.map((mailbox) => mailbox.wait({ signal: controller.signal }))
  await settle()
  await send()
  await within(Promise.race(waiting))
  await settle()
  controller.abort()
  const ends = await within(Promise.allSettled(waiting))
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value!.subject] : []))
}

describe('waiting for mail', () => {
  test('takes at once what is there, and marks it as shown', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'there' })
    expect(await ada.wait()).toMatchObject({ subject: 'there', state: 'shown' })
    expect(subjectsAndStates(await ada.inbox())).toEqual(['there shown'])
  })

  test('lasts until mail comes', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const waiting = ada.wait()
    await settle()
    await bob.send({ to: 'ada', subject: 'came' })
    expect(await within(waiting)).toMatchObject({ subject: 'came', state: 'shown' })
  })

  test('is woken by mail that another process sends', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const bob = await (await reopen(space)).mailbox('bob')
    const waiting = ada.wait()
    await settle()
    await bob.send({ to: 'ada', subject: 'from afar' })
    expect(await within(waiting)).toMatchObject({ subject: 'from afar' })
  })

  test('takes the most urgent of what is there', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'a' })
    await bob.send({ to: 'ada', subject: 'b', priority: 'urgent' })
    expect(await ada.wait()).toMatchObject({ subject: 'b' })
    expect(await ada.wait()).toMatchObject({ subject: 'a' })
    expect(await ada.wait(noTime)).toBeNull()
  })

  test('for a type keeps everything else unread', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'other', priority: 'urgent' })
    const waiting = ada.wait({ type: ['plan_approval', 'shutdown_request'] })
    await settle()
    await bob.send({ to: 'ada', subject: 'another' })
    await bob.send({ to: 'ada', subject: 'wanted', type: 'plan_approval' })
    expect(await within(waiting)).toMatchObject({ subject: 'wanted' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['other', 'another'])
  })

  test('for a sender keeps the mail of others', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const waiting = ada.wait({ from: 'cy' })
    await settle()
    await bob.send({ to: 'ada', subject: 'from bob' })
    await cy.send({ to: 'ada', subject: 'from cy' })
    expect(await within(waiting)).toMatchObject({ subject: 'from cy' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['from bob'])
  })

  test('for an answer keeps everything that is none', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const [one, other] = [await ada.send({ to: 'bob' }), await ada.send({ to: 'bob' })]
    const waiting = ada.wait({ replyTo: one.id })
    await settle()
    await bob.reply(other.id, { subject: 'to the other' })
    await bob.send({ to: 'ada', subject: 'new' })
    await bob.reply(one.id, { subject: 'the answer' })
    expect(await within(waiting)).toMatchObject({ subject: 'the answer', replyTo: one.id })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['to the other', 'new'])
  })

  test('for an answer finds it behind a full inbox', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob' })
    await Promise.all(Array.from({ length: 250 }, () => bob.send({ to: 'ada' })))
    await bob.reply(question.id, { subject: 'the answer' })
    expect(await ada.wait({ replyTo: question.id, ...noTime })).toMatchObject({ subject: 'the answer' })
  })

  test('for an answer to nothing is refused', async () => {
    const { ada } = await trio(await tempSpace())
    await expect(ada.wait({ replyTo: 'nothing' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('ends with null when the time is up', async () => {
    const { ada } = await trio(await tempSpace())
    expect(await ada.wait({ timeoutMs: 20 })).toBeNull()
  })

  test('of more time than a timer holds is still a wait', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    try {
      const waiting = ada.wait({ timeoutMs: 2 ** 31 })
      await settle()
      await bob.send({ to: 'ada', subject: 'came' })
      expect(await within(waiting)).toMatchObject({ subject: 'came' })
      await settle()
    } finally {
      process.off('warning', note)
    }
    expect(warnings).toEqual([])
  })

  test('throws interrupted when it is aborted, and loses nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const controller = new AbortController()
    const waiting = ada.wait({ signal: controller.signal, from: 'cy' })
    await settle()
    await bob.send({ to: 'ada', subject: 'kept' })
    controller.abort()
    const error = await within(waiting.catch((thrown: unknown) => thrown))
    expect(error).toBeInstanceOf(MailboxError)
    expect(error).toMatchObject({ code: 'interrupted' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['kept'])
  })

  test('that is aborted before it begins takes nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'kept' })
    await expect(ada.wait({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'interrupted' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['kept'])
  })

  test('of two for the same mail ends for one of them', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const winners = await race([ada, ada], () => bob.send({ to: 'ada', subject: 'one' }))
    expect(winners).toEqual(['one'])
  })

  test('for the mail of a role claims it', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const winners = await race([ada, bob], () => cy.send({ to: 'role:r', subject: 'work' }))
    expect(winners).toEqual(['work'])
  })

  test('sees mail that a new role brings', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    await bob.send({ to: 'role:r', subject: 'waiting for somebody' })
    const waiting = ada.wait()
    await settle()
    await ada.update({ addRoles: ['r'] })
    expect(await within(waiting)).toMatchObject({ subject: 'waiting for somebody' })
  })
})

describe('waiting for an ack', () => {
  test('lasts until the recipient has acked', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    const waiting = ada.waitForAck(id)
    await settle()
    await bob.read(id)
    await bob.ack(id)
    expect(await within(waiting)).toBe(true)
  })

  test('is over at once when more than that has happened', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob' })
    await bob.done(id)
    expect(await ada.waitForAck(id)).toBe(true)
  })

  test('is false when the time is up; being shown is not enough', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob' })
    await bob.read(id)
    expect(await ada.waitForAck(id, { timeoutMs: 20 })).toBe(false)
  })

  test('throws interrupted when it is aborted', async () => {
    const { ada } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob' })
    const controller = new AbortController()
    const waiting = ada.waitForAck(id, { signal: controller.signal })
    await settle()
    controller.abort()
    await expect(within(waiting)).rejects.toMatchObject({ code: 'interrupted' })
  })

  test('of a message that is not there is refused', async () => {
    const { ada } = await trio(await tempSpace())
    await expect(ada.waitForAck('nothing')).rejects.toMatchObject({ code: 'not_found' })
  })
})
