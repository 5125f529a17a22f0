import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { envelope } from '../lib/messages.mjs'
import { one } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/**
 * One JSON array for each inbox under a lock file, as agent teams do: lock, read, parse, add, write all.
 * The inbox keeps its age: with every message that comes the oldest goes.
 */
function variant(age) {
  return {
    name: `json-array-${age}`,
    title: `JSON array under a lock file, ${age} messages old`,
    kind: 'peer',
    durable: false,
    durability: 'not synced, and a crash while writing can lose the whole inbox',
    modes: [one],
    missing: () => missingPackage('proper-lockfile'),
    start: async () => ({
      version: `proper-lockfile ${packageVersion('proper-lockfile')}`,
      fresh: async () => join(scratchDir('array'), 'inbox.json'),
      stop: async () => {},
    }),
    async open(path, _mode, next) {
      const { default: lockfile } = await import('proper-lockfile')
      await writeFile(path, JSON.stringify(Array.from({ length: age }, () => envelope(next()))))
      return {
        async send() {
          const release = await lockfile.lock(path, { retries: 10 })
          try {
            const inbox = JSON.parse(await readFile(path, 'utf8'))
            inbox.push(envelope(next()))
            inbox.shift()
            await writeFile(path, JSON.stringify(inbox))
          } finally {
            await release()
          }
        },
        close: () => {},
      }
    },
  }
}

/** @type {import('./index.mjs').Peer[]} */
export const fileArray = [variant(100), variant(1_000)]
