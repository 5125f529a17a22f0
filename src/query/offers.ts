import type { Offered } from '../conversation/view.ts'
import { receiptColumns, type Source, toReceipt } from './message.ts'

/** In SQL, whether the mail of receipt r is offered first to another holder of its role than this parameter names. */
export const isOfferedElsewhere = (me: string): string =>
  `EXISTS (SELECT 1 FROM offer o WHERE o.seq = r.seq AND o.agent <> ${me})`

/** The same for one message. */
export const isOfferedToOther = ({ index }: Source, seq: number, me: string): boolean =>
  index.sql('SELECT 1 FROM offer WHERE seq = ? AND agent <> ?').get([seq, me]) !== undefined

/** Mail that is offered to somebody and not taken yet; what ends first comes first. */
export const openOffers = ({ index }: Source, limit: number): Offered[] =>
  index
    .sql(
      `SELECT ${receiptColumns}, m.id, o.agent, o.until FROM offer o CROSS JOIN message m ON m.seq = o.seq
       CROSS JOIN receipt r ON r.seq = o.seq AND r.owner = r.box WHERE r.owner LIKE 'role:%' ORDER BY o.until LIMIT ?`,
    )
    .all([limit])
    .map((row) => {
      const [id, agent, until] = row.slice(-3) as [string, string, number]
      return { ...toReceipt(row), id, agent, until }
    })

/** What an agent has claimed and not finished, what it owes by name, and what is offered to it. */
export const openWork = ({ index }: Source, agent: string): number =>
  index
    .sql(
      `SELECT (SELECT count(*) FROM receipt WHERE box = ?1 AND class < 2 AND owner <> ?1 AND state <> 'failed')
         + (SELECT count(*) FROM matter WHERE open = 1 AND owner = ?1 AND kind <> 'ack')
         + (SELECT count(*) FROM offer WHERE agent = ?1)`,
    )
    .get<[number]>([agent])![0]
