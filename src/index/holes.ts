import type { Database } from '../base/sqlite.ts'
import type { Cursor, DamagedLine } from '../journal/journal.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { ReceiptChange, ReceiptState } from '../model/receipt.ts'

/**
 * Keeps account of entries that the journal has lost. What depends on a lost entry is taken as it is: a receipt
 * whose message is lost is nobody's, a state is reached whatever was lost on the way to it, and an agent that acts
 * is in the roster even if the entry with which it joined is gone.
 */
export function createHoles(database: Database) {
  const putDamaged = database.prepare('INSERT OR IGNORE INTO damaged VALUES (?, ?, ?, ?, ?)')
  const putHole = database.prepare(
    'INSERT INTO hole VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)',
  )
  const readAny = database.prepare('SELECT 1 FROM hole LIMIT 1')
  const readReceipt = database.prepare(
    'SELECT state, box, via_group FROM receipt WHERE seq = ? AND owner = ?',
  )
  const putAgent = database.prepare('INSERT OR IGNORE INTO agent VALUES (?, ?, ?)')
  let last = 0
  let isHoled: boolean | undefined

  function add(first: number, end: number): void {
    putHole.run([first, end])
    isHoled = true
  }

  return {
    begin({ seq }: Cursor, damaged: readonly DamagedLine[]): void {
      last = seq
      // Another process may have brought the tables here.
      isHoled = undefined
      for (const one of damaged) {
        putDamaged.run([one.segment, one.offset, one.bytes, one.line, one.seq])
        add(one.seq, one.seq)
      }
    },

    /** Whether any entry is lost up to here. */
    any: (): boolean => (isHoled ??= readAny.get() !== undefined),

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
      const row = readReceipt.get<[ReceiptState, string, number]>([seq, owner])
      return row && { state: row[0], box: row[1], viaGroup: row[2] === 1 }
    },

    /** Puts an agent that acts into the roster, unless it is there. Its roles and tags come back when it joins. */
    putAgent(name: string, at: string): void {
      if (name === person || name === systemAgent) return
      const session = { generation: 1, startedAt: at }
      const agent: Agent = { name, state: 'idle', roles: [], tags: [], session, lastSeenAt: at }
      putAgent.run([name, JSON.stringify(agent), session.generation])
    },
  }
}
