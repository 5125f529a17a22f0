import { describe, expect, test } from 'vitest'
import {
  acceptShutdown,
  assignTask,
  deferShutdown,
  type Mailbox,
  MailboxError,
  rejectPlan,
  requestShutdown,
  submitPlan,
} from '../../src/mod.ts'
import { clockAt, reopen, settle, subjects, subjectsAndStates, trio, within } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { untilRight } from '../helpers/wait.ts'

const noTime = { timeoutMs: 0 }

const stateOf = async (mailbox: Mailbox, subject: string) =>
  (await mailbox.inbox()).messages.find((message) => message.subject === subject)?.state

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

describe('waiting for several messages', () => {
  test('lasts until each of the questions has an answer', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const one = await ada.send({ to: 'bob', subject: 'one' })
    const other = await ada.send({ to: 'cy', subject: 'other' })
    const waiting = ada.waitForMessages({ replyTo: [one.id, other.id] })
    await settle()
    await bob.reply(one.id, { subject: 'first' })
    await bob.reply(one.id, { subject: 'and more' })
    await bob.send({ to: 'ada', subject: 'new' })
    await settle()
    // Nothing is marked before all is there: whoever is killed now loses nothing.
    expect(await ada.count()).toMatchObject({ unread: 3 })
    await cy.reply(other.id, { subject: 'last' })
    const found = await within(waiting)
    expect(found.map(({ subject, state }) => `${subject} ${state}`)).toEqual([
      ...['first shown', 'and more shown', 'last shown'],
    ])
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['new'])
  })

  test('takes as many as it was asked for, and leaves the others', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (const subject of ['a', 'b', 'c']) await bob.send({ to: 'ada', subject, type: 'request' })
    await bob.send({ to: 'ada', subject: 'other type' })
    const found = await ada.waitForMessages({ type: 'request', count: 2 })
    expect(subjects({ messages: found })).toEqual(['a', 'b'])
    const waiting = ada.waitForMessages({ type: 'request', from: ['cy', 'bob'], count: 2 })
    await settle()
    await bob.send({ to: 'ada', subject: 'd', type: 'request' })
    expect(subjects({ messages: await within(waiting) })).toEqual(['c', 'd'])
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['other type'])
  })

  test('for whatever comes gives all that is there, and waits while there is nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const waiting = ada.waitForMessages()
    await settle()
    await bob.send({ to: 'ada', subject: 'came' })
    expect(subjects({ messages: await within(waiting) })).toEqual(['came'])
    for (const subject of ['a', 'b', 'c']) await bob.send({ to: 'ada', subject })
    expect(subjects({ messages: await ada.waitForMessages() })).toEqual(['a', 'b', 'c'])
    expect(await ada.waitForMessages(noTime)).toEqual([])
  })

  test('ends with what came when the time is up', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const one = await ada.send({ to: 'bob' })
    const other = await ada.send({ to: 'bob' })
    await bob.reply(one.id, { subject: 'the only one' })
    const found = await ada.waitForMessages({ replyTo: [one.id, other.id], timeoutMs: 20 })
    expect(found).toMatchObject([{ subject: 'the only one', state: 'shown' }])
    expect(await ada.waitForMessages({ count: 2, ...noTime })).toEqual([])
  })

  test('takes nothing when it is aborted', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const stop = new AbortController()
    const waiting = ada.waitForMessages({ count: 2, signal: stop.signal })
    await settle()
    await bob.send({ to: 'ada', subject: 'kept' })
    await settle()
    stop.abort()
    await expect(within(waiting)).rejects.toMatchObject({ code: 'interrupted' })
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['kept'])
  })

  test('goes on when somebody else has taken one of them, and gives the other back when it is aborted', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const stop = new AbortController()
    let taken = 0
    // Another process of the same agent reads the first message between being found and being taken.
    const waiting = ada.waitForMessages({
      count: 2,
      signal: stop.signal,
      match: async ({ id, subject }) => {
        if (subject === 'second' && taken++ === 0) await ada.read((await ada.unread()).messages[0]!.id)
        return id !== ''
      },
    })
    await settle()
    await bob.send({ to: 'ada', subject: 'first' })
    await bob.send({ to: 'ada', subject: 'second' })
    await untilRight(async () => expect(await stateOf(ada, 'second')).toBe('shown'))
    stop.abort()
    await expect(within(waiting)).rejects.toMatchObject({ code: 'interrupted' })
    expect(subjectsAndStates(await ada.inbox())).toEqual(['first shown', 'second stored'])
  })

  test('for no question at all is over at once; a count that is none is refused', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'kept' })
    expect(await ada.waitForMessages({ replyTo: [] })).toEqual([])
    for (const count of [0, -1, 1.5, 1_001, Number.NaN])
      await expect(ada.waitForMessages({ count })).rejects.toMatchObject({ code: 'invalid' })
    await expect(ada.waitForMessages({ replyTo: ['nothing'] })).rejects.toMatchObject({ code: 'not_found' })
    expect(await ada.count()).toMatchObject({ unread: 1 })
  })

  test('of one for the first of several answers takes only that', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const [one, other] = [await ada.send({ to: 'bob' }), await ada.send({ to: 'bob' })]
    const waiting = ada.wait({ replyTo: [one.id, other.id] })
    await settle()
    await bob.reply(other.id, { subject: 'whichever is first' })
    expect(await within(waiting)).toMatchObject({ subject: 'whichever is first' })
  })
})

describe('waiting until something is settled', () => {
  test('says what became of a question, a plan and a task', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const question = await ada.send({ to: 'bob', awaitingResponse: true })
    const plan = await submitPlan(ada, { to: 'bob', subject: 'Plan', body: 'x' })
    const task = await assignTask(ada, { to: 'bob', subject: 'Task' })
    const ids = [question, plan, task].map(({ id }) => id)
    const waiting = ada.waitUntilSettled(ids)
    await settle()
    await bob.reply(question.id, { body: 'yes' })
    await rejectPlan(bob, plan.id, { feedback: 'no' })
    expect(await ada.waitUntilSettled(ids, { timeoutMs: 20 })).toMatchObject({
      settled: false,
      matters: [{ state: 'answered' }, { state: 'rejected' }, { state: 'open' }],
    })
    await bob.fail(task.id, { reason: 'it broke' })
    expect(await within(waiting)).toEqual({
      settled: true,
      matters: [
        { id: question.id, kind: 'question', to: 'bob', by: 'bob', state: 'answered' },
        { id: plan.id, kind: 'plan', to: 'bob', by: 'bob', state: 'rejected' },
        { id: task.id, kind: 'task', to: 'bob', by: 'bob', state: 'failed' },
      ],
    })
  })

  test('goes on while a shutdown is deferred, and counts what was withdrawn or has expired as over', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const { id } = await requestShutdown(ada, 'bob')
    await deferShutdown(bob, id, { reason: 'busy' })
    expect(await ada.waitUntilSettled(id, noTime)).toMatchObject({
      settled: false,
      matters: [{ state: 'deferred' }],
    })
    await acceptShutdown(bob, id)
    expect(await ada.waitUntilSettled(id)).toMatchObject({ settled: true, matters: [{ state: 'accepted' }] })

    const withdrawn = await ada.send({ to: 'bob', awaitingResponse: true })
    await ada.withdraw(withdrawn.id)
    const short = await ada.send({ to: 'bob', awaitingResponse: true, ttlMs: 1_000 })
    clock.advance(2_000)
    expect(await ada.waitUntilSettled([withdrawn.id, short.id])).toMatchObject({
      settled: true,
      matters: [{ state: 'void' }, { state: 'void' }],
    })
  })

  test('names who has the work of a role in hand, and is over at once for mail that asks for nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.update({ addRoles: ['worker'] })
    const task = await assignTask(ada, { to: 'role:worker', subject: 'Task' })
    await bob.claim(task.id)
    await bob.done(task.id)
    expect(await ada.waitUntilSettled(task.id)).toMatchObject({
      matters: [{ to: 'role:worker', by: 'bob', state: 'done' }],
    })
    const { id } = await ada.send({ to: 'bob', subject: 'to know' })
    expect(await ada.waitUntilSettled(id)).toEqual({ settled: true, matters: [] })
    await expect(ada.waitUntilSettled('nothing')).rejects.toMatchObject({ code: 'not_found' })
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

  test.each(['response', 'ack'])('is over with a reply of the type %s', async (type) => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    const waiting = ada.waitForAck(id, { timeoutMs: 2_000 })
    await settle()
    await bob.reply(id, { type })
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
