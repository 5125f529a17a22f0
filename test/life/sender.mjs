// Sends so many messages as fast as it can, one after the other. Prints `ready`, waits for a line, and prints
// `done {"sent":[ids],"refused":{"over_limit":N},"hints":N}`.
import { once } from 'node:events'
import { openSpace } from '../../dist/mod.js'

const [dir, name, count, json] = process.argv.slice(2)
const input = JSON.parse(json)
const space = await openSpace({ dir })
const mailbox = await space.mailbox(name, { join: false })
console.log('ready')
await once(process.stdin, 'data')
const sent = []
const refused = {}
let hints = 0
for (let n = 0; n < Number(count); n++) {
  try {
    sent.push((await mailbox.send({ subject: `${process.pid} ${n}`, ...input })).id)
  } catch ({ code, hint }) {
    refused[code] = (refused[code] ?? 0) + 1
    if (hint) hints++
  }
}
console.log(`done ${JSON.stringify({ sent, refused, hints })}`)
await space.close()
process.exit()
