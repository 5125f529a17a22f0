import type { Cursor, DamagedLine, Journal, PlacedEntry } from '../journal/journal.ts'
import { Bell } from './bell.ts'

export interface FollowOptions {
  /** Entries after this seq. @default 0 */
  after?: number
  signal?: AbortSignal | undefined
  /** Go on with what will come. Otherwise it ends where the journal does. @default true */
  live?: boolean
  /** Called for each record on the way that cannot be read. */
  onDamaged?: (line: DamagedLine) => void
}

/**
 * Every entry after a point, and then every new one, until the signal ends it.
 *
 * Past and present are read the same way, from one cursor: first until nothing is left (backfill), and from
 * then on whenever a wake says that there is more (live). The cutover cannot lose or double an entry, because
 * the listener is there before the first read: the next read finds what arrived in between, and a wake for
 * something already read finds nothing.
 */
export async function* follow(journal: Journal, options: FollowOptions = {}): AsyncGenerator<PlacedEntry> {
  const { after = 0, signal, live = true, onDamaged } = options
  const bell = new Bell(journal, signal)
  try {
    // From here on it rings when there is more on this disk.
    await journal.pull()
    let cursor: Cursor = journal.locate(after)
    while (!signal?.aborted) {
      bell.reset()
      const read = journal.read(cursor)
      cursor = read.cursor
      if (onDamaged !== undefined) read.damaged.forEach(onDamaged)
      for (const placed of read.entries) {
        if (signal?.aborted) return
        if (placed.entry.seq > after) yield placed
      }
      if (read.entries.length > 0) continue
      if (!live) return
      await bell.rung()
    }
  } finally {
    bell.close()
  }
}
