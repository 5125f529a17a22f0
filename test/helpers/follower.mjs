// Follows a space: `follower.mjs DIR`. Prints `following`, and `entry SUBJECT` for each message.
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2] })
const entries = space.follow()
console.log('following')
for await (const { entry } of entries)
  if (entry.kind === 'message') console.log(`entry ${entry.message.subject}`)
