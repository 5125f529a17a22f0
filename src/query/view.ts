import { Directory } from '../model/directory.ts'
import { priorities } from '../model/message.ts'
import type { Receipt } from '../model/receipt.ts'
import { factsOf, findSeq, receiptsOf, type Source } from './message.ts'

/** What decisions ask of the index, answered from its rows. The directory is put in by whoever decides. */
export function createView(source: Source) {
  const { index } = source
  return {
    directory: new Directory(),
    message(id: string) {
      const seq = findSeq(source, id)
      return seq === undefined ? undefined : factsOf(source, seq)
    },
    receipts(seq: number): Receipt[] {
      return receiptsOf(source, seq)
    },
    keyed(sender: string, key: string): string | undefined {
      const row = index
        .sql('SELECT m.id FROM keyed k JOIN message m ON m.seq = k.seq WHERE k.sender = ? AND k.key = ?')
        .get([sender, key])
      return row?.[0] as string | undefined
    },
    lapsed(boxes: readonly string[], now: number, limit: number): (Receipt & { id: string })[] {
      const due = index.sql(
        'SELECT d.seq, m.id FROM due d JOIN message m ON m.seq = d.seq WHERE d.box = ? AND d.at <= ? LIMIT ?',
      )
      return boxes
        .flatMap((box) =>
          due.all([box, now, limit]).map(([seq, id]) => ({ box, seq: seq as number, id: id as string })),
        )
        .slice(0, limit)
        .flatMap(({ box, seq, id }) => {
          const receipt = receiptsOf(source, seq).find(({ owner }) => owner === box)
          return receipt === undefined ? [] : [{ ...receipt, id }]
        })
    },
    nextOfRole(role: string, now: number): string | undefined {
      const first = index.sql(
        `SELECT m.id, m.seq FROM receipt r JOIN message m ON m.seq = r.seq
         WHERE r.box = ? AND r.class = 0 AND r.rank = ? AND (r.expires IS NULL OR r.expires > ?) ORDER BY r.seq LIMIT 1`,
      )
      const lapsed = index.sql(
        `SELECT m.id, m.seq FROM lease l JOIN message m ON m.seq = l.seq JOIN receipt r ON r.seq = l.seq AND r.owner = l.owner
         WHERE l.owner = ?1 AND l.rank = ?2 AND l.until <= ?3 AND r.class = 1 AND (r.expires IS NULL OR r.expires > ?3) ORDER BY l.seq LIMIT 1`,
      )
      for (let rank = priorities.length - 1; rank >= 0; rank--) {
        const waiting = [first, lapsed].flatMap((query) => query.get([`role:${role}`, rank, now]) ?? [])
        const [id, seq, otherId, otherSeq] = waiting as [string?, number?, string?, number?]
        if (id !== undefined) return otherId !== undefined && otherSeq! < seq! ? otherId : id
      }
      return undefined
    },
  }
}
