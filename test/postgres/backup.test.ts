import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchAgain } from '../../src/space/copy.ts'
import { openDisk, openSpace } from '../../src/space/open.ts'
import { readSettings, writeSetting } from '../../src/space/settings.ts'
import { changeShared } from '../../src/space/shared.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { psql, serverProgram, sharedServer } from '../helpers/postgres.ts'
import { rowsOf } from '../helpers/rows.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'

/** A database that is dumped and restored with PostgreSQL's own programs. */
async function database() {
  const { port } = await sharedServer()
  const name = `b${randomUUID().slice(0, 8)}`
  psql(port, `CREATE DATABASE ${name}`)
  const at = ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'tester']
  const dump = join(tempDir(), 'dump')
  return {
    url: `postgres://tester@127.0.0.1:${port}/${name}?space=team`,
    dump: () => execFileSync(serverProgram('pg_dump'), [...at, '-Fc', '-f', dump, name]),
    restore: () => {
      psql(port, `DROP DATABASE ${name} WITH (FORCE)`)
      psql(port, `CREATE DATABASE ${name}`)
      execFileSync(serverProgram('pg_restore'), [...at, '--exit-on-error', '-d', name, dump])
    },
  }
}

async function machine(url: string, dir = tempDir()): Promise<DiskSpace> {
  const space = (await openSpace({ url, dir, settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  return space
}

const send = async (space: DiskSpace, subject: string) =>
  (await space.mailbox('ada')).send({ to: 'ada', subject, body: 'Ω' })

const subjects = async (space: DiskSpace) =>
  (await (await space.mailbox('ada')).inbox()).messages.map(({ subject }) => subject)

describe('a backup with pg_dump', () => {
  it('brings back everything, and machines that have no more go on with it', async () => {
    const { url, dump, restore } = await database()
    const here = await machine(url)
    await send(here, 'one')
    await changeShared(here.dir, 'config.json', () => writeSetting(here.dir, 'claimTtlMs', 77_000))
    const [before, rows] = [await exported(here), rowsOf(here.dir)]
    dump()
    restore()
    expect(await exported(here)).toEqual(before)
    const fresh = await machine(url)
    expect(fresh.id).toBe(here.id)
    expect(await exported(fresh)).toEqual(before)
    expect(rowsOf(fresh.dir)).toEqual(rows)
    expect(readSettings(fresh.dir).claimTtlMs).toBe(77_000)
    await send(fresh, 'two')
    expect(await subjects(here)).toEqual(['one', 'two'])
    expect((await here.verify({ deep: true })).problems).toEqual([])
  })

  it('is noticed by machines that have seen more: they answer nothing until somebody decides', async () => {
    const { url, dump, restore } = await database()
    const [ahead, behind] = [await machine(url), await machine(url)]
    await send(ahead, 'kept')
    await behind.lastSeq()
    await behind.close()
    dump()
    await send(ahead, 'lost')
    restore()
    await expect(ahead.lastSeq()).rejects.toMatchObject({ code: 'conflict', message: /older state/ })
    // Other machines go on, until the numbers are beyond what the first has seen.
    const other = await machine(url, behind.dir)
    for (const subject of ['new', 'newer', 'newest']) await send(other, subject)
    await expect(ahead.lastSeq()).rejects.toMatchObject({ code: 'conflict' })
    await expect(send(ahead, 'x')).rejects.toMatchObject({ code: 'conflict' })
    await ahead.close()
    await expect(openDisk({ dir: ahead.dir })).rejects.toMatchObject({
      code: 'conflict',
      hint: /mailbox rebuild/,
    })
    await fetchAgain(ahead.dir)
    const again = await machine(url, ahead.dir)
    expect(await subjects(again)).toEqual(['kept', 'new', 'newer', 'newest'])
    expect(rowsOf(again.dir)).toEqual(rowsOf(other.dir))
    expect((await again.verify({ deep: true })).problems).toEqual([])
  })

  it('takes settings back as well, also where they were changed as often since', async () => {
    const { url, dump, restore } = await database()
    const [here, there] = [await machine(url), await machine(url)]
    const set = (space: DiskSpace, ms: number) =>
      changeShared(space.dir, 'config.json', () => writeSetting(space.dir, 'claimTtlMs', ms))
    await set(here, 61_000)
    dump()
    await set(here, 62_000)
    await there.lastSeq()
    await expect.poll(() => readSettings(there.dir).claimTtlMs).toBe(62_000)
    restore()
    await set(here, 63_000)
    await there.lastSeq()
    await expect.poll(() => readSettings(there.dir).claimTtlMs).toBe(63_000)
  })
})
