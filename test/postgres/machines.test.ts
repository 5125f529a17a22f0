import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { follow } from '../../src/delivery/follow.ts'
import { type Cursor, type PlacedEntry, startCursor } from '../../src/journal/journal.ts'
import { openSpace } from '../../src/space/open.ts'
import { readSettings, writeSetting } from '../../src/space/settings.ts'
import { changeShared, fetchShared } from '../../src/space/shared.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { appendMessage, readAll, subjectsIn } from '../helpers/drafts.ts'
import { freshAddress, sharedServer } from '../helpers/postgres.ts'
import { tempDir, tempPostgres, testSettings } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'

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

  it('send in one call what has come while they waited for their turn', async () => {
    const url = await freshAddress()
    const [here, there] = [await tempPostgres({ url }), await tempPostgres({ url })]
    // From now on it waits in line.
    await appendMessage(there, { subject: 'first' })
    await appendMessage(here, { subject: 'too late' })
    const { server } = here.store
    const appendOn = server.appendOn.bind(server)
    let calls = 0
    server.appendOn = (...words) => {
      calls++
      return appendOn(...words)
    }
    const hold = await there.store.hold()
    const one = appendMessage(here, { subject: 'one' })
    // It asks for its turn.
    for (let n = 0; n < 3; n++) await new Promise(setImmediate)
    const two = appendMessage(here, { subject: 'two' })
    await hold.release()
    await Promise.all([one, two])
    expect(calls).toBe(1)
    expect(await subjectsIn(here)).toEqual(['first', 'too late', 'one', 'two'])
  })

  it('leave their index as it is while they wait for their turn, and bring it up after that', async () => {
    const url = await freshAddress()
    const [here, there] = [await machine(url), await tempPostgres({ url })]
    const ada = await here.mailbox('ada')
    await appendMessage(there, { subject: 'first' })
    await ada.send({ to: 'ada', subject: 'too late', body: 'x' })
    const hold = await there.store.hold()
    const waiting = ada.send({ to: 'ada', subject: 'in line', body: 'x' })
    const indexed = here.core.index.cursor.seq
    // The index waits for a pause of 20 ms, and this is none.
    await letPass(300)
    expect(here.core.index.cursor.seq).toBe(indexed)
    await hold.release()
    const { seq } = await waiting
    await until(() => here.core.index.cursor.seq === seq)
  })

  it('tell a decision where the entries end that it has seen, so nobody reads them again', async () => {
    const url = await freshAddress()
    const [here, there] = [await tempPostgres({ url }), await tempPostgres({ url })]
    for (const subject of ['one', 'two']) await appendMessage(there, { subject })
    let seen: Cursor | undefined
    await here.append((_, end) => {
      seen = end
      return []
    })
    expect(seen).toEqual(here.read(startCursor).cursor)
  })

  it('that create it at the same time have the same space', async () => {
    const url = await freshAddress()
    const all = await Promise.all(Array.from({ length: 5 }, () => tempPostgres({ url })))
    expect(new Set(all.map(({ space }) => space)).size).toBe(1)
    await Promise.all(all.map((journal, n) => appendMessage(journal, { subject: `${n}` })))
    await all[0]!.pull()
    expect((await subjectsIn(all[0]!)).toSorted()).toEqual(['0', '1', '2', '3', '4'])
    expect(await all[0]!.verifySource()).toEqual([])
  })

  it('ask once for all who wait: the others read what one of them has brought', async () => {
    const { port } = await sharedServer()
    const direct = await freshAddress()
    const [dir, there] = [tempDir(), await tempPostgres({ url: direct })]
    let asked = 0
    const [first, second] = [await BreakingProxy.to(port), await BreakingProxy.to(port)]
    second.cutsAfter = (question) => {
      if (question.includes('mailbox.spaces AS s')) asked++
      return false
    }
    const followed: AsyncGenerator<PlacedEntry>[] = []
    for (const proxy of [first, second]) {
      const journal = await tempPostgres({ url: direct.replace(`:${port}/`, `:${proxy.port}/`), dir })
      const entries = follow(journal)
      onTestFinished(() => void entries.return(undefined))
      // The header.
      await entries.next()
      followed.push(entries)
    }
    const before = asked
    for (let n = 0; n < 10; n++) {
      await appendMessage(there, { subject: `${n}` })
      for (const entries of followed)
        expect((await entries.next()).value).toMatchObject({ entry: { message: { subject: `${n}` } } })
    }
    expect(asked - before).toBe(0)
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
