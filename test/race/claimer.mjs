// Claims role mail until none is left: `next` asks for the next of the role, `ids` tries every id it is
// given, in an order of its own. Prints `ready`, waits for a line with the ids, and prints
// `done {"won":[...],"lost":N}`.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const [dir, name, mode] = process.argv.slice(2)
const space = await openSpace({
  dir,
  settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
})
const mailbox = await space.mailbox(name, { join: false })
const won = []
let lost = 0

async function claimNext() {
  for (;;) {
    const claimed = await mailbox.claimNext('worker')
    if (claimed === null) return
    won.push(claimed.message.id)
  }
}

async function claimAll(ids) {
  for (const id of shuffled(ids)) {
    try {
      won.push((await mailbox.claim(id)).message.id)
    } catch (error) {
      if (error.code !== 'conflict') throw error
      lost++
    }
  }
}

function shuffled(list) {
  const copy = [...list]
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1))
    ;[copy[at], copy[other]] = [copy[other], copy[at]]
  }
  return copy
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const ids = JSON.parse(line)
  await (mode === 'next' ? claimNext() : claimAll(ids))
  break
}
console.log(`done ${JSON.stringify({ won, lost })}`)
await space.close()
process.exit()
