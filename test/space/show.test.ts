import { describe, expect, test } from 'vitest'
import type { ReceiptView } from '../../src/mod.ts'
import { clockAt, expectRefused, minute, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

const rungs = ({ steps }: ReceiptView) => steps.map(({ state, by }) => `${state} by ${by}`)

describe('the ladder of a message', () => {
  test('has every rung with its time and its actor', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const { id } = await bob.send({ to: 'ada' })
    for (const step of ['read', 'ack', 'start', 'done'] as const) {
      clock.advance(minute)
      await ada[step](id)
    }
    expect((await bob.show(id)).receipts).toEqual([
      {
        recipient: 'ada',
        repeats: 0,
        state: 'archived',
        attempts: 0,
        steps: [
          { state: 'stored', at: '2026-11-15T10:00:00.000Z', by: 'bob' },
          { state: 'shown', at: '2026-11-15T10:01:00.000Z', by: 'ada' },
          { state: 'acked', at: '2026-11-15T10:02:00.000Z', by: 'ada' },
          { state: 'processing', at: '2026-11-15T10:03:00.000Z', by: 'ada' },
          { state: 'completed', at: '2026-11-15T10:04:00.000Z', by: 'ada' },
          { state: 'archived', at: '2026-11-15T10:04:00.000Z', by: 'ada' },
        ],
      },
    ])
  })

  test('is one for each recipient', async () => {
    const { ada, cy } = await trio(await tempSpace())
    const { id } = await cy.send({ to: ['ada', 'bob', 'user'] })
    await ada.ack(id)
    const { receipts } = await cy.show(id)
    expect(receipts.map(({ recipient, state }) => [recipient, state])).toEqual([
      ['ada', 'acked'],
      ['bob', 'stored'],
      ['user', 'stored'],
    ])
  })

  test('of role mail tells who has it and how often it was taken', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const { id } = await cy.send({ to: 'role:r' })
    await ada.claim(id)
    await ada.release(id)
    await bob.check()
    const [receipt] = (await cy.show(id)).receipts
    expect(receipt).toMatchObject({ recipient: 'role:r', claimedBy: 'bob', state: 'shown', attempts: 2 })
    expect(rungs(receipt!)).toEqual([
      'stored by cy',
      'claimed by ada',
      'shown by ada',
      'released by ada',
      'claimed by bob',
      'shown by bob',
    ])
  })

  test('tells why something failed, and that it was tried again', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada' })
    await ada.fail(id, { reason: 'no disk' })
    await ada.retry(id)
    const [receipt] = (await bob.show(id)).receipts
    expect(receipt!.steps.map(({ state, note }) => [state, note])).toEqual([
      ['stored', undefined],
      ['failed', 'no disk'],
      ['retried', undefined],
    ])
    expect(receipt).toMatchObject({ state: 'stored', attempts: 1 })
  })

  test('of group mail is one for each who has seen it', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const { id } = await cy.broadcast({})
    expect((await cy.show(id)).receipts).toMatchObject([{ recipient: 'all', state: 'stored' }])
    await ada.read(id)
    await bob.ack(id)
    const { receipts } = await cy.show(id)
    expect(receipts.map(({ recipient, state }) => [recipient, state])).toEqual([
      ['ada', 'shown'],
      ['bob', 'acked'],
    ])
    expect(rungs(receipts[0]!)).toEqual(['stored by cy', 'shown by ada'])
  })

  test('ends where mail expired unread', async () => {
    const clock = clockAt()
    const { bob } = await trio(await tempSpace({ now: clock.now }))
    const { id, expiresAt } = await bob.send({ to: 'ada', ttlMs: minute })
    clock.advance(5 * minute)
    const [receipt] = (await bob.show(id)).receipts
    expect(receipt).toMatchObject({
      state: 'expired',
      steps: [{ state: 'stored' }, { state: 'expired', at: expiresAt }],
    })
  })

  test('ends where mail was withdrawn', async () => {
    const { bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada' })
    await bob.withdraw(id)
    const [receipt] = (await bob.show(id)).receipts
    expect(rungs(receipt!)).toEqual(['stored by bob', 'withdrawn by bob'])
  })

  test('comes with the message as it was sent', async () => {
    const { ada } = await trio(await tempSpace())
    const { warnings: _, ...sent } = await ada.send({ to: 'bob', body: 'B', payload: [1] })
    expect((await ada.show(sent.id)).message).toEqual(sent)
  })

  test('may be asked for by the beginning of the id, where that names one', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const { id } = await ada.send({ to: 'bob' })
    expect((await ada.show(id.slice(0, 20))).message.id).toBe(id)
    await ada.send({ to: 'bob' })
    await expectRefused(space, 'invalid', () => ada.show(id.slice(0, 4)))
  })

  test('is seen by anybody and changes nothing', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    await cy.show(id)
    await ada.show(id)
    expect((await space.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  })
})
