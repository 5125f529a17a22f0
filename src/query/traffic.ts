import type { Source } from './message.ts'

/** How much one has written to an address, and when last. */
export interface Traffic {
  from: string
  to: string
  messages: number
  lastAt: string
}

/** Nobody looks at more, and a page of them is a few hundred kilobytes. */
const pairsAtMost = 5_000

/** Who writes to whom: senders with the addresses they have used, the busiest first. */
export function traffic({ index }: Source, sinceMs: number): Traffic[] {
  return index
    .sql(
      // What a member of a group has seen of the group's mail is a row of its own; it was not addressed so.
      `SELECT m.sender, r.owner, count(*) AS n, max(m.created) FROM message m JOIN receipt r ON r.seq = m.seq
       WHERE m.created >= ? AND r.via_group = 0 GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT ${pairsAtMost}`,
    )
    .all([sinceMs])
    .map(([from, to, messages, last]) => ({
      from: from as string,
      to: to as string,
      messages: messages as number,
      lastAt: new Date(last as number).toISOString(),
    }))
}
