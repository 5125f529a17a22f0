import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type LocalSpace, openSpace } from '../../src/mod.ts'
import { settle, subjects, trio, within } from '../helpers/scene.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const closed = { code: 'closed' }

describe('a closed space', () => {
  test('is what `await using` leaves behind', async () => {
    let kept: LocalSpace
    {
      await using space = await openSpace({ dir: tempDir() })
      kept = space
      await (await space.mailbox('ada')).send({ to: 'ada' })
    }
    await expect(kept.mailbox('ada')).rejects.toMatchObject(closed)
  })

  test.skipIf(process.platform !== 'linux')('has none of its files open', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', body: 'apple' })
    await ada.search('apple')
    await space.close()
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return []
      }
    })
    expect(open.filter((path) => path.startsWith(space.dir))).toEqual([])
  })

  test('has kept what was sent before', async () => {
    const dir = tempDir()
    {
      await using space = await openSpace({ dir })
      const { ada, bob } = await trio(space)
      await Promise.all(Array.from({ length: 30 }, (_, n) => bob.send({ to: 'ada', subject: String(n) })))
      await ada.check({ budgetTokens: 1 })
    }
    await using space = await openSpace({ dir })
    const ada = await space.mailbox('ada')
    expect(subjects(await ada.inbox())).toEqual(Array.from({ length: 30 }, (_, n) => String(n)))
    expect((await ada.count()).unread).toBe(29)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  test('waits for what is being sent', async () => {
    const dir = tempDir()
    const space = await openSpace({ dir })
    const { ada } = await trio(space)
    const sending = Array.from({ length: 10 }, () =>
      ada.send({ to: 'bob' }).then(
        () => true,
        () => false,
      ),
    )
    await settle()
    await space.close()
    const sent = (await Promise.all(sending)).filter(Boolean).length
    await using again = await openSpace({ dir })
    expect((await (await again.mailbox('ada')).sent()).messages).toHaveLength(sent)
  })

  test('refuses everything, with a code', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const { id } = await ada.send({ to: 'bob' })
    await space.close()
    const attempts: (() => Promise<unknown>)[] = [
      () => ada.send({ to: 'bob' }),
      () => ada.inbox(),
      () => ada.check(),
      () => ada.count(),
      () => ada.search('x'),
      () => ada.show(id),
      () => ada.wait(),
      async () => ada.watch().next(),
      () => space.join('zoe'),
      () => space.agents(),
      async () => space.follow().next(),
      () => space.rebuild(),
    ]
    for (const attempt of attempts) {
      const error = await within(
        attempt().then(
          () => undefined,
          (thrown: unknown) => thrown,
        ),
      )
      expect(error, String(attempt)).toMatchObject(closed)
    }
  })

  test('can be closed twice', async () => {
    const space = await tempSpace()
    await space.close()
    await expect(space.close()).resolves.toBeUndefined()
  })

  test('lets nobody wait for ever', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const { id } = await ada.send({ to: 'bob' })
    const waiting = [ada.wait(), ada.waitForAck(id), ada.watch().next(), space.follow({ after: 99 }).next()]
    const ends = waiting.map((one) =>
      within(
        one.then(
          () => 'ended',
          (error: { code?: string }) => error.code,
        ),
        2_000,
      ).catch(() => 'hangs'),
    )
    await settle()
    await space.close()
    for (const end of await Promise.all(ends)) expect(end).toMatch(/^(closed|ended)$/)
  })
})

describe('an open space', () => {
  test('is closed to other users', async () => {
    const space = await tempSpace()
    await trio(space)
    expect(statSync(space.dir).mode & 0o077).toBe(0)
    for (const file of ['journal', 'lock', 'index.db'])
      expect(statSync(`${space.dir}/${file}`).mode & 0o077).toBe(0)
  })

  test('has an identity that stays', async () => {
    const space = await tempSpace()
    await using again = await openSpace({ dir: space.dir })
    expect(again.id).toBe(space.id)
  })

  test('sees what another handle did, at once', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await using other = await openSpace({ dir: space.dir })
    const bob = await other.mailbox('bob', { join: false })
    const { id } = await bob.send({ to: 'ada', subject: 'hello' })
    expect(subjects(await ada.inbox())).toEqual(['hello'])
    await ada.ack(id)
    expect((await bob.show(id)).receipts).toMatchObject([{ state: 'acked' }])
  })
})
