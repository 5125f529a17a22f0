import type { Database } from '../base/sqlite.ts'
import type { Place } from '../journal/journal.ts'
import type { Entry } from '../model/entry.ts'

/** Mail that is to be sent later, until it is sent or taken back. */
export function createScheduled(database: Database): (entry: Entry, place: Place) => void {
  const put = database.prepare('INSERT OR IGNORE INTO scheduled VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const drop = database.prepare('DELETE FROM scheduled WHERE id = ?')
  return (entry, { segment, offset, bytes }) => {
    if (entry.kind === 'scheduled') {
      const { id, createdAt, from, key = null } = entry.message
      put.run([entry.seq, id, Date.parse(createdAt), from, key, segment, offset, bytes])
    } else if (entry.kind === 'unscheduled') drop.run([entry.id])
    else if (entry.kind === 'message' && entry.scheduledAt !== undefined) drop.run([entry.message.id])
  }
}
