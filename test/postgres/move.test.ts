import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { moveSpace } from '../../src/space/move.ts'
import { openDisk, openSpace } from '../../src/space/open.ts'
import { readSettings, writeSetting } from '../../src/space/settings.ts'
import { freshAddress } from '../helpers/postgres.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace, testSettings } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'

const count = inStorm(200_000, 300)

async function filledDir(): Promise<string> {
  const dir = tempDir()
  writeSetting(dir, 'claimTtlMs', 77_000)
  await using space = await openDisk({ dir, settings: { ...testSettings, 'retention.segmentEntries': 100 } })
  const ada = await space.mailbox('ada')
  await space.mailbox('bob')
  for (let n = 0; n < count; n += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, count - n) }, (_, at) =>
        ada.send({ to: 'bob', subject: `mail ${n + at}`, body: 'Ω text\n' }),
      ),
    )
  return dir
}

describe('a space that is moved', () => {
  it('to a database and back is the same, entry for entry', async () => {
    const dir = await filledDir()
    const address = await freshAddress()
    const open = () => tempSpace({ dir })
    const before = await exported(await open())
    const { entries } = await moveSpace(dir, address)
    expect(entries).toBeGreaterThan(count)

    const there = await tempSpace({ dir })
    expect(there.core.journal.isElsewhere).toBe(true)
    expect(await exported(there)).toEqual(before)
    expect((await there.verify({ deep: true })).problems).toEqual([])
    await there.close()

    // Another machine has nothing but the address.
    const other = tempDir()
    const far = await openSpace({ url: address, dir: other })
    expect(far.settings.claimTtlMs).toBe(77_000)
    await (await far.mailbox('bob')).send({ to: 'ada', body: 'from far' })
    await far.close()

    const back = join(tempDir(), 'back')
    await moveSpace(dir, back)
    const home = await tempSpace({ dir: back })
    expect(home.core.journal.isElsewhere).toBeUndefined()
    expect(home.id).toBe(there.id)
    const messages = (lines: typeof before) => lines.filter(({ kind }) => kind === 'message')
    expect(messages(await exported(home)).slice(0, -1)).toEqual(messages(before))
    expect((await home.verify({ deep: true })).problems).toEqual([])
    expect(readSettings(back).claimTtlMs).toBe(77_000)
    await expect(openDisk({ dir: other })).rejects.toMatchObject({
      code: 'not_found',
      message: /was moved to/,
    })
  })

  it('ends for those who have it open, before they write another line into the old place', async () => {
    const dir = await filledDir()
    const old = await tempSpace({ dir })
    const bob = await old.mailbox('bob')
    await moveSpace(dir, await freshAddress())
    await expect(bob.send({ to: 'ada', body: 'late' })).rejects.toMatchObject({ message: /was moved to/ })
  })

  it('does not take the place of another one', async () => {
    const address = await freshAddress()
    await moveSpace(await filledDir(), address)
    const other = await filledDir()
    await expect(moveSpace(other, address)).rejects.toMatchObject({
      code: 'conflict',
      message: /another space/,
    })
    expect(existsSync(join(other, 'origin.json'))).toBe(false)
  })

  it('can be moved there again, after it was moved away and went on', async () => {
    const dir = await filledDir()
    const address = await freshAddress()
    await moveSpace(dir, address)
    await moveSpace(dir, dir)
    const here = await tempSpace({ dir })
    await (await here.mailbox('ada')).send({ to: 'bob', body: 'one more' })
    const { id } = here
    await here.close()
    await moveSpace(dir, address)
    const there = await tempSpace({ dir })
    expect(there.id).toBe(id)
    expect((await (await there.mailbox('bob')).inbox({ limit: 1 })).messages).toHaveLength(1)
    expect((await there.verify({ deep: true })).problems).toEqual([])
  })
})
