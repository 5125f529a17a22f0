import type { Source } from './message.ts'
import { awayBoxes } from './roster.ts'

/**
 * The oldest message that somebody has yet to get, to read or to finish, and its segment. Group mail that was read is
 * finished: nothing more is expected of its readers.
 */
export function firstUnfinished(
  source: Source,
  now: number,
): { id: string; segment: number; is: string } | undefined {
  const row = source.index
    .sql(
      `SELECT m.id, m.segment FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE (r.class = 1 AND NOT (r.via_group = 1 AND r.state = 'shown'))
          OR (r.class = 0 AND (r.expires IS NULL OR r.expires > ?1 OR r.owner IN (SELECT value FROM json_each(?2))))
       ORDER BY r.seq LIMIT 1`,
    )
    .get<[string, number]>([now, awayBoxes(source)])
  const scheduled = source.index
    .sql('SELECT id, segment FROM scheduled ORDER BY seq LIMIT 1')
    .get<[string, number]>()
  const isEarlier = scheduled !== undefined && (row === undefined || scheduled[1] < row[1])
  const first = isEarlier ? scheduled : row
  return first && { id: first[0], segment: first[1], is: isEarlier ? 'scheduled' : 'unread or open' }
}
