// Sends so many messages to the same reader, one after the other, each numbered. Prints `ready`, waits for
// a line, and prints `done`.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const [dir, name, count] = process.argv.slice(2)
const space = await openSpace({ dir, settings: { 'limits.ratePerMinute': 0, 'limits.inbox': 0 } })
const mailbox = await space.mailbox(name)
console.log('ready')
for await (const _ of createInterface({ input: process.stdin })) break
for (let n = 0; n < Number(count); n++)
  await mailbox.send({ to: 'reader', subject: `${name} ${n}`, body: `letter ${n}` })
console.log('done')
await space.close()
process.exit()
