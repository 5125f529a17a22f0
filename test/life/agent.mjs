// An agent in a process of its own. Prints `ready GENERATION`, and for every line
// `{"number":1,"method":"claim","args":["..."]}` it gets, what came of it: `did 1 {"value":...}`.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const [dir, name, json] = process.argv.slice(2)
const { settings, join } = JSON.parse(json)
const space = await openSpace({ dir, settings: { durability: 'os', ...settings } })
const mailbox = await space.mailbox(name, { join })
const { session } = (await space.agents()).find((agent) => agent.name === name)
console.log(`ready ${session.generation}`)

async function outcomeOf(method, args) {
  try {
    return { value: method in mailbox ? await mailbox[method](...args) : await space[method](...args) }
  } catch ({ code, message, hint }) {
    return { error: { code, message, hint } }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { number, method, args } = JSON.parse(line)
  console.log(`did ${number} ${JSON.stringify(await outcomeOf(method, args))}`)
}
await space.close()
process.exit()
