import { describe, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { expectRefused, hour, minute, subjects } from '../helpers/scene.ts'
import { agentNamed, byHand, ladderOf, noticesTo, only, rungs, scene, second, stateOf } from './stage.ts'

describe('stored -> notified -> shown -> acked -> processing -> completed | failed -> archived', () => {
  it('each step has its time and its actor, and the sender sees the ladder', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'Plan' })
    clock.advance(second)
    await bob.check()
    clock.advance(second)
    await bob.ack(id, { note: 'on it' })
    clock.advance(second)
    await bob.start(id)
    clock.advance(second)
    await bob.done(id, { note: 'merged' })
    const at = (seconds: number) => `2026-11-15T10:00:0${seconds}.000Z`
    expect(only(await ada.show(id))).toEqual({
      recipient: 'bob',
      state: 'archived',
      attempts: 0,
      repeats: 0,
      steps: [
        { state: 'stored', at: at(0), by: 'ada' },
        { state: 'shown', at: at(1), by: 'bob' },
        { state: 'acked', at: at(2), by: 'bob', note: 'on it' },
        { state: 'processing', at: at(3), by: 'bob' },
        { state: 'completed', at: at(4), by: 'bob', note: 'merged' },
        { state: 'archived', at: at(4), by: 'bob' },
      ],
    })
  })

  it('the sender sees the ladder with `mailbox show ID`', async () => {
    const box = await createBox('ada', 'bob')
    const { message } = await box.json('send', 'bob', '--as', 'ada', '--subject', 'Plan')
    await box.ok('check', '--as', 'bob')
    await box.ok('ack', message.id, '--as', 'bob')
    const { receipts } = await box.json('show', message.id, '--as', 'ada')
    expect(rungs(receipts[0]!.steps)).toEqual(['stored', 'shown', 'acked'])
    const text = await box.ok('show', message.id)
    expect(text).toMatch(/^bob: acked$/m)
    expect(text).toMatch(/^ {2}stored {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}.+ {2}by ada$/m)
    expect(text).toMatch(/^ {2}shown {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}.+ {2}by bob$/m)
    expect(text).toMatch(/^ {2}acked {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}.+ {2}by bob$/m)
  })

  it('one ladder per message and recipient', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const cy = await byHand(space, 'cy', 'r')
    const { id } = await ada.send({ to: ['bob', 'role:r'] })
    await bob.check()
    expect((await ada.show(id)).receipts.map(({ recipient, state }) => `${recipient} ${state}`)).toEqual([
      'bob shown',
      'role:r stored',
    ])
    await cy.done(id)
    expect((await ada.show(id)).receipts.map(({ recipient, state }) => `${recipient} ${state}`)).toEqual([
      'bob shown',
      'role:r archived',
    ])
  })
})

describe("`shown` means that the text was handed into the agent's context, not that it was queued", () => {
  it('so looking and counting leave it stored', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await bob.inbox()
    await bob.count()
    await bob.show(id)
    await bob.search('is:unread')
    for await (const message of bob.watch()) {
      expect(message.id).toBe(id)
      break
    }
    expect(await ladderOf(space, id)).toEqual(['stored'])
  })

  it('check, read and wait hand it over', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const takes = [
      async () => (await bob.check()).messages[0]!.id,
      async (id: string) => (await bob.read(id)).id,
      async () => (await bob.wait({ timeoutMs: 0 }))!.id,
    ]
    for (const take of takes) {
      const { id } = await ada.send({ to: 'bob' })
      expect(await take(id)).toBe(id)
      expect(await ladderOf(space, id)).toEqual(['stored', 'shown'])
    }
  })

  it('and what did not fit into the budget is still stored', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await ada.send({ to: 'bob', subject: 'short' })
    const long = await ada.send({ to: 'bob', body: 'word '.repeat(400) })
    const checked = await bob.check({ budgetTokens: 50 })
    expect(subjects(checked)).toEqual(['short'])
    expect(checked.remaining.unread).toBe(1)
    expect(await stateOf(space, long.id)).toBe('stored')
  })
})

describe('failed can be retried; completed archives by default', () => {
  it('failed, retried, shown again and done', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'build' })
    await bob.check()
    await bob.fail(id, { reason: 'no compiler' })
    expect((await bob.check()).messages).toEqual([])
    await bob.retry(id)
    expect(subjects(await bob.check())).toEqual(['build'])
    await bob.done(id)
    expect(await ladderOf(space, id)).toEqual([
      ...['stored', 'shown', 'failed', 'retried', 'shown'],
      ...['completed', 'archived'],
    ])
    expect(only(await space.show(id)).steps[2]).toMatchObject({ by: 'bob', note: 'no compiler' })
  })

  it("a role's mail that failed is the role's again when it is retried, as another attempt", async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const cy = await byHand(space, 'cy', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    await bob.fail(id, { reason: 'no' })
    expect(await cy.claimNext('r')).toBeNull()
    await bob.retry(id)
    expect((await cy.claimNext('r'))?.claim).toMatchObject({ agent: 'cy', attempt: 2 })
  })

  it('completed without archiving stays in the inbox', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await bob.done(id, { archive: false })
    expect(await ladderOf(space, id)).toEqual(['stored', 'completed'])
    await bob.archive(id)
    expect(await stateOf(space, id)).toBe('archived')
  })
})

describe('a message that requiresAck and is not acked in time (default 15 min after shown)', () => {
  it('is shown again as a repeat with the same id, then escalates to the lead, then to the person', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const lea = await byHand(space, 'lea', 'lead')
    const { id } = await ada.send({ to: 'bob', subject: 'Merge?', requiresAck: true })
    await bob.check()
    await pass(14 * minute)
    expect((await bob.check()).messages).toEqual([])
    await pass(2 * minute)
    expect((await bob.check()).messages.map((message) => message.id)).toEqual([id])
    expect(await noticesTo(space, 'role:lead')).toEqual([])

    await pass(16 * minute)
    expect((await bob.check()).messages).toEqual([])
    const [toLead] = (await lea.check()).messages
    expect(toLead).toMatchObject({
      from: 'system',
      type: 'escalation',
      priority: 'high',
      replyTo: id,
      subject: 'bob has not acknowledged a message from ada',
      payload: { notice: 'ack', id, recipient: 'bob' },
    })
    expect(await noticesTo(space, 'user')).toEqual([])

    await pass(16 * minute)
    expect(await noticesTo(space, 'user')).toMatchObject([{ type: 'escalation', replyTo: id }])
    await pass(24 * hour)
    expect(await noticesTo(space, 'user')).toHaveLength(1)
    expect(await noticesTo(space, 'role:lead')).toHaveLength(1)

    const { steps, repeats } = only(await ada.show(id))
    expect(rungs(steps)).toEqual(['stored', 'shown', 'repeated', 'shown', 'escalated', 'escalated'])
    expect(repeats).toBe(1)
    expect(steps.slice(4)).toMatchObject([
      { by: 'system', note: 'no ack came: role:lead was told' },
      { by: 'system', note: 'no ack came: user was told' },
    ])
  })

  it('is left in peace once it is acked', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    await bob.check()
    await pass(10 * minute)
    await bob.ack(id)
    await pass(10 * hour)
    expect(await ladderOf(space, id)).toEqual(['stored', 'shown', 'acked'])
    expect(await ada.waitForAck(id, { timeoutMs: 0 })).toBe(true)
  })

  it('an ack after the repeat ends it as well', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    await bob.check()
    await pass(16 * minute)
    await bob.ack(id)
    await pass(3 * hour)
    expect(await ladderOf(space, id)).toEqual(['stored', 'shown', 'repeated', 'acked'])
  })

  it('goes straight to the person where nobody leads', async () => {
    const { space, pass } = await scene({ ackRepeats: 0 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    await bob.check()
    await pass(16 * minute)
    expect(await noticesTo(space, 'user')).toMatchObject([{ payload: { notice: 'ack', id } }])
    await pass(hour)
    expect(await noticesTo(space, 'user')).toHaveLength(1)
  })

  it('of a group is one ladder for each who saw it', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob'), await byHand(space, 'cy')]
    const { id } = await ada.broadcast({ subject: 'all hands', requiresAck: true })
    await bob.check()
    await cy.check()
    await cy.ack(id)
    await pass(16 * minute)
    expect(subjects(await bob.check())).toEqual(['all hands'])
    expect((await cy.check()).messages).toEqual([])
  })
})

describe('urgent mail that nobody reads', () => {
  it('is told to the lead after 5 min and to the person after 10, and says so in its ladder', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await byHand(space, 'lea', 'lead')
    const { id } = await ada.send({ to: 'bob', subject: 'fire', priority: 'urgent' })
    await pass(4 * minute)
    expect(await ladderOf(space, id)).toEqual(['stored'])
    await pass(2 * minute)
    expect(await noticesTo(space, 'role:lead')).toMatchObject([
      { subject: 'bob has not read an urgent message from ada', replyTo: id },
    ])
    expect(await noticesTo(space, 'user')).toEqual([])
    await pass(5 * minute)
    expect(await noticesTo(space, 'user')).toHaveLength(1)
    await pass(12 * hour)
    expect(await ladderOf(space, id)).toEqual(['stored', 'escalated', 'escalated'])
    expect(await noticesTo(space, 'role:lead')).toHaveLength(1)
  })

  it('of the person itself is told to nobody', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'lea', 'lead')
    await ada.send({ to: 'user', priority: 'urgent' })
    await pass(hour)
    expect(await noticesTo(space, 'role:lead')).toEqual([])
    expect(await noticesTo(space, 'user')).toEqual([])
  })

  it('normal mail is marked as stale after an hour, and nobody is bothered', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'some day' })
    await pass(59 * minute)
    expect(await ladderOf(space, id)).toEqual(['stored'])
    await pass(2 * minute)
    expect(await ladderOf(space, id)).toEqual(['stored', 'stale'])
    expect(await noticesTo(space, 'user')).toEqual([])
    expect(subjects(await bob.check())).toEqual(['some day'])
  })
})

describe('`withdraw` before it is shown', () => {
  it('takes it out of the inbox, and says so', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await ada.withdraw(id)
    expect((await bob.check()).messages).toEqual([])
    expect((await bob.count()).unread).toBe(0)
    expect(await ladderOf(space, id)).toEqual(['stored', 'withdrawn'])
    await expectRefused(space, 'conflict', () => bob.ack(id))
  })

  it("is refused when it was shown, or is somebody else's", async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await expectRefused(space, 'not_permitted', () => bob.withdraw(id))
    await bob.check()
    await expectRefused(space, 'conflict', () => ada.withdraw(id))
  })
})

describe('`supersede` replaces an older unread message of the same sender and thread', () => {
  it("the old one is withdrawn with the new one's id, and only the new one is read", async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const old = await ada.send({ to: 'bob', subject: 'at 10' })
    const fresh = await ada.send({ to: 'bob', subject: 'at 11', threadId: old.id, supersede: true })
    expect(subjects(await bob.check())).toEqual(['at 11'])
    expect(only(await space.show(old.id)).steps[1]).toMatchObject({
      state: 'withdrawn',
      by: 'ada',
      note: `superseded by ${fresh.id}`,
    })
  })

  it('what was seen was said: both stand, and the sender is warned', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const old = await ada.send({ to: 'bob', subject: 'at 10' })
    await bob.check()
    const fresh = await ada.send({ to: 'bob', threadId: old.id, supersede: old.id })
    expect(fresh.warnings).toEqual([expect.stringContaining('already been seen by bob')])
    expect(await stateOf(space, old.id)).toBe('shown')
    expect((await bob.check()).messages).toHaveLength(1)
  })

  it("never touches another sender's message or another thread", async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const cy = await byHand(space, 'cy')
    const theirs = await cy.send({ to: 'bob' })
    const other = await ada.send({ to: 'bob' })
    const replace = (supersede: string, threadId: string) => () =>
      ada.send({ to: 'bob', threadId, supersede })
    await expectRefused(space, 'not_permitted', replace(theirs.id, theirs.id))
    await expectRefused(space, 'conflict', replace(other.id, theirs.id))
    expect((await bob.count()).unread).toBe(2)
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })
})
