import type { Entry } from '../model/entry.ts'
import type { PlaceRow, Source } from './message.ts'
import { type ListOptions, limitOf, readBefore } from './page.ts'
import { tell } from './replay.ts'

export interface AuditPage {
  entries: Entry[]
  next: string | null
}

/**
 * What whoever audits a space looks at, the newest first: what was refused, credentials, keys, settings, imports,
 * repairs, hubs, and who came and went.
 */
export function auditTrail(source: Source, options: ListOptions = {}): AuditPage {
  const limit = limitOf(options.limit)
  const before = readBefore(options.after)
  const rows = source.index
    .sql('SELECT segment, offset, bytes, seq FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?')
    .all<[...PlaceRow, number]>([before, limit + 1])
  const entries = rows
    .slice(0, limit)
    .flatMap(([segment, offset, bytes]) => source.journal.at({ segment, offset, bytes }) ?? [])
  const last = rows[limit - 1]?.[3]
  return { entries, next: rows.length > limit ? `${last}` : null }
}

/** The same, each in a line of words. */
export function auditLines(source: Source, options: ListOptions = {}): AuditLines {
  const { entries, next } = auditTrail(source, options)
  return { events: entries.map((entry) => tell(source, entry)), next }
}

export interface AuditLines {
  events: { seq: number; at: string; kind: string; text: string }[]
  next: string | null
}
