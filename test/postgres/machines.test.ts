import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import { readSettings, writeSetting } from '../../src/space/settings.ts'
import { changeShared, fetchShared } from '../../src/space/shared.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { appendMessage, readAll, subjectsIn } from '../helpers/drafts.ts'
import { freshAddress } from '../helpers/postgres.ts'
import { tempDir, tempPostgres, testSettings } from '../helpers/temp.ts'

/** A machine is a copy and an index of its own. */
async function machine(url: string, dir = tempDir()): Promise<DiskSpace> {
  const space = (await openSpace({ url, dir, settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  return space
}

describe('machines with one space', () => {
  it('read each other, in the same order, with the same bytes', async () => {
    const url = await freshAddress()
    const [a, b] = [await tempPostgres({ url }), await tempPostgres({ url })]
    const calls = Array.from({ length: 40 }, (_, n) =>
      appendMessage(n % 2 === 0 ? a : b, { subject: `${n}`, body: 'x'.repeat(n * 50) }),
    )
    await Promise.all(calls)
    await Promise.all([a.pull(), b.pull()])
    expect(await readAll(a)).toEqual(await readAll(b))
    expect(new Set(await subjectsIn(a)).size).toBe(40)
    const bytes = [a, b].map(({ store }) => readFileSync(join(store.copy.dir, 'journal', '00000001.jsonl')))
    expect(bytes[0]!.equals(bytes[1]!)).toBe(true)
  })

  it('decide again when another was first: one message has one claim', async () => {
    const url = await freshAddress()
    const spaces = await Promise.all([machine(url), machine(url), machine(url)])
    const lead = await spaces[0]!.mailbox('lead')
    const workers = await Promise.all(
      spaces.map((space, n) => space.mailbox(`w${n}`, { join: { roles: ['worker'] } })),
    )
    for (let n = 0; n < 5; n++) {
      const { id } = await lead.send({ to: 'role:worker', body: `task ${n}` })
      const claims = await Promise.allSettled(workers.map((worker) => worker.claim(id)))
      expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const winner = claims.findIndex(({ status }) => status === 'fulfilled')
      const { receipts } = await spaces[(winner + 1) % 3]!.show(id)
      expect(JSON.stringify(receipts)).toContain(`w${winner}`)
    }
    for (const space of spaces) expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('wake each other', async () => {
    const url = await freshAddress()
    const [here, there] = [await machine(url), await machine(url)]
    const [ada, bob] = [await here.mailbox('ada'), await there.mailbox('bob')]
    const wait = bob.wait({ timeoutMs: 60_000 })
    await ada.send({ to: 'bob', body: 'wake up' })
    expect(await wait).toMatchObject({ body: 'wake up' })
  })

  it('fetch a copy again that was deleted, under a process that uses it and for the next one', async () => {
    const url = await freshAddress()
    const space = await machine(url)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'one', body: 'x' })
    rmSync(join(space.dir, 'journal'), { recursive: true })
    await ada.send({ to: 'ada', subject: 'two', body: 'x' })
    const subjects = async (one: DiskSpace) =>
      (await (await one.mailbox('ada')).inbox()).messages.map(({ subject }) => subject)
    expect(await subjects(space)).toEqual(['one', 'two'])
    await space.close()
    rmSync(space.dir, { recursive: true })
    expect(await subjects(await machine(url, space.dir))).toEqual(['one', 'two'])
  })

  it('have the same settings; two that change them at once both succeed', async () => {
    const url = await freshAddress()
    const [here, there] = [await machine(url), await machine(url)]
    const change = (space: DiskSpace, key: string, value: unknown) =>
      changeShared(space.dir, 'config.json', () => writeSetting(space.dir, key, value))
    await Promise.all([change(here, 'claimTtlMs', 61_000), change(there, 'limits.inbox', 123)])
    for (const { dir } of [here, there]) {
      await fetchShared(dir)
      expect(readSettings(dir)).toMatchObject({ claimTtlMs: 61_000, 'limits.inbox': 123 })
    }
  })
})
