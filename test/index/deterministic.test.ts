import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openIndex } from '../../src/index/open.ts'
import { inSpace } from '../../src/index/shelter.ts'
import type { Cursor, Journal } from '../../src/journal/journal.ts'
import { liveThrough } from '../helpers/history.ts'
import { rowsOf } from '../helpers/rows.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'

/** A space with a history, its index brought to the end after every few steps by the commands themselves. */
async function lived(seed: number, steps = 250) {
  const clock = { now: 1_800_000_000_000 }
  const space = await tempSpace({ now: () => clock.now })
  const tally = await liveThrough(space, steps, seed, clock)
  await space.agents()
  return { space, tally, clock }
}

/** The journal, read in portions of about so many bytes whatever is asked for. */
const inPortions = (journal: Journal, portionBytes: number): Journal =>
  new Proxy(journal, {
    get: (target, name) => {
      if (name === 'read') return (cursor: Cursor) => journal.read(cursor, portionBytes)
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe('the index', () => {
  it('is made of histories in which everything happens', async () => {
    const { tally } = await lived(1, 400)
    const all = [
      'send',
      'check',
      'ack',
      'claim',
      'claimNext',
      'done',
      'fail',
      'retry',
      'release',
      'withdraw',
      'update',
      'leave',
    ]
    expect(all.filter((name) => !((tally[name] ?? 0) > 0))).toEqual([])
  })

  it.each([1, 2, 3, 4, 5])(
    'rebuilt from the journal equals the live one row for row (history %i)',
    async (seed) => {
      const { space } = await lived(seed)
      const live = rowsOf(space.dir)
      await space.rebuild()
      await space.agents()
      expect(rowsOf(space.dir)).toEqual(live)
      expect((await space.verify({ deep: true })).problems).toEqual([])
    },
  )

  it.each([6, 7, 8])(
    'is the same whether entries come one by one or all at once (history %i)',
    async (seed) => {
      const { space } = await lived(seed)
      await space.close()
      const journal = tempJournal({ dir: space.dir })
      const build = (portionBytes: number) => {
        const dir = tempDir()
        const index = openIndex(inPortions(journal, portionBytes), [inSpace(dir, journal)])
        index.catchUp()
        index.close()
        return rowsOf(dir)
      }
      expect(build(1)).toEqual(build(100_000_000))
    },
  )

  it('is the same when two processes bring it on in turn, one entry each', async () => {
    const { space } = await lived(12)
    await space.close()
    const oneByOne = inPortions(tempJournal({ dir: space.dir }), 1)
    const dir = tempDir()
    const indexes = [1, 2].map(() => openIndex(oneByOne, [inSpace(dir, oneByOne)]))
    for (let turn = 0; indexes[turn % 2]!.catchUp({ chunks: 1 }); ) turn++
    for (const index of indexes) index.close()
    expect(rowsOf(dir)).toEqual(rowsOf(space.dir))
  })

  it('is the same on another machine, at another time', async () => {
    const { space } = await lived(9)
    const elsewhere = tempDir()
    cpSync(join(space.dir, 'journal'), join(elsewhere, 'journal'), { recursive: true })
    const copy = await tempSpace({ dir: elsewhere, now: () => 0 })
    await copy.agents()
    expect(rowsOf(elsewhere)).toEqual(rowsOf(space.dir))
  })

  it('does not change when the same journal is read again', async () => {
    const { space, clock } = await lived(10, 100)
    const before = rowsOf(space.dir)
    const again = await tempSpace({ dir: space.dir, now: () => clock.now })
    await again.agents()
    await (await again.mailbox('ada')).inbox()
    expect(rowsOf(space.dir)).toEqual(before)
  })

  it('finds the same words after a rebuild', async () => {
    const { space } = await lived(11, 120)
    const ada = await space.mailbox('ada')
    const words = ['body', 'n1', '"body 5"', 'from:ada', '-from:ada body']
    const found = async () => {
      const pages = await Promise.all(words.map((query) => ada.search(query, { limit: 500 })))
      return pages.map(({ messages }) => messages.map(({ id }) => id))
    }
    const before = await found()
    await space.rebuild()
    expect(await found()).toEqual(before)
    expect(before[0]!.length).toBeGreaterThan(0)
  })
})
