import { describe, expect, test } from 'vitest'
import { subjects, subjectsAndStates, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

describe('check', () => {
  test('hands out the unread, the most urgent first, and marks it as shown', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'a' })
    await bob.send({ to: 'all', subject: 'b', priority: 'urgent' })
    expect(subjectsAndStates(await ada.check())).toEqual(['b shown', 'a shown'])
    expect(subjectsAndStates(await ada.inbox())).toEqual(['b shown', 'a shown'])
    expect(await ada.check()).toMatchObject({ messages: [], remaining: { unread: 0 }, next: null })
  })

  test('claims what is for a role of the caller', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const { id } = await cy.send({ to: 'role:r', subject: 'work' })
    expect((await ada.check()).messages).toMatchObject([{ subject: 'work', role: 'r' }])
    expect(subjects(await bob.check())).toEqual([])
    await expect(bob.claim(id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await ada.done(id)).state).toBe('archived')
  })

  test('stays within its budget, counts the rest, and goes on from there', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const body = 'x'.repeat(2_000)
    for (let n = 0; n < 9; n++) await bob.send({ to: 'ada', subject: String(n), body })
    const first = await ada.check()
    const handed = first.messages.length
    // About 500 tokens of body each, in a budget of 2,000.
    expect(handed).toBe(3)
    expect(first.remaining.unread).toBe(9 - handed)
    expect(first.next).not.toBeNull()
    const second = await ada.check({ after: first.next! })
    expect(subjects(second)).toEqual(['3', '4', '5'])
    expect(subjects(await ada.check())).toEqual(['6', '7', '8'])
    expect((await ada.check()).next).toBeNull()
  })

  test('hands out one message however long it is', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'long', body: 'x'.repeat(100_000) })
    await bob.send({ to: 'ada', subject: 'short' })
    expect(subjects(await ada.check())).toEqual(['long'])
    expect(subjects(await ada.check({ budgetTokens: 1 }))).toEqual(['short'])
  })

  test('leaves unread what its filter leaves out', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'urgent', priority: 'urgent' })
    await bob.send({ to: 'ada', subject: 'request', type: 'request' })
    expect(subjects(await ada.check({ minPriority: 'high' }))).toEqual(['urgent'])
    expect(subjects(await ada.check({ type: 'request' }))).toEqual(['request'])
    await bob.send({ to: 'ada', subject: 'rest' })
    expect((await ada.check({ from: 'cy' })).remaining.unread).toBe(1)
  })

  test('writes one entry, however many messages it shows', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    for (let n = 0; n < 20; n++) await bob.send({ to: 'ada' })
    const before = (await space.verify()).entries
    await ada.check()
    expect((await space.verify()).entries).toBe(before + 1)
  })

  test('writes nothing when there is nothing', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const before = (await space.verify()).entries
    await ada.check()
    expect((await space.verify()).entries).toBe(before)
  })
})

describe('read', () => {
  test('shows one message in full', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id, warnings: _, ...sent } = await bob.send({ to: 'ada', body: 'B' })
    expect(await ada.read(id)).toEqual({ id, ...sent, state: 'shown', signature: 'signed' })
    expect((await bob.show(id)).receipts).toMatchObject([{ state: 'shown' }])
  })

  test('again changes nothing', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    await ada.ack(id)
    const before = (await space.verify()).entries
    expect((await ada.read(id)).state).toBe('acked')
    expect((await space.verify()).entries).toBe(before)
  })

  test('claims what is for a role of the reader', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const { id } = await cy.send({ to: 'role:r' })
    await ada.read(id)
    await expect(bob.ack(id)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('takes what waits for a role of the reader, although it has seen a copy of its own', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: ['ada', 'role:r'], subject: 'work' })
    await ada.read(id)
    await ada.update({ addRoles: ['r'] })
    expect(subjectsAndStates(await ada.inbox())).toEqual(['work stored'])
    expect((await ada.read(id)).state).toBe('shown')
    expect(subjectsAndStates(await ada.inbox())).toEqual(['work shown'])
    expect((await ada.count()).unread).toBe(0)
  })

  test('by somebody it is not for changes nothing', async () => {
    const { bob, cy } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada', body: 'B' })
    expect((await cy.read(id)).body).toBe('B')
    expect((await bob.show(id)).receipts).toMatchObject([{ recipient: 'ada', state: 'stored' }])
  })

  test('of what was withdrawn does not make it shown', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (const to of ['ada', 'all']) {
      const { id } = await bob.send({ to })
      await bob.withdraw(id)
      expect((await ada.read(id)).state).toBe('withdrawn')
    }
  })
})
