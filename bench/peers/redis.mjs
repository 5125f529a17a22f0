import { toLine } from '../lib/messages.mjs'
import { flight64, one, processes5, processes20 } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir } from '../lib/scratch.mjs'
import { freePort, startServer, versionOf, which } from '../lib/servers.mjs'

/** A Redis stream with its append-only file. */
function variant(appendfsync) {
  const always = appendfsync === 'always'
  return {
    name: `redis-${appendfsync}`,
    title: `Redis stream, appendfsync ${appendfsync}`,
    kind: 'peer',
    durable: always,
    durability: always
      ? 'synced before the answer'
      : 'synced once a second: a power loss takes up to a second of answers',
    modes: always ? [one, flight64, processes5, processes20] : [one, flight64],
    inAims: always,
    async missing() {
      if (which('redis-server') === undefined)
        return 'redis-server is not installed (Debian: apt-get install redis-server)'
      return missingPackage('redis')
    },
    async start() {
      const path = which('redis-server')
      const port = await freePort()
      const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', scratchDir('redis')]
      const keep = ['--appendonly', 'yes', '--appendfsync', appendfsync, '--save', '']
      // No rewriting of the file in the middle of a measurement.
      const { stop } = await startServer(
        path,
        [...place, ...keep, '--auto-aof-rewrite-percentage', '0'],
        port,
      )
      let streams = 0
      return {
        version: `redis-server ${versionOf(path)}, redis ${packageVersion('redis')}`,
        fresh: async () => ({ port, stream: `mail${++streams}` }),
        stop,
      }
    },
    async open({ port, stream }, _mode, next) {
      const { createClient } = await import('redis')
      const client = createClient({ socket: { host: '127.0.0.1', port } })
      client.on('error', () => {})
      await client.connect()
      return {
        async send() {
          await client.xAdd(stream, '*', { line: toLine(next()) })
        },
        async close() {
          await client.del(stream)
          await client.close()
        },
      }
    },
  }
}

/** @type {import('./index.mjs').Peer[]} */
export const redis = [variant('always'), variant('everysec')]
