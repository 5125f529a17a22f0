// Searches, reads threads and lists all mail without a pause until it is told to stop. Prints `round N` after
// each round, `refused CODE MESSAGE` for everything that failed, and `stopped` at the end.
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2], settings: { durability: 'os' } })
const ada = await space.mailbox('ada')
let stop = false
process.stdin.once('data', () => {
  stop = true
})
async function look() {
  const { messages } = await ada.search('words', { limit: 500 })
  await ada.sent({ limit: 500 })
  await ada.inbox({ all: true, limit: 500 })
  if (messages.length === 0) throw new Error('nothing was found')
}

for (let round = 1; !stop; round++) {
  try {
    await look()
  } catch (error) {
    process.stdout.write(`refused ${error.code} ${error.message}\n`)
  }
  process.stdout.write(`round ${round}\n`)
  await new Promise(setImmediate)
}
process.stdin.destroy()
await space.close()
process.stdout.write('stopped\n')
