import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { eventually, Stage, shoot } from './stage.ts'

const unread = { kestrel: 500, osprey: 500 }
const minuteMs = 60_000

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    let now = Date.now() - 60 * minuteMs
    const settings = { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 } as const
    await using space = await openDisk({ dir, settings, now: () => now })
    const cleo = await space.mailbox('cleo')
    for (const [to, letters] of Object.entries(unread)) {
      await space.join(to)
      const send = (n: number) => cleo.send({ to, subject: `Fire ${n}`, priority: 'urgent' })
      await Promise.all(Array.from({ length: letters }, (_, n) => send(n)))
      // Nobody leads, so the person is told.
      now += 6 * minuteMs
      for (let turn = 0; turn < 3; turn++) await space.runDue()
    }
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

it('1,000 urgent letters that nobody reads are one row for each recipient', async () => {
  const page = await stage.page('/needs-you')
  const subjects = page.locator('.row-subject')
  await subjects.first().waitFor()
  await eventually(() => subjects.allTextContents()).toEqual(
    Object.entries(unread).map(([name, letters]) => `${name} has ${letters} unread urgent messages`),
  )
  await shoot(page, 'needs-you-crowd')
  expect(await page.title()).toMatch(/^\(2\) /)
})
