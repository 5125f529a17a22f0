import { describe, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { deskTally, isWithDesk } from '../helpers/with-desk.ts'

/** What the other suites rely on when they run with TEST_DESK; without it this file is left out. */
async function sendSome(now?: () => number): Promise<{ asked: number; written: number }> {
  const space = await tempSpace(now === undefined ? {} : { now })
  await space.join('ada')
  const bob = await space.mailbox('bob')
  const before = { ...deskTally }
  for (let n = 0; n < 20; n++) await bob.send({ to: 'ada', subject: `${n}` })
  expect((await space.verify({ deep: true })).problems).toEqual([])
  const asked = deskTally.asked - before.asked
  return { asked, written: asked - (deskTally.directly - before.directly) }
}

describe.each([
  ['', undefined],
  [' at a time of its own', () => 1_800_000_000_000],
])('what a test sends%s', (_, now) => {
  if (isWithDesk())
    it('goes to the desk of its space', async () => {
      expect((await sendSome(now)).asked).toBeGreaterThan(0)
    })

  // One that is hurt may not answer in time for long on a busy machine.
  if (process.env['TEST_DESK'] === 'on')
    it('is written by that desk', async () => {
      await until('the desk writes', async () => (await sendSome(now)).written > 0)
    })

  if (!isWithDesk())
    it('goes to no desk', async () => {
      expect((await sendSome(now)).asked).toBe(0)
    })
})

it('a command of a test has a desk', async () => {
  const box = await createBox('ada')
  const { stdout } = await box.run(['count', '--as', 'ada', '--json'])
  expect(JSON.parse(stdout).unread).toBe(0)
})
