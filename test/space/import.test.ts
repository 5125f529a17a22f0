import { expect, it } from 'vitest'
import { failCall } from '../helpers/fs-faults.ts'
import { tempSpace } from '../helpers/temp.ts'

it('tells its caller of a write that failed, and leaves no other failure behind', async () => {
  const from = await tempSpace()
  const ada = await from.mailbox('ada')
  for (let n = 0; n < 200; n++) await ada.send({ to: 'ada', subject: `mail ${n}` })
  const { messages } = await ada.sent({ limit: 1_000 })

  const into = await tempSpace()
  /** Lines that come slowly: when the write fails, nobody is waiting for it. */
  async function* lines() {
    for (const message of messages) {
      await new Promise(setImmediate)
      yield { message }
    }
  }
  failCall('writeSync', 'EIO')
  // An unhandled rejection would fail the whole run.
  await expect(into.importMessages(lines())).rejects.toMatchObject({ code: 'damaged' })
  expect(await into.importMessages(lines())).toEqual({
    imported: expect.any(Number),
    skipped: expect.any(Number),
  })
})
