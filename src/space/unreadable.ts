import { join } from 'node:path'
import { decodeLine } from '../journal/codec.ts'
import { SegmentReader } from '../journal/file/segment-reader.ts'
import { type Cursor, type DamagedLine, startCursor } from '../journal/journal.ts'
import type { ReceiptEntry } from '../model/entry.ts'
import { toldBy, type UnreadableRecord } from '../query/unreadable.ts'

/**
 * The records of a space that cannot be read, and what later ones tell of them. It reads the journal and nothing
 * else, and changes nothing.
 */
export function unreadableIn(dir: string): UnreadableRecord[] {
  const reader = new SegmentReader(join(dir, 'journal'), decodeLine)
  const found = new Map<number, { line: DamagedLine; trail: ReceiptEntry[] }>()
  try {
    for (let cursor: Cursor = startCursor; ; ) {
      const read = reader.read(cursor, 4 * 1_048_576)
      for (const line of read.damaged) found.set(line.seq, { line, trail: [] })
      if (read.entries.length === 0) break
      for (const { entry } of found.size === 0 ? [] : read.entries) {
        if (entry.kind !== 'receipt') continue
        for (const { seq } of entry.changes) found.get(seq)?.trail.push(entry)
      }
      cursor = read.cursor
    }
  } finally {
    reader.close()
  }
  return [...found.values()].map(({ line, trail }) => toldBy(trail, line))
}
