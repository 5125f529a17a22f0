import type { Source } from './message.ts'

/** The oldest message that somebody has yet to read or to finish, and the segment it lies in. */
export function firstUnfinished({ index }: Source, now: number): { id: string; segment: number } | undefined {
  const row = index
    .sql(
      `SELECT m.id, m.segment FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE r.class = 1 OR (r.class = 0 AND (r.expires IS NULL OR r.expires > ?)) ORDER BY r.seq LIMIT 1`,
    )
    .get([now])
  return row && { id: row[0] as string, segment: row[1] as number }
}

/** Boxes that hold mail of these segments, up to the last, whose life is over and that nobody has marked yet. */
export function boxesWithLapsed({ index }: Source, lastSegment: number, now: number): string[] {
  return index
    .sql(
      `SELECT DISTINCT d.box FROM due d JOIN message m ON m.seq = d.seq
       WHERE d.at <= ? AND m.segment <= ? ORDER BY d.box`,
    )
    .all([now, lastSegment])
    .map(([box]) => box as string)
}
