import { toLine } from '../lib/messages.mjs'
import { batch100, connections20, one, processes5, processes20 } from '../lib/modes.mjs'
import { missingPostgres, startPostgres } from '../lib/postgres.mjs'

/** @type {import('./index.mjs').Peer[]} */
export const postgres = [
  {
    name: 'postgres',
    title: 'PostgreSQL table',
    kind: 'peer',
    durable: true,
    durability: 'synced before the answer',
    modes: [one, connections20, batch100, processes5, processes20],
    missing: missingPostgres,
    async start() {
      const { port, version, stop } = await startPostgres()
      let tables = 0
      return { version, fresh: async () => ({ port, table: `mail${++tables}` }), stop }
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
      // One of several processes makes the table.
      await pool.query(`BEGIN; SELECT pg_advisory_xact_lock(1);
        CREATE TABLE IF NOT EXISTS ${table} (seq BIGSERIAL PRIMARY KEY, box TEXT NOT NULL, unread BOOLEAN NOT NULL, line TEXT NOT NULL);
        CREATE INDEX IF NOT EXISTS ${table}_box ON ${table} (box, unread, seq); COMMIT`)
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
          await pool.query(`BEGIN; SELECT pg_advisory_xact_lock(1); DROP TABLE IF EXISTS ${table}; COMMIT`)
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
