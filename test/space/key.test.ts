import { describe, expect, test } from 'vitest'
import { reopen, subjects, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

describe('a key makes a send happen once', () => {
  test('the second send returns the first message', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const first = await ada.send({ to: 'bob', subject: 'one', key: 'k' })
    const second = await ada.send({ to: 'cy', subject: 'two', key: 'k' })
    expect(second).toMatchObject({ id: first.id, seq: first.seq, subject: 'one', to: ['bob'] })
    expect(second.warnings).not.toEqual([])
    expect(subjects(await bob.inbox())).toEqual(['one'])
    expect(subjects(await ada.sent())).toEqual(['one'])
  })

  test('writes nothing the second time', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await ada.send({ to: 'bob', key: 'k' })
    const { entries } = await space.verify()
    await ada.send({ to: 'bob', key: 'k' })
    expect((await space.verify()).entries).toBe(entries)
  })

  test('is the sender’s own', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const one = await ada.send({ to: 'cy', key: 'k' })
    const other = await bob.send({ to: 'cy', key: 'k' })
    expect(other.id).not.toBe(one.id)
  })

  test('counts in another process and after a rebuild', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const first = await ada.send({ to: 'bob', key: 'k' })
    const elsewhere = await (await reopen(space)).mailbox('ada')
    expect((await elsewhere.send({ to: 'bob', key: 'k' })).id).toBe(first.id)
    await space.rebuild()
    expect((await ada.send({ to: 'bob', key: 'k' })).id).toBe(first.id)
  })

  test('counts when the message is finished, expired or withdrawn', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const done = await ada.send({ to: 'bob', key: 'done' })
    await bob.done(done.id)
    const withdrawn = await ada.send({ to: 'bob', key: 'withdrawn' })
    await ada.withdraw(withdrawn.id)
    expect((await ada.send({ to: 'bob', key: 'done' })).id).toBe(done.id)
    expect((await ada.send({ to: 'bob', key: 'withdrawn' })).id).toBe(withdrawn.id)
  })

  test('a refused send does not use it up', async () => {
    const { ada } = await trio(await tempSpace())
    await expect(ada.send({ to: 'nobody', key: 'k' })).rejects.toMatchObject({ code: 'unknown_recipient' })
    expect((await ada.send({ to: 'bob', key: 'k' })).warnings).toEqual([])
  })

  test('keys that differ in anything are two', async () => {
    const { ada } = await trio(await tempSpace())
    const keys = ['k', 'K', 'k ', 'ķ', 'k\u0327', '🙂', '🙃', "'", '%', 'k%']
    const ids = new Set<string>()
    for (const key of keys) ids.add((await ada.send({ to: 'bob', key })).id)
    expect(ids.size).toBe(keys.length)
  })
})
