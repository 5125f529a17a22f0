import { join } from 'node:path'
import { toLine } from '../lib/messages.mjs'
import { batch64, one, processes5, processes20 } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/** A table and one index, as a careful program would keep its mail. @type {import('./index.mjs').Peer[]} */
export const sqlite = [
  {
    name: 'sqlite',
    title: 'SQLite table, WAL, synchronous=FULL',
    kind: 'peer',
    durable: true,
    durability: 'synced before the answer',
    modes: [one, batch64, processes5, processes20],
    missing: () => missingPackage('libsql'),
    start: async () => ({
      version: `libsql ${packageVersion('libsql')}`,
      fresh: async () => join(scratchDir('sqlite'), 'mail.db'),
      stop: async () => {},
    }),
    async open(path, { batch }, next) {
      const { default: Database } = await import('libsql')
      const database = new Database(path)
      database.exec(`PRAGMA busy_timeout = 60000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE IF NOT EXISTS message (seq INTEGER PRIMARY KEY, box TEXT NOT NULL, unread INTEGER NOT NULL, line TEXT NOT NULL);
        CREATE INDEX IF NOT EXISTS message_box ON message (box, unread, seq)`)
      const insert = database.prepare('INSERT INTO message (box, unread, line) VALUES (?, 1, ?)')
      const send = () => insert.run(['bo', toLine(next())])
      return {
        sync: true,
        send() {
          if (batch === 1) return void send()
          database.exec('BEGIN')
          for (let i = 0; i < batch; i++) send()
          database.exec('COMMIT')
        },
        close: () => database.close(),
      }
    },
  },
]
