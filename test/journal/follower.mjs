// Follows a space from its beginning and prints `saw SEQ` for every entry.
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2], settings: { durability: 'os', pollMs: 50 } })
for await (const { entry } of space.follow()) process.stdout.write(`saw ${entry.seq}\n`)
