import { asking } from '../model/reach.ts'
import type { Source } from './message.ts'

const isHeld = `r.box = ?1 AND r.class = 1 AND r.state <> 'failed' AND m.asks = ${asking.work}`

/** Whether an agent has work in hand: claimed for a role, or its own and started. */
export const hasWork = ({ index }: Source, agent: string): boolean =>
  index
    .sql(
      `SELECT 1 FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE ${isHeld} AND (r.owner <> r.box OR r.state = 'processing') LIMIT 1`,
    )
    .get([agent]) !== undefined

/** Whether an agent has claimed work whose claim ends before a time, in ms. */
export const endsWork = ({ index }: Source, agent: string, before: number): boolean =>
  index
    .sql(
      `SELECT 1 FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE ${isHeld} AND r.owner <> r.box AND r.claim_until < ?2 LIMIT 1`,
    )
    .get([agent, before]) !== undefined
