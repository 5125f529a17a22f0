import type { Socket } from 'node:net'
import type { Client } from 'pg'
import { MailboxError } from '../../base/errors.ts'
import type { PostgresAddress } from './address.ts'
import { databaseError } from './problem.ts'

/** One connection to the server. */
export interface Link {
  /** Runs a statement. Errors are ours, and after one that breaks the connection `isBroken` is true. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<[Row, ...Row[]]>
  readonly isBroken: boolean
  /** Whether it keeps the process alive. */
  rest(isResting: boolean): void
  close(): Promise<void>
}

/** Connects with the driver, which is loaded here and nowhere else. It takes PGPASSWORD, ~/.pgpass, sslmode and so on. */
export async function connect(address: PostgresAddress): Promise<Link> {
  const { Client: Driver } = await loadDriver()
  const where = new URL(address.shown).host || 'localhost'
  let client: Client
  try {
    client = new Driver({
      connectionString: address.connection,
      connectionTimeoutMillis: address.connectMs,
      // Longer than the server itself waits for a lock, so that it is the server that gives up.
      query_timeout: address.timeoutMs + 2_000,
      keepAlive: true,
      // What is known to follow goes along in the same round trip. Older drivers take it one by one.
      ...{ pipeline: true },
      application_name: 'agent-mailbox',
    })
  } catch (cause) {
    throw databaseError(cause, where)
  }
  let isBroken = false
  // An idle connection can break as well, and whoever uses it next is told.
  client.on('error', () => (isBroken = true))
  client.on('end', () => (isBroken = true))
  try {
    await client.connect()
  } catch (cause) {
    // What it still waits for keeps the process alive.
    void client.end().catch(() => {})
    throw databaseError(cause, where)
  }
  // The types leave it out.
  const socket = (client as unknown as { connection: { stream: Socket } }).connection.stream
  return {
    get isBroken() {
      return isBroken
    },
    async query<Row>(text: string, values?: readonly unknown[]) {
      try {
        const { rows } = await client.query(text, values as unknown[])
        return rows as [Row, ...Row[]]
      } catch (cause) {
        const error = databaseError(cause, where)
        if (error.code === 'unreachable') isBroken = true
        throw error
      }
    },
    rest: (isResting) => (isResting ? socket.unref() : socket.ref()),
    async close() {
      socket.ref()
      if (isBroken) {
        // A polite end would wait for an answer.
        void client.end().catch(() => {})
        socket.destroy()
      } else await client.end().catch(() => {})
    },
  }
}

async function loadDriver(): Promise<{ Client: typeof Client }> {
  try {
    const loaded = await import('pg')
    return loaded.default ?? loaded
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new MailboxError('invalid', 'this space is on PostgreSQL, and the driver for it is not installed', {
      cause,
      hint: 'install it where agent-mailbox is installed: npm install pg (with -g if that is global)',
    })
  }
}
