// Takes the right to append and stops itself while it holds it. Prints `holding` before that, and
// `released` when it was continued and is done.
import { writeSync } from 'node:fs'
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2], settings: { durability: 'os' } })
const ada = await space.mailbox('ada')
let stopped = false
await space.core.decide('directory', () => {
  if (stopped) return { drafts: [], result: undefined }
  stopped = true
  writeSync(1, 'holding\n')
  process.kill(process.pid, 'SIGSTOP')
  return { drafts: [], result: undefined }
})
await ada.send({ to: 'ada', subject: 'from the holder' })
writeSync(1, 'released\n')
await space.close()
