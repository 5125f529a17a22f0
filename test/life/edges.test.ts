/** Edges of the life of messages and agents, where one rule meets another. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { assignTask, type Mailbox, openSpace } from '../../src/mod.ts'
import { expectRefused, hour, minute, subjects, within } from '../helpers/scene.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import {
  agentNamed,
  boxWith,
  byHand,
  ladderOf,
  noticesTo,
  only,
  scene,
  startAgent,
  stateOf,
} from './stage.ts'

describe('a claim', () => {
  it('is free when the claimant died, although it is back under its name before anybody looked', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const first = await startAgent(space.dir, 'worker', { roles: ['r'] })
    const { id } = await ada.send({ to: 'role:r', subject: 'work' })
    await first.does('claimNext', 'r')
    await first.kill()
    const second = await startAgent(space.dir, 'worker', { roles: ['r'] })
    expect(second.generation).toBe(2)
    expect((await second.does('claimNext', 'r')).value).toMatchObject({
      message: { id },
      claim: { attempt: 2 },
    })
  })

  it('that failed is for whoever asked, also when whoever failed it is gone', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const cy = await byHand(space, 'cy', 'r')
    const { id } = await assignTask(ada, { to: 'role:r', subject: 'work' })
    await bob.claim(id)
    await bob.fail(id, { reason: 'no' })
    await bob.leave()
    await pass(hour)
    expect(await cy.claimNext('r')).toBeNull()
    expect(await ada.owed()).toMatchObject([{ id, by: 'ada', state: 'failed' }])
  })
})

describe('an agent that has left', () => {
  it('takes no work before it joins again: nobody would count on it', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    await bob.leave()
    await expect(bob.claim(id)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('an agent that was silent for a day', () => {
  it('is alive again as soon as it does something', async () => {
    const { space, pass, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await pass(25 * hour)
    expect((await agentNamed(space, 'bob')).state).toBe('dead')
    await ada.send({ to: 'bob', subject: 'one' })
    clock.advance(minute)
    expect(subjects(await bob.check())).toEqual(['one'])
    clock.advance(10 * minute)
    await ada.send({ to: 'bob', subject: 'two' })
    expect(subjects(await bob.check())).toEqual(['two'])
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })

  it('was not silent when it looked for mail and there was none', async () => {
    const { space, clock } = await scene()
    const bob = await byHand(space, 'bob')
    for (let hours = 0; hours < 30; hours++) {
      clock.advance(hour)
      await bob.check()
    }
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })

  it('on another machine is alive again with its next heartbeat', async () => {
    const { space, pass, clock } = await scene()
    await space.join('far', { session: { pid: 77, host: 'elsewhere', pidStart: 'x.1/9' } })
    const far = await space.mailbox('far', { join: false })
    await pass(6 * minute)
    expect((await agentNamed(space, 'far')).state).toBe('dead')
    clock.advance(minute)
    await far.heartbeat()
    expect((await agentNamed(space, 'far')).state).toBe('alive')
  })

  it('gets what came while it counted as dead with its next check, and is alive', async () => {
    const { space, pass, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await pass(25 * hour)
    await pass(10 * minute)
    await ada.send({ to: 'bob', subject: 'one' })
    clock.advance(minute)
    expect(subjects(await bob.check())).toEqual(['one'])
    clock.advance(minute)
    await space.runDue()
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })
})

describe('an agent that joined with a pid', () => {
  it('of a process that is not there is refused', async () => {
    const { space } = await scene()
    const gone = await startAgent(space.dir, 'short')
    await gone.kill()
    const join = () => space.join('late', { session: { pid: gone.pid } })
    await expectRefused(space, 'not_found', join)
  })
})

describe('mail that wants an ack', () => {
  it('is escalated even when its repeat is never looked at', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await byHand(space, 'lea', 'lead')
    const { id } = await ada.send({ to: 'bob', requiresAck: true, ttlMs: null })
    await bob.check()
    for (let quarter = 0; quarter < 8; quarter++) await pass(16 * minute)
    expect(await ladderOf(space, id)).toContain('escalated')
    expect(await noticesTo(space, 'role:lead')).toHaveLength(1)
  })
})

describe('mail that was shown', () => {
  const ways: [
    string,
    (bob: Mailbox, id: string, pass: (ms: number) => Promise<void>) => Promise<unknown>,
  ][] = [
    ['waits as a repeat', (_bob, _id, pass) => pass(16 * minute)],
    ['was given back', (bob, id) => bob.release(id)],
    ['failed and is retried', (bob, id) => bob.fail(id, { reason: 'no' }).then(() => bob.retry(id))],
  ]

  it.each(ways)('cannot be withdrawn, although it %s: what was read was said', async (_, goBack) => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    await bob.check()
    await goBack(bob, id, pass)
    expect(await stateOf(space, id)).toBe('stored')
    await expect(ada.withdraw(id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is not shown as new to the same agent when it died and is back', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await ada.send({ to: 'bob', subject: 'old news', ttlMs: null })
    await bob.check()
    await pass(25 * hour)
    await pass(10 * minute)
    const back = await byHand(space, 'bob')
    expect(subjects(await back.check())).toEqual([])
  })
})

describe('a clock that was set right by three hours', () => {
  it('is right for those as well who were there before: nobody loses a claim to a newcomer', async () => {
    const dir = tempDir()
    await using before = await openSpace({ dir, settings: testSettings })
    const old = await byHand(before, 'old', 'r')
    await byHand(before, 'young', 'r')
    const ada = await byHand(before, 'ada')
    const right = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => right() + 3 * hour)
    onTestFinished(() => void vi.restoreAllMocks())
    await using after = await openSpace({ dir, settings: testSettings })
    // It looks about once a second.
    await until(() => before.now() >= after.now() - hour)
    const { id } = await ada.send({ to: 'role:r' })
    await old.claim(id)
    const young = await after.mailbox('young', { join: false })
    await expect(young.claim(id)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('whoever waits anyway does what is due', () => {
  it('also when it watches', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '1s')
    const watching = box.start(['watch', '--as', 'ada', '--json'])
    await within(watching.says('Not delivered'), 10_000)
  })
})

describe('urgent mail', () => {
  it('whose life is over is not escalated as well', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await byHand(space, 'lea', 'lead')
    const { id } = await ada.send({ to: 'bob', priority: 'urgent', ttlMs: 2 * minute })
    await pass(6 * minute)
    expect(await stateOf(space, id)).toBe('expired')
    expect(await noticesTo(space, 'role:lead')).toEqual([])
  })

  it('that waits for a claimant whose time and ack ran out together is not escalated without a trace', async () => {
    const { space, pass } = await scene({ ackRepeats: 0 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    await byHand(space, 'lea', 'lead')
    const { id } = await ada.send({ to: 'role:r', requiresAck: true })
    await bob.claim(id)
    await pass(16 * minute)
    const told = await noticesTo(space, 'role:lead')
    const steps = await ladderOf(space, id)
    expect(steps.filter((step) => step === 'escalated')).toHaveLength(told.length)
  })
})

describe('a dead letter', () => {
  it('is none when the agent has read it before it left, and nobody asked for more', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'just so you know' })
    await bob.check()
    await bob.leave()
    expect(await noticesTo(space, 'ada')).toEqual([])
    expect(await stateOf(space, id)).not.toBe('dead')
  })

  it('is counted as often as it is listed: mail to a frozen agent waits', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await ada.send({ to: 'bob', ttlMs: minute })
    await bob.leave({ frozen: true })
    await pass(hour)
    expect((await space.deadLetters()).letters).toEqual([])
    expect((await space.stats()).deadLetters).toBe(0)
  })

  it('is listed on one page or the next for each of its recipients', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    for (const name of ['bob', 'cy']) {
      await byHand(space, name)
      await space.leave(name)
    }
    await ada.send({ to: ['bob', 'cy'] })
    await space.runDue()
    const first = await space.deadLetters({ limit: 1 })
    const second = await space.deadLetters({ limit: 1, after: first.next! })
    const listed = [...first.letters, ...second.letters].map(({ recipient }) => recipient)
    expect(listed.toSorted()).toEqual(['bob', 'cy'])
  })

  it('can be sent again as soon as it is listed', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    for (const name of ['bob', 'cy']) await byHand(space, name)
    const { id } = await ada.send({ to: 'bob', ttlMs: minute })
    clock.advance(hour)
    const { letters } = await space.deadLetters()
    expect(letters.map(({ message }) => message.id)).toEqual([id])
    await expect(ada.resend(id, 'cy')).resolves.toMatchObject({ to: ['cy'] })
  })

  it('that failed too often stays one when its agent comes back', async () => {
    const { space } = await scene({ maxAttempts: 1 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await bob.check()
    await bob.fail(id, { reason: 'cannot' })
    expect(await stateOf(space, id)).toBe('dead')
    await bob.leave()
    await byHand(space, 'bob')
    expect(only(await space.show(id))).toMatchObject({ state: 'dead' })
  })
})

describe('a shutdown', () => {
  it('is for one agent: to several it could hit a successor of one of them, and is refused', async () => {
    const { space } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    for (const name of ['ao-10', 'ao-11']) await byHand(space, name)
    for (const to of [['ao-10', 'ao-11'], 'role:lead', 'all', 'swarm:x'])
      await expect(lea.send({ to, type: 'shutdown_request' })).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('mail for an earlier run', () => {
  it('is told to its sender, however much is under way to others', async () => {
    const { space } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    for (const name of ['ao-10', 'ao-11']) await byHand(space, name)
    for (let n = 0; n < 501; n++) await lea.send({ to: 'ao-10', type: 'plan_approval' })
    const { id } = await lea.send({ to: 'ao-11', type: 'shutdown_request' })
    await byHand(space, 'ao-11')
    expect(await stateOf(space, id)).toBe('dead')
  })
})

describe('an inbox', () => {
  it('is not filled by group mail, which counts against the rate of its sender only', async () => {
    const { space } = await scene({ 'limits.inbox': 3 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    for (let n = 0; n < 4; n++) await ada.broadcast({ subject: `news ${n}` })
    await bob.check()
    await expect(ada.send({ to: 'bob' })).resolves.toMatchObject({ to: ['bob'] })
  })

  it('of a role with over 50 unread is warned of, too', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob', 'r')
    for (let n = 0; n < 51; n++) await ada.send({ to: 'role:r' })
    // Once, and not once more for each holder.
    expect((await space.stats()).warnings).toEqual(['role:r has 51 unread messages'])
  })
})

describe('a frozen agent', () => {
  it('that is back is shown what waited for it beyond its life', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await ada.send({ to: 'bob', subject: 'later', ttlMs: hour })
    await bob.leave({ frozen: true })
    await pass(5 * hour)
    const back = await byHand(space, 'bob')
    expect(subjects(await back.inbox())).toEqual(['later'])
    expect(subjects(await back.check())).toEqual(['later'])
  })
})
