import type { Place } from '../journal/journal.ts'
import { boxesTo, isGroupBox } from '../model/address.ts'
import { foldTallies, isOfRemoved } from '../model/directory.ts'
import type { AgentEntry, MessageEntry, ReceiptEntry } from '../model/entry.ts'
import { priorityRank } from '../model/message.ts'
import { classOf, type ReceiptChange, type ReceiptState, receiptClasses } from '../model/receipt.ts'
import type { Database } from '../sqlite.ts'
import type { Applier } from './projection.ts'
import { RowBuffer } from './row-buffer.ts'

const classNumber = (state: ReceiptState) => receiptClasses.indexOf(classOf(state))

/**
 * The only writer of the index. Decisions have recorded everything they saw, so this is a plain copying
 * of facts into rows: no clock, no chance, no look at anything but the entry and the rows themselves.
 */
export function createApplier(database: Database): Applier {
  const messages = new RowBuffer(
    database,
    'INSERT OR IGNORE INTO message',
    '($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
  )
  const stored = new RowBuffer(
    database,
    'INSERT OR IGNORE INTO receipt',
    `($1, $2, $2, ${classNumber('stored')}, $3, 'stored', 0, NULL, $4)`,
  )
  const dues = new RowBuffer(database, 'INSERT OR IGNORE INTO due', '($1, $2, $3)')
  const buffers = [messages, stored, dues]
  const tallies = new Map<string, { box: string; slot: number; by: number }>()

  const putAgent = database.prepare('INSERT OR REPLACE INTO agent VALUES (?, ?)')
  const putKey = database.prepare('INSERT OR IGNORE INTO keyed VALUES (?, ?, ?)')
  const putTrail = database.prepare('INSERT OR IGNORE INTO trail VALUES (?, ?, ?, ?, ?)')
  const putReceipt = database.prepare(
    `INSERT INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT expires FROM message WHERE seq = ?1))
     ON CONFLICT DO UPDATE SET box = excluded.box, class = excluded.class, state = excluded.state,
       attempts = excluded.attempts, claim_until = excluded.claim_until`,
  )
  const putShared = database.prepare('INSERT OR IGNORE INTO shared VALUES (?, ?, ?)')
  const dropShared = database.prepare('DELETE FROM shared WHERE box = ? AND seq = ?')
  const restoreShared = database.prepare(
    `INSERT OR IGNORE INTO shared SELECT owner, seq, rank FROM receipt r
     WHERE seq = ? AND owner = ? AND class = 0 AND EXISTS (SELECT 1 FROM receipt x WHERE x.seq = r.seq AND x.owner <> r.owner)`,
  )
  const putLease = database.prepare('INSERT OR IGNORE INTO lease VALUES (?, ?, ?, ?)')
  const dropLease = database.prepare(
    `DELETE FROM lease WHERE (owner, rank, until, seq) IN
     (SELECT owner, rank, claim_until, seq FROM receipt WHERE seq = ? AND owner = ? AND claim_until IS NOT NULL)`,
  )
  // The life of a message ends for those who have not seen it.
  const dropDue = database.prepare(
    'DELETE FROM due WHERE box = ?2 AND seq = ?1 AND at = (SELECT expires FROM message WHERE seq = ?1)',
  )
  const restoreDue = database.prepare(
    `INSERT OR IGNORE INTO due SELECT owner, expires, seq FROM receipt
     WHERE seq = ? AND owner = ? AND class = 0 AND expires IS NOT NULL`,
  )
  const ownersOf = database.prepare('SELECT owner FROM receipt WHERE seq = ?')
  const addTally = database.prepare(
    'INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
  )
  const dropTally = database.prepare('DELETE FROM tally WHERE box = ? AND slot = ? AND n = 0')
  const advanceFloor = createFloor(database)
  const readFirstMessage = database.prepare('SELECT min(seq) FROM message')
  /** Once there is one it stays the first; until then another process may be the one to put it there. */
  let firstMessage: number | undefined

  function flushRows(): void {
    for (const buffer of buffers) buffer.flush()
  }

  function applyMessage({ seq, message, exclude }: MessageEntry, place: Place): void {
    const rank = priorityRank(message.priority)
    const expires = message.expiresAt === undefined ? null : Date.parse(message.expiresAt)
    const thread = message.threadId === message.id ? null : message.threadId
    const { segment, offset, bytes } = place
    const excluded = exclude === undefined ? null : JSON.stringify(exclude)
    messages.add(seq, message.id, segment, offset, bytes, message.from, thread, rank, expires, excluded)
    const boxes = boxesTo(message.to)
    for (const box of boxes) {
      stored.add(seq, box, rank, expires)
      if (expires !== null) dues.add(box, expires, seq)
      if (boxes.length > 1 && !isGroupBox(box)) putShared.run([box, seq, rank])
    }
    if (message.key !== undefined) putKey.run([message.from, message.key, seq])
  }

  function applyReceipt({ seq, changes }: ReceiptEntry, { segment, offset, bytes }: Place): void {
    flushRows()
    firstMessage ??= (readFirstMessage.get()?.[0] as number | null) ?? undefined
    for (const change of changes) {
      if (isOfRemoved(change, firstMessage)) continue
      const until = change.claimUntil === undefined ? null : Date.parse(change.claimUntil)
      const { seq: message, owner, box, state, rank, attempts = 0 } = change
      dropLease.run([message, owner])
      putReceipt.run([message, owner, box, classNumber(state), rank, state, attempts, until])
      putTrail.run([message, seq, segment, offset, bytes])
      if (until !== null) putLease.run([owner, rank, until, message])
      dropDue.run([message, owner])
      restoreDue.run([message, owner])
      if (!isGroupBox(owner)) {
        dropShared.run([owner, message])
        restoreShared.run([message, owner])
      }
      if (change.was === undefined) settle(change)
    }
  }

  /** An agent saw group mail for the first time: perhaps everything up to there is settled for it now. */
  function settle({ seq, owner, rank }: ReceiptChange): void {
    for (const [box] of ownersOf.all([seq])) {
      if (isGroupBox(box as string)) advanceFloor(owner, box as string, rank)
    }
  }

  function applyAgent({ agent }: AgentEntry): void {
    putAgent.run([agent.name, JSON.stringify(agent)])
  }

  return {
    apply({ entry, place }) {
      if (entry.kind === 'message') applyMessage(entry, place)
      else if (entry.kind === 'receipt') applyReceipt(entry, place)
      else if (entry.kind === 'agent') applyAgent(entry)
      foldTallies(entry, firstMessage, (box, slot, by) => {
        const key = `${slot} ${box}`
        const known = tallies.get(key)
        if (known === undefined) tallies.set(key, { box, slot, by })
        else known.by += by
      })
    },
    finish() {
      flushRows()
      for (const { box, slot, by } of tallies.values()) {
        if (by === 0) continue
        addTally.run([box, slot, by])
        dropTally.run([box, slot])
      }
      tallies.clear()
    },
  }
}

/** Moves an agent's floor in a group's box over everything that it has seen, said itself, or was left out of. */
function createFloor(database: Database): (agent: string, box: string, rank: number) => void {
  const readFloor = database.prepare('SELECT seq FROM floor WHERE agent = ? AND box = ? AND rank = ?')
  const writeFloor = database.prepare('INSERT OR REPLACE INTO floor VALUES (?, ?, ?, ?)')
  const nextAbove = database.prepare(
    `SELECT g.seq, m.sender = ?1 OR EXISTS (SELECT 1 FROM receipt r WHERE r.seq = g.seq AND r.owner = ?1)
       OR EXISTS (SELECT 1 FROM json_each(m.excluded) WHERE value = ?1)
     FROM receipt g JOIN message m ON m.seq = g.seq
     WHERE g.box = ?2 AND g.class = 0 AND g.rank = ?3 AND g.seq > ?4 ORDER BY g.seq LIMIT 1`,
  )
  return (agent, box, rank) => {
    const start = (readFloor.get([agent, box, rank])?.[0] as number | undefined) ?? 0
    let floor = start
    for (;;) {
      const next = nextAbove.get([agent, box, rank, floor])
      if (next === undefined || next[1] === 0) break
      floor = next[0] as number
    }
    if (floor !== start) writeFloor.run([agent, box, rank, floor])
  }
}
