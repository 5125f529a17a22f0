import { describe, expect, it } from 'vitest'
import { untilStopped } from '../helpers/processes.ts'
import { expectRefused, minute } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { boxWith, byHand, ladderOf, noticesTo, only, scene, startAgent, startSleeper } from './stage.ts'

describe('claim: first holder wins, others get `conflict`', () => {
  it('in the library', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    expect((await bob.claim(id)).claim).toMatchObject({ agent: 'bob', attempt: 1 })
    const error = await expectRefused(space, 'conflict', () => cy.claim(id))
    expect(error.message).toContain('claimed by bob')
    for (const step of [() => cy.start(id), () => cy.done(id), () => cy.ack(id), () => cy.release(id)])
      await expectRefused(space, 'conflict', step)
    expect((await cy.count()).unread).toBe(0)
    expect(only(await space.show(id))).toMatchObject({ claimedBy: 'bob', attempts: 1 })
  })

  it('on the command line, with exit code 5', async () => {
    const box = await boxWith({}, 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--subject', 'work')
    await box.ok('claim', message.id, '--as', 'bob')
    const { code, hint } = await box.refused(5, 'claim', message.id, '--as', 'cy')
    expect(code).toBe('conflict')
    expect(hint).toMatch(/\S/)
  })

  it('reading for work is claiming: what check hands to one is not handed to another', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    await ada.send({ to: 'role:r' })
    expect((await bob.check()).messages).toHaveLength(1)
    expect((await cy.check()).messages).toHaveLength(0)
  })
})

describe('it expires (lease, default 15 min, renewable)', () => {
  it('after 15 min it is free, and the first who asks has it', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    const { claim } = await bob.claim(id)
    expect(Date.parse(claim.until) - clock.now()).toBe(15 * minute)
    clock.advance(15 * minute - 1)
    expect(await cy.claimNext('r')).toBeNull()
    clock.advance(1)
    expect((await cy.claimNext('r'))?.claim).toMatchObject({ agent: 'cy', attempt: 2 })
    await expectRefused(space, 'conflict', () => bob.done(id))
    expect(await ladderOf(space, id)).toEqual(['stored', 'claimed', 'shown', 'released', 'claimed', 'shown'])
  })

  it('ends on time although a missing ack was escalated meanwhile', async () => {
    const { space, pass } = await scene({ ackTimeoutMs: minute, ackRepeats: 0, urgentAfterMs: 0 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'lea', 'lead')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r', requiresAck: true })
    await bob.claim(id)
    await pass(3 * minute)
    expect(await ladderOf(space, id)).toContain('escalated')
    expect(await cy.claimNext('r')).toBeNull()
    await pass(13 * minute)
    expect((await cy.claimNext('r'))?.message.id).toBe(id)
  })

  it('claiming again renews it, without another attempt', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    for (let turn = 0; turn < 6; turn++) {
      clock.advance(10 * minute)
      expect((await bob.claim(id)).claim.attempt).toBe(1)
    }
    expect(await cy.claimNext('r')).toBeNull()
    await bob.done(id)
    expect(only(await space.show(id)).attempts).toBe(1)
  })

  it('whoever is late has it done all the same, if nobody took it meanwhile', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    clock.advance(60 * minute)
    expect((await bob.done(id)).state).toBe('archived')
  })

  it('a longer one is asked for with ttl', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id, { ttlMs: 60 * minute })
    clock.advance(59 * minute)
    expect(await cy.claimNext('r')).toBeNull()
    clock.advance(2 * minute)
    expect(await cy.claimNext('r')).not.toBeNull()
  })
})

describe('a claim has a number, and whoever acts with an earlier one is refused', () => {
  it('a process that slept through its lease touches nothing of the namesake that claimed it again', async () => {
    const space = await tempSpace()
    const ada = await byHand(space, 'ada')
    const first = await startAgent(space.dir, 'bob', { roles: ['r'] })
    const second = await startAgent(space.dir, 'bob', { roles: ['r'] })
    const { id } = await ada.send({ to: 'role:r' })
    const before = (await first.does('claim', id, { ttlMs: 200 })).value.claim
    first.running.kill('SIGSTOP')
    await untilStopped(first.pid)
    const after = (await until(async () => (await second.does('claimNext', 'r')).value))!.claim
    expect(after.number).toBeGreaterThan(before.number)
    await second.does('claim', id)
    first.running.kill('SIGCONT')
    const steps = [
      ['done', id],
      ['fail', id, { reason: 'too late' }],
      ['release', id],
      ['claim', id],
      ['claim', id, { claimNumber: before.number }],
      ['start', id],
      ['ack', id],
      ['archive', id],
    ] as const
    for (const [method, ...words] of steps) {
      const { error } = await first.does(method, ...words)
      expect(error, method).toMatchObject({ code: 'conflict' })
    }
    expect(only(await space.show(id))).toMatchObject({ claimedBy: 'bob', state: 'shown', attempts: 2 })
    expect((await second.does('done', id)).value.state).toBe('archived')
    expect((await first.does('done', id)).error).toMatchObject({ code: 'conflict' })
  })

  it('done on a lapsed claim that another has had and given back is refused, until it is claimed again', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    clock.advance(15 * minute)
    await cy.claimNext('r')
    await cy.release(id)
    const late = [
      () => bob.done(id),
      () => bob.fail(id, { reason: 'no' }),
      () => bob.release(id),
      () => bob.archive(id),
    ]
    for (const step of late) await expectRefused(space, 'conflict', step)
    // The same for a mailbox that did not make the claim itself: its agent did.
    const again = await space.mailbox('bob', { join: false })
    await expectRefused(space, 'conflict', () => again.done(id))
    await bob.claim(id)
    expect((await bob.done(id)).state).toBe('archived')
  })

  it('so is a namesake that never had it, while the claim lives', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const namesake = await space.mailbox('bob', { join: false })
    const { id } = await ada.send({ to: 'role:r' })
    const { claim } = await bob.claim(id)
    const error = await expectRefused(space, 'conflict', () => namesake.claim(id))
    expect(error.message).toContain('in another process')
    // Whoever is told the number acts with it.
    expect((await namesake.claim(id, { claimNumber: claim.number! })).claim.number).toBe(claim.number)
    expect((await bob.claim(id)).claim.number).toBe(claim.number)
  })

  it('on the command line a call acts for its agent, and --claim for one claim only', async () => {
    const box = await boxWith({}, 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    const first = (await box.json('claim', message.id, '--as', 'bob', '--ttl', '1ms')).claim
    const second = (await box.json('claim', message.id, '--as', 'bob')).claim
    expect(second.number).toBeGreaterThan(first.number!)
    for (const verb of ['claim', 'start', 'done', 'release', 'ack', 'archive'])
      expect(
        await box.refused(5, verb, message.id, '--as', 'bob', '--claim', `${first.number}`),
      ).toMatchObject({
        code: 'conflict',
      })
    await box.refused(5, 'done', message.id, '--as', 'bob', '--claim', '999')
    expect((await box.json('claim', message.id, '--as', 'bob')).claim.number).toBe(second.number)
    await box.ok('done', message.id, '--as', 'bob', '--claim', `${second.number}`)
  })

  it('on the command line, too, done is refused when another has had it since', async () => {
    const box = await boxWith({}, 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await box.ok('claim', message.id, '--as', 'bob', '--ttl', '1ms')
    await box.ok('claim', message.id, '--as', 'cy')
    await box.ok('release', message.id, '--as', 'cy')
    await box.refused(5, 'done', message.id, '--as', 'bob')
    await box.ok('claim', message.id, '--as', 'bob')
    await box.ok('done', message.id, '--as', 'bob')
  })

  it('check, read and wait answer with it', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    for (const take of [
      async () => (await bob.check()).messages[0],
      async (id: string) => bob.read(id),
      async () => (await bob.wait({ timeoutMs: 0 })) ?? undefined,
    ]) {
      const { id } = await ada.send({ to: 'role:r' })
      const taken = await take(id)
      expect(taken).toMatchObject({ id, claimNumber: await space.lastSeq() })
      await bob.done(id)
    }
    await ada.send({ to: 'bob' })
    expect((await bob.check()).messages[0]).not.toHaveProperty('claimNumber')
  })
})

describe("when the claimant's session dies the message is free again", () => {
  it('at once after kill -9, long before the lease ends', async () => {
    const space = await tempSpace()
    const ada = await byHand(space, 'ada')
    const cy = await byHand(space, 'cy', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    const bob = await startAgent(space.dir, 'bob', { roles: ['r'] })
    expect((await bob.does('claimNext', 'r')).value.message.id).toBe(id)
    expect(await cy.claimNext('r')).toBeNull()
    await bob.kill()
    expect((await cy.claimNext('r'))?.claim).toMatchObject({ messageId: id, agent: 'cy', attempt: 2 })
    const { steps } = only(await space.show(id))
    expect(steps.find(({ state }) => state === 'released')).toMatchObject({
      by: 'system',
      note: 'bob has died',
    })
  })

  it('on the command line, where --pid says which process the agent is', async () => {
    const box = await boxWith({}, 'cy --role r')
    const shell = await startSleeper()
    await box.ok('join', 'bob', '--role', 'r', '--pid', String(shell.process.pid))
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await box.ok('claim', message.id, '--as', 'bob')
    await box.refused(5, 'claim', message.id, '--as', 'cy')
    shell.kill('SIGKILL')
    await shell.exit
    expect((await box.json('claim', message.id, '--as', 'cy')).claim).toMatchObject({ attempt: 2 })
  })

  it('a process that is only stopped keeps what it has', async () => {
    const space = await tempSpace()
    const ada = await byHand(space, 'ada')
    const cy = await byHand(space, 'cy', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    const bob = await startAgent(space.dir, 'bob', { roles: ['r'] })
    await bob.does('claim', id)
    bob.running.kill('SIGSTOP')
    await untilStopped(bob.pid)
    expect(await cy.claimNext('r')).toBeNull()
    await expectRefused(space, 'conflict', () => cy.claim(id))
    bob.running.kill('SIGCONT')
    expect((await bob.does('done', id)).value.state).toBe('archived')
  })

  it('an agent that leaves gives back what it has', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const [bob, cy] = [await byHand(space, 'bob', 'r'), await byHand(space, 'cy', 'r')]
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    await bob.leave()
    expect((await cy.claimNext('r'))?.message.id).toBe(id)
  })

  it('a new run of the agent starts with empty hands', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id)
    const next = await byHand(space, 'bob', 'r')
    expect((await next.claimNext('r'))?.claim).toMatchObject({ messageId: id, attempt: 2 })
  })
})

describe('after 5 failures it is a dead letter', () => {
  const five = [1, 2, 3, 4, 5]

  it('but not when claims ran out or were given back: nobody has failed at it', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'role:r', subject: 'cursed' })
    for (const attempt of five) {
      expect((await bob.claimNext('r'))?.claim.attempt).toBe(2 * attempt - 1)
      await pass(16 * minute)
      expect((await bob.claimNext('r'))?.claim.attempt).toBe(2 * attempt)
      await bob.release(id)
    }
    expect((await bob.claimNext('r'))?.claim.attempt).toBe(11)
    expect(await noticesTo(space, 'ada')).toEqual([])
  })

  it('when five processes died over it', async () => {
    const space = await tempSpace()
    const ada = await byHand(space, 'ada')
    const { id } = await ada.send({ to: 'role:r' })
    for (const attempt of five) {
      const worker = await startAgent(space.dir, 'worker', { roles: ['r'] })
      expect((await worker.does('claimNext', 'r')).value.claim.attempt).toBe(attempt)
      await worker.does('start', id)
      await worker.kill()
    }
    await space.runDue()
    expect(only(await space.show(id))).toMatchObject({ state: 'dead', attempts: 5 })
    expect(await noticesTo(space, 'ada')).toMatchObject([
      { type: 'error', subject: 'Not delivered to role:r', replyTo: id },
    ])
  })

  it('when it failed five times, and the reason is told', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    const { id } = await ada.send({ to: 'role:r' })
    for (const attempt of five) {
      await bob.claim(id)
      await bob.fail(id, { reason: `reason ${attempt}` })
      if (attempt < 5) await bob.retry(id)
    }
    expect(only(await space.show(id))).toMatchObject({ state: 'dead', attempts: 5 })
    const [told] = await noticesTo(space, 'ada')
    expect(told!.body).toContain('reason 5')
    await expectRefused(space, 'conflict', () => bob.retry(id))
  })
})
