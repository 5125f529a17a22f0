// Repairs a space: `repairer.mjs DIR COPY NOW`. Prints `done` and how many files were replaced, or `refused` and the
// code of the error.
import { MailboxError, openSpace } from '../../dist/mod.js'

const [dir, copy, now] = process.argv.slice(2)
const space = await openSpace({ dir, settings: { durability: 'os' }, now: () => Number(now) })
try {
  const { files, lost } = await space.repair({ from: [copy] })
  process.stdout.write(`done ${files.length} ${lost.length}\n`)
} catch (error) {
  const code = error instanceof MailboxError ? error.code : `untyped ${error.code} ${error.message}`
  process.stdout.write(`refused ${code}\n`)
}
await space.close()
