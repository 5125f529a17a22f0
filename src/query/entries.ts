import { type Cursor, startCursor } from '../journal/journal.ts'
import type { Entry } from '../model/entry.ts'
import type { Source } from './message.ts'

/**
 * A cursor from which reading yields every entry after `seq`, and few before. The journal alone knows only
 * where its files begin; the index knows the place of every message.
 */
function cursorNear({ index, journal }: Source, seq: number): Cursor {
  const row = index
    .sql('SELECT seq, segment, offset FROM message WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
    .get<[number, number, number]>([seq])
  if (row === undefined) return journal.locate(seq)
  const [at, segment, offset] = row
  return { ...startCursor, seq: at - 1, segment, offset }
}

/** Entries after a point: at most `limit`, and at most a few megabytes, but at least one. */
export function entriesAfter(source: Source, after: number, limit: number, maxBytes = pageBytes): Entry[] {
  const entries: Entry[] = []
  let cursor = cursorNear(source, after)
  for (let left = maxBytes; left > 0 && entries.length < limit; ) {
    const read = source.journal.read(cursor, Math.min(left, sliceBytes))
    if (read.entries.length === 0) break
    cursor = read.cursor
    for (const { entry, place } of read.entries) {
      if (entry.seq <= after) continue
      entries.push(entry)
      left -= place.bytes
    }
  }
  return entries.slice(0, limit)
}

const pageBytes = 4 * 1_048_576
const sliceBytes = 262_144
