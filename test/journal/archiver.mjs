// Archives a space: `archiver.mjs DIR NOW GZIP_AFTER_MS REMOVE_AFTER_MS`. Prints what was done as JSON.
import { openSpace } from '../../dist/mod.js'

const [dir, now, gzipAfterMs, removeAfterMs] = process.argv.slice(2)
const space = await openSpace({ dir, settings: { durability: 'os' } })
const ages = { gzipAfterMs: Number(gzipAfterMs), removeAfterMs: Number(removeAfterMs) }
const report = await space.archiveOld({ now: Number(now), ...ages })
process.stdout.write(`${JSON.stringify(report)}\n`)
await space.close()
