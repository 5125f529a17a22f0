import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toLine } from '../lib/messages.mjs'
import { flight64, one } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir } from '../lib/scratch.mjs'
import { freePort, startServer, versionOf, which } from '../lib/servers.mjs'

/** `sync_interval: always` came with 2.10. */
const canSync = (version) => {
  const [major, minor] = version.split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 10)
}

/** A JetStream stream with file storage; as it comes, and synced where the server can. */
function variant(synced) {
  return {
    name: synced ? 'nats-sync' : 'nats',
    title: `NATS JetStream, ${synced ? 'sync always' : 'default'}`,
    kind: 'peer',
    durable: synced,
    durability: synced
      ? 'synced before the answer'
      : 'not synced: by default the server syncs every two minutes',
    modes: [one, flight64],
    inAims: !synced,
    async missing() {
      const path = which('nats-server')
      if (path === undefined) return 'nats-server is not installed (Debian: apt-get install nats-server)'
      if (synced && !canSync(versionOf(path)))
        return `nats-server ${versionOf(path)} cannot sync before it answers (2.10 can)`
      return (await missingPackage('@nats-io/transport-node')) ?? missingPackage('@nats-io/jetstream')
    },
    async start() {
      const path = which('nats-server')
      const port = await freePort()
      const dir = scratchDir('nats')
      const config = join(dir, 'nats.conf')
      const sync = synced ? 'sync_interval: always' : ''
      writeFileSync(
        config,
        `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${JSON.stringify(dir)}\n${sync} }\n`,
      )
      const { stop } = await startServer(path, ['-c', config], port)
      let streams = 0
      return {
        version: `nats-server ${versionOf(path)}, @nats-io/jetstream ${packageVersion('@nats-io/jetstream')}`,
        fresh: async () => ({ port, stream: `mail${++streams}` }),
        stop,
      }
    },
    async open({ port, stream }, _mode, next) {
      const { connect } = await import('@nats-io/transport-node')
      const { jetstream, jetstreamManager } = await import('@nats-io/jetstream')
      const connection = await connect({ servers: `127.0.0.1:${port}` })
      const manager = await jetstreamManager(connection)
      await manager.streams.add({ name: stream, subjects: [stream], storage: 'file' })
      const client = jetstream(connection)
      return {
        async send() {
          await client.publish(stream, toLine(next()))
        },
        async close() {
          await manager.streams.delete(stream)
          await connection.close()
        },
      }
    },
  }
}

/** @type {import('./index.mjs').Peer[]} */
export const nats = [variant(false), variant(true)]
