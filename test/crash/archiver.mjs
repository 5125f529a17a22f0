// Archives a space: `archiver.mjs DIR NOW GZIP_AFTER_MS REMOVE_AFTER_MS`. Prints `done` and how many segments
// were gzipped and removed, or `refused` and the code of the error.
import { MailboxError, openSpace } from '../../dist/mod.js'

const [dir, now, gzipAfterMs, removeAfterMs] = process.argv.slice(2)
// Nobody is taken for dead although months have passed since they were heard of.
const settings = { durability: 'os', silentAfterMs: 0, heartbeatMs: 0, urgentAfterMs: 0, staleAfterMs: 0 }
const space = await openSpace({ dir, settings })
const ages = { gzipAfterMs: Number(gzipAfterMs), removeAfterMs: Number(removeAfterMs) }
try {
  const { gzipped, removed } = await space.archiveOld({ now: Number(now), ...ages })
  process.stdout.write(`done ${gzipped.length} ${removed.length}\n`)
} catch (error) {
  const code = error instanceof MailboxError ? error.code : `untyped ${error.code} ${error.message}`
  process.stdout.write(`refused ${code}\n`)
}
await space.close()
