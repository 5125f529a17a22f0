import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  commonWord,
  leftUnread,
  messageAt,
  rankOf,
  rareWords,
  reader,
  threadBlocks,
  threadName,
} from '../lib/corpus.mjs'
import { envelope } from '../lib/messages.mjs'
import { missingPackage } from '../lib/packages.mjs'

/** One table with the indexes these questions want, and FTS5 for the words. @type {import('./index.mjs').Reader} */
export const sqlite = {
  name: 'sqlite',
  title: 'SQLite table with indexes and FTS5',
  largest: Number.POSITIVE_INFINITY,
  missing: () => missingPackage('libsql'),

  async fill(dir, n, shape, onProgress) {
    mkdirSync(dir, { recursive: true })
    const database = await open(dir)
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      CREATE TABLE message (seq INTEGER PRIMARY KEY, box TEXT NOT NULL, unread INTEGER NOT NULL, urgency INTEGER NOT NULL, thread TEXT, line TEXT NOT NULL);
      CREATE INDEX message_box ON message (box, unread, urgency, seq);
      CREATE INDEX message_thread ON message (thread, seq) WHERE thread IS NOT NULL;
      CREATE VIRTUAL TABLE words USING fts5(subject, body, content='', tokenize="unicode61 remove_diacritics 2")`)
    const insert = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)')
    const index = database.prepare('INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)')
    for (let i = 0; i < n; i++) {
      if (i % 10_000 === 0) database.exec('BEGIN')
      const note = messageAt(i, n)
      const unread = shape === 'handled' && i < n - leftUnread ? 0 : 1
      const line = JSON.stringify(envelope(note, { from: note.from }))
      insert.run([i + 1, reader, unread, 3 - rankOf(note.priority), note.thread ?? null, line])
      index.run([i + 1, note.subject, note.body])
      if (i % 10_000 === 9_999 || i === n - 1) {
        database.exec('COMMIT')
        onProgress(i / n)
      }
    }
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
  },

  async open(dir, n) {
    const database = await open(dir)
    const page = database
      .prepare('SELECT line FROM message WHERE box = ? AND unread = 1 ORDER BY urgency, seq LIMIT 50')
      .raw()
    const unread = database.prepare('SELECT count(*) FROM message WHERE box = ? AND unread = 1').raw()
    const found = database
      .prepare(
        'SELECT m.line FROM words w JOIN message m ON m.seq = w.rowid WHERE words MATCH ? ORDER BY w.rowid DESC LIMIT 50',
      )
      .raw()
    const thread = database.prepare('SELECT line FROM message WHERE thread = ? ORDER BY seq').raw()
    const blocks = threadBlocks(n)
    const texts = (rows) => rows.map(([line]) => JSON.parse(line)).length
    return {
      inbox: () => texts(page.all([reader])),
      count: () => unread.get([reader])[0],
      rare: (k) => texts(found.all([rareWords[k % rareWords.length]])),
      common: () => texts(found.all([commonWord])),
      thread: (k) => texts(thread.all([threadName(blocks[k % blocks.length])])),
      close: () => database.close(),
    }
  },
}

async function open(dir) {
  const { default: Database } = await import('libsql')
  return new Database(join(dir, 'mail.db'))
}
