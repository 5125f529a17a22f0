import type { Source } from './message.ts'
import { awayBoxes } from './roster.ts'

/**
 * The oldest message that somebody has yet to read or finish, and its segment. Group mail that was read is
 * finished: nothing more is expected of its readers.
 */
export function firstUnfinished(source: Source, now: number): { id: string; segment: number } | undefined {
  const row = source.index
    .sql(
      `SELECT m.id, m.segment FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE (r.class = 1 AND NOT (r.via_group = 1 AND r.state = 'shown'))
          OR (r.class = 0 AND (r.expires IS NULL OR r.expires > ?1 OR r.owner IN (SELECT value FROM json_each(?2))))
       ORDER BY r.seq LIMIT 1`,
    )
    .get<[string, number]>([now, awayBoxes(source)])
  return row && { id: row[0], segment: row[1] }
}
