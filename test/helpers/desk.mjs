// Is the desk of a space, and sends what it is told to on standard input: `desk.mjs DIR`, then lines of JSON with
// `from` and what to send. Prints `desk` when it is the desk, and `sent ID` for each.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2] })
space.core.desk.takePart()
while (!space.core.desk.isDesk) await new Promise(setImmediate)
console.log('desk')
for await (const line of createInterface({ input: process.stdin })) {
  const { from, ...message } = JSON.parse(line)
  const { id } = await (await space.mailbox(from)).send(message)
  console.log(`sent ${id} ${message.subject}`)
}
