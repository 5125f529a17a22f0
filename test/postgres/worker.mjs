// A machine's process that sends and claims: URL DIR NAME. Prints a line for everything that it did or was told, and
// goes on until its standard input ends.
import { openSpace } from '../../dist/mod.js'

const [url, dir, name] = process.argv.slice(2)
const settings = { claimTtlMs: 2_000, maxAttempts: 1_000, 'limits.ratePerMinute': 0, 'limits.inbox': 0 }
const say = (word, ...rest) => console.log([word, ...rest].join(' '))
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()

/** Whatever it takes: the server may be away when the process starts. */
async function start() {
  for (;;) {
    try {
      const space = await openSpace({ url, dir, settings })
      return { space, mailbox: await space.mailbox(name, { join: { roles: ['worker'] } }) }
    } catch (error) {
      if (error.code !== 'unreachable') say('trouble', error.code, error.message)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

const { space, mailbox } = await start()
say('ready')
for (let n = 0; !isOver; n++) {
  const subject = `${name}-${process.pid}-${n}`
  try {
    say('try', subject)
    await mailbox.send({ to: 'role:worker', subject, body: 'work' })
    say('sent', subject)
  } catch (error) {
    if (error.code !== 'unreachable') say('trouble', error.code, error.message)
    say(/not known/.test(error.message) ? 'open' : 'refused', subject)
  }
  try {
    const { messages } = await mailbox.check({ limit: 1 })
    for (const { id } of messages) {
      await mailbox.done(id)
      say('done', id)
    }
  } catch (error) {
    if (!['unreachable', 'conflict', 'timeout'].includes(error.code))
      say('trouble', error.code, error.message)
  }
}
await space.close()
say('over')
