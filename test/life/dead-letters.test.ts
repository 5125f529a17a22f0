import { describe, expect, it } from 'vitest'
import { expectRefused, hour, minute, subjects } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { boxWith, byHand, journalOf, ladderOf, noticesTo, only, scene, startAgent, stateOf } from './stage.ts'

describe('dead letter: direct mail whose agent is gone, expired mail, too many attempts', () => {
  it('direct mail of an agent that left is one at once', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'late' })
    await bob.leave()
    expect(await ladderOf(space, id)).toEqual(['stored', 'dead'])
    expect(await noticesTo(space, 'ada')).toMatchObject([{ replyTo: id, subject: 'Not delivered to bob' }])
  })

  it('direct mail of an agent that died waits a day for it to come back', async () => {
    const space = await tempSpace()
    const ada = await byHand(space, 'ada')
    const bob = await startAgent(space.dir, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'wait for me' })
    await bob.kill()
    await space.runDue()
    expect(await stateOf(space, id)).toBe('stored')
    const back = await startAgent(space.dir, 'bob')
    expect((await back.does('check')).value.messages).toMatchObject([{ id }])
    expect(await noticesTo(space, 'ada')).toEqual([])
  })

  it('and then is one', async () => {
    const space = await tempSpace({ settings: { deadLetterAfterMs: 0 } })
    const ada = await byHand(space, 'ada')
    const bob = await startAgent(space.dir, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await bob.kill()
    await space.runDue()
    expect(only(await space.show(id))).toMatchObject({ state: 'dead', steps: [{}, { note: 'bob has died' }] })
    expect(await noticesTo(space, 'ada')).toHaveLength(1)
  })

  it('mail that came when the agent was gone already is one, too', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await space.leave('bob')
    const { id, warnings } = await ada.send({ to: 'bob' })
    expect(warnings).toEqual([expect.stringContaining('bob is gone')])
    await space.runDue()
    expect(await stateOf(space, id)).toBe('dead')
  })

  it('mail whose life ended unread is one, and nobody is shown it any more', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', ttlMs: minute })
    await pass(2 * minute)
    expect((await bob.check()).messages).toEqual([])
    expect(await ladderOf(space, id)).toEqual(['stored', 'expired'])
    expect(await noticesTo(space, 'ada')).toMatchObject([{ payload: { undelivered: [{ id, to: 'bob' }] } }])
  })

  it('mail that was read in time is not: its life is for those who have not seen it', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', ttlMs: minute })
    await bob.check()
    await pass(hour)
    expect(await stateOf(space, id)).toBe('shown')
    expect(await noticesTo(space, 'ada')).toEqual([])
  })

  it('group mail that somebody read is none, and that nobody read is one', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await byHand(space, 'cy')
    await ada.broadcast({ subject: 'read' })
    await bob.check()
    await ada.broadcast({ subject: 'unread' })
    await pass(5 * hour)
    const { letters } = await space.deadLetters()
    expect(letters.map(({ message }) => message.subject)).toEqual(['unread'])
    expect(await noticesTo(space, 'ada')).toHaveLength(1)
  })
})

describe('nothing is deleted: it is listed, can be re-sent to another address, and the sender is told', () => {
  it('`mailbox dead` lists it with its reason, and --resend sends it on', async () => {
    const box = await boxWith({}, 'ada', 'bob', 'cy')
    const { message } = await box.json(
      'send',
      'bob',
      '--as',
      'ada',
      '--subject',
      'Plan',
      '--body',
      'the text',
    )
    await box.ok('leave', 'bob')
    const { messages, next } = await box.json('dead')
    expect(messages).toMatchObject([
      { id: message.id, recipient: 'bob', state: 'dead', reason: 'bob has left', body: 'the text' },
    ])
    expect(next).toBeNull()
    const text = await box.ok('dead', '--from', 'ada')
    for (const word of ['ada', 'bob', 'Plan', message.id, 'bob has left']) expect(text).toContain(word)
    expect(await box.ok('dead', '--from', 'cy')).toBe('no dead letters\n')

    const [told] = (await box.json('check', '--as', 'ada')).messages
    expect(told).toMatchObject({ from: 'system', type: 'error', subject: 'Not delivered to bob' })
    expect(told!.body).toContain('mailbox dead --resend')

    const again = await box.json('dead', '--as', 'ada', '--resend', message.id, '--to', 'cy')
    expect(again.message).toMatchObject({
      from: 'ada',
      to: ['cy'],
      subject: 'Plan',
      threadId: message.threadId,
    })
    expect((await box.json('check', '--as', 'cy')).messages).toMatchObject([{ body: 'the text' }])
    expect((await box.json('dead')).messages).toEqual([])
    const { receipts } = await box.json('show', message.id)
    expect(receipts[0]!.steps.at(-1)).toMatchObject({
      state: 'archived',
      by: 'ada',
      note: `resent as ${again.message.id}`,
    })
  })

  it('the person may re-send as well, others may not, and a letter that lives cannot be', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const cy = await byHand(space, 'cy')
    await byHand(space, 'bob')
    const living = await ada.send({ to: 'bob' })
    await expectRefused(space, 'conflict', () => ada.resend(living.id, 'cy'))
    await space.leave('bob')
    await expectRefused(space, 'not_permitted', () => cy.resend(living.id, 'cy'))
    const user = await space.mailbox('user')
    expect(await noticesTo(space, 'ada')).toHaveLength(1)
    expect(await user.resend(living.id, 'cy')).toMatchObject({ from: 'user', to: ['cy'] })
    // What ada was told and has not read is not so any more.
    expect((await ada.inbox()).messages).toEqual([])
    await expectRefused(space, 'conflict', () => ada.resend(living.id, 'cy'))
  })

  it('a sender is told once of many, and never twice of one', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    for (let n = 0; n < 30; n++) await ada.send({ to: 'bob', ttlMs: minute })
    await pass(hour)
    await pass(hour)
    const told = await noticesTo(space, 'ada')
    expect(told).toMatchObject([{ subject: '30 messages were not delivered' }])
    expect((told[0]!.payload as { undelivered: unknown[] }).undelivered).toHaveLength(30)
  })

  it("what the system says is nobody's loss: no notice about a notice", async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await ada.send({ to: 'bob', ttlMs: minute })
    for (let days = 0; days < 5; days++) await pass(25 * hour)
    const fromSystem = (await journalOf(space)).filter(
      (entry) => entry.kind === 'message' && entry.message.from === 'system',
    )
    expect(fromSystem).toHaveLength(1)
  })

  it('pages go through all of them', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    for (let n = 0; n < 7; n++) await ada.send({ to: 'bob', subject: `n${n}`, ttlMs: minute })
    await pass(hour)
    const found: string[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const page = await space.deadLetters({ limit: 3, ...(after === undefined ? {} : { after }) })
      found.push(...page.letters.map(({ message }) => message.subject))
      after = page.next
    }
    expect(found).toEqual(['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0'])
  })

  it('a successor under the name gets what became a dead letter only because nobody was there', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'for whoever is bob' })
    await space.leave('bob')
    expect(await stateOf(space, id)).toBe('dead')
    const next = await byHand(space, 'bob')
    expect(subjects(await next.check())).toEqual(['for whoever is bob'])
    expect(await ladderOf(space, id)).toEqual(['stored', 'dead', 'revived', 'shown'])
  })
})
