import type { Database, Statement } from '../base/sqlite.ts'
import type { Cursor, DamagedLine } from '../journal/journal.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { ReceiptChange, ReceiptState } from '../model/receipt.ts'

/**
 * Keeps account of entries that the journal has lost. What depends on a lost entry is taken as it is: a receipt
 * whose message is lost is nobody's, a state is reached whatever was lost on the way to it, and an agent that acts
 * is in the roster even if the entry with which it joined is gone.
 */
export function createHoles(database: Database) {
  /** Prepared on first use: nearly every journal is whole. */
  const prepared = new Map<string, Statement>()
  const sql = (text: string): Statement => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  let last = 0
  let isHoled: boolean | undefined

  function add(first: number, end: number): void {
    sql('INSERT INTO hole VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)').run([
      first,
      end,
    ])
    isHoled = true
  }

  return {
    begin({ seq }: Cursor, damaged: readonly DamagedLine[]): void {
      last = seq
      // Another process may have brought the tables here.
      isHoled = undefined
      for (const one of damaged) {
        sql('INSERT OR IGNORE INTO damaged VALUES (?, ?, ?, ?, ?)').run([
          one.segment,
          one.offset,
          one.bytes,
          one.line,
          one.seq,
        ])
        add(one.seq, one.seq)
      }
    },

    /** Whether any entry is lost up to here. */
    any: (): boolean => (isHoled ??= sql('SELECT 1 FROM hole LIMIT 1').get() !== undefined),

    /** Goes on to an entry. What lies between it and the last one is lost. */
    pass(seq: number): void {
      if (last > 0 && seq > last + 1) add(last + 1, seq - 1)
      last = seq
    },

    /** A receipt as the tables have it, which may not be what a change says that it was. */
    receiptOf({
      seq,
      owner,
    }: ReceiptChange): { state: ReceiptState; box: string; viaGroup: boolean } | undefined {
      const row = sql('SELECT state, box, via_group FROM receipt WHERE seq = ? AND owner = ?').get<
        [ReceiptState, string, number]
      >([seq, owner])
      return row && { state: row[0], box: row[1], viaGroup: row[2] === 1 }
    },

    /** Puts an agent that acts into the roster, unless it is there. Its roles and tags come back when it joins. */
    putAgent(name: string, at: string): void {
      if (name === person || name === systemAgent) return
      const session = { generation: 1, startedAt: at }
      const agent: Agent = { name, state: 'idle', roles: [], tags: [], session, lastSeenAt: at }
      sql('INSERT OR IGNORE INTO agent VALUES (?, ?, ?, NULL)').run([
        name,
        JSON.stringify(agent),
        session.generation,
      ])
    },
  }
}

/** Whether the tables have any of these entries, which are lost: they were read before that. */
export function knowsLost(
  index: { sql: (text: string) => Statement },
  lost: readonly { from: number; to: number }[],
): boolean {
  const covering = index.sql('SELECT 1 FROM hole WHERE first <= ? AND last >= ?')
  return lost.some(({ from, to }) => covering.get([from, to]) === undefined)
}
