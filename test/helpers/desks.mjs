// The process that is the desk of the spaces of tests: see with-desk.ts. It is told on standard input, in lines of JSON,
// `{"open":DIR,"settings":{…}}` and `{"close":DIR}`, and prints `desk DIR` when it is the desk there, and `closed DIR`.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const spaces = new Map()

async function open(dir, settings) {
  const space = await openSpace({ dir, ...(settings && { settings }) })
  spaces.set(dir, space)
  const { desk } = space.core
  desk.takePart()
  // A process of the test may be the desk already.
  while (!desk.isDesk && !desk.knowsDesk && spaces.has(dir))
    await new Promise((resolve) => setTimeout(resolve, 2))
  console.log(`desk ${dir}`)
}

async function close(dir) {
  const space = spaces.get(dir)
  spaces.delete(dir)
  await space?.close()
  console.log(`closed ${dir}`)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { open: opens, close: closes, settings } = JSON.parse(line)
  const act = opens === undefined ? close(closes) : open(opens, settings)
  act.catch((error) => console.log(`failed ${opens ?? closes} ${error.message}`))
}
process.exit()
