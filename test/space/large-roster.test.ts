import { describe, expect, it } from 'vitest'
import { rowsOf } from '../helpers/rows.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** How often a piece of work reads every agent from the index. */
async function rosterReads(space: Awaited<ReturnType<typeof tempSpace>>, work: () => Promise<unknown>) {
  const { index } = space.core
  const sql = index.sql.bind(index)
  let reads = 0
  index.sql = (text) => {
    if (/FROM agent\b/.test(text) && !/WHERE (name|a\.name) =|WHERE name = r\.owner|WHERE pid IN/.test(text))
      reads++
    return sql(text)
  }
  await work()
  index.sql = sql
  return reads
}

describe('a large roster', () => {
  it('is not read again by those who join, check and claim', async () => {
    const space = await tempSpace()
    const other = await tempSpace({ dir: space.dir })
    await Promise.all(Array.from({ length: 300 }, (_, n) => other.join(`agent-${n}`)))
    const ada = await space.mailbox('ada', { join: { roles: ['tester'] } })
    const sender = await other.mailbox('bob')
    for (const to of ['ada', 'role:tester', 'role:tester']) await sender.send({ to, subject: to })
    const reads = await rosterReads(space, async () => {
      await space.join('cyd')
      await other.join('dan')
      expect((await ada.check({})).messages).toHaveLength(3)
      await sender.send({ to: 'role:tester' })
      expect(await ada.claimNext('tester')).not.toBeNull()
    })
    expect(reads).toBe(0)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('has each of its dead found, if not all of them at one look', async () => {
    const space = await tempSpace()
    // The process of an earlier boot is gone for certain.
    const { session } = await space.join('probe', { session: { pid: process.pid } })
    const pidStart = session.pidStart!.replace(/^[^.]*/, 'another-boot')
    const gone = { pid: session.pid!, pidStart, host: session.host! }
    await Promise.all(Array.from({ length: 200 }, (_, n) => space.join(`agent-${n}`, { session: gone })))
    for (let round = 0; round < 60; round++) await space.runDue()
    const states = (await space.agents()).filter(({ name }) => name.startsWith('agent-'))
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['dead']))
    const written = rowsOf(space.dir)['agent']!.filter(([, json]) => String(json).includes('"dead"'))
    expect(written).toHaveLength(200)
  })
})

describe('a space that is closed', () => {
  it('has everything it wrote in its index', async () => {
    const dir = tempDir()
    const space = await tempSpace({ dir })
    const ada = await space.mailbox('ada')
    const body = 'x'.repeat(60_000)
    await Promise.all(Array.from({ length: 300 }, () => ada.send({ to: 'ada', body })))
    await space.close()
    const [[, , seq]] = rowsOf(dir)['meta'] as [[unknown, unknown, number]]
    const again = await tempSpace({ dir })
    expect(await again.lastSeq()).toBe(seq)
  })
})
