// Takes mail of a role, one after the other, works on it for a moment and says that it is done, until
// somebody ends it or writes a line to it.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSpace } from '../../dist/mod.js'

const [dir, name, json] = process.argv.slice(2)
const { settings, workMs } = JSON.parse(json)
let isOver = false
void once(process.stdin, 'data').then(() => {
  isOver = true
})
const space = await openSpace({ dir, settings })
const mailbox = await space.mailbox(name, { join: { roles: ['worker'] } })
console.log('ready')
while (!isOver) {
  const claimed = await mailbox.claimNext('worker')
  await sleep(workMs)
  // What nobody has finished yet may come back: whoever has it may be killed.
  if (claimed !== null) await mailbox.done(claimed.message.id)
}
await space.close()
process.exit()
