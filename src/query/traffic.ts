import { isoTime } from '../model/time.ts'
import type { Source } from './message.ts'

/** How much an agent has sent to an address, and when it last did. */
export interface Traffic {
  from: string
  to: string
  messages: number
  lastAt: string
}

/** More is not readable, and these already are a few hundred kilobytes. */
const pairsAtMost = 5_000

export interface TrafficOptions {
  /** In ms. @default 0 */
  since?: number
  until?: number
  /** Mail to a role that somebody has taken counts as mail to that agent. */
  foldsRoles?: boolean
}

/** Who writes to whom: senders with the addresses they have used, the busiest first. */
export function traffic(
  { index }: Source,
  { since = 0, until = Number.MAX_SAFE_INTEGER, foldsRoles = false }: TrafficOptions,
): Traffic[] {
  return index
    .sql(
      // A group member that has seen the group's mail has a row of its own, but was not addressed.
      `SELECT m.sender, ${foldsRoles ? 'r.box' : 'r.owner'}, count(*) AS n, max(m.created) FROM message m JOIN receipt r ON r.seq = m.seq
       WHERE m.created >= ? AND m.created <= ? AND r.via_group = 0 GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT ${pairsAtMost}`,
    )
    .all<[string, string, number, number]>([since, until])
    .map(([from, to, messages, last]) => ({ from, to, messages, lastAt: isoTime(last) }))
}
