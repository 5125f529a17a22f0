// Sends to itself without end, and opens the space again when it is refused for a while: `sender.mjs DIR NAME`.
// Prints a line of JSON for each send: the time it began and ended (ns), and the id or the code of the error.
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError, openSpace } from '../../dist/mod.js'

const [dir, name] = process.argv.slice(2)
const say = (fact) => writeSync(1, `${JSON.stringify(fact)}\n`)
const now = () => Number(process.hrtime.bigint())
const codeOf = (error) =>
  error instanceof MailboxError ? error.code : `untyped ${error.code} ${error.stack ?? error}`

for (;;) {
  let space
  try {
    const settings = { 'limits.ratePerMinute': 0, 'limits.inbox': 0 }
    space = await openSpace({ dir, settings })
    const mailbox = await space.mailbox(name)
    for (let refused = 0; refused < 20; ) {
      const began = now()
      try {
        const { id } = await mailbox.send({ to: name, subject: 'x' })
        say({ began, ended: now(), id })
        refused = 0
      } catch (error) {
        say({ began, ended: now(), code: codeOf(error) })
        refused++
      }
      await sleep(1)
    }
  } catch (error) {
    const at = now()
    say({ began: at, ended: at, code: codeOf(error) })
  }
  try {
    await space?.close()
  } catch (error) {
    const at = now()
    say({ began: at, ended: at, code: codeOf(error) })
  }
  await sleep(5)
}
