import type { Database } from '../base/sqlite.ts'
import { asksFor } from '../conversation/matter.ts'
import { aboutOf } from '../conversation/notice.ts'
import type { Place } from '../journal/journal.ts'
import { boxesTo, boxOfTag, isGroupBox } from '../model/address.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import { actorOf, foldChange, foldTallies, isRemoved, seenBy } from '../model/directory.ts'
import { happenedAt, type MessageEntry, type ReceiptEntry } from '../model/entry.ts'
import { bucketOf } from '../model/latency.ts'
import { priorityRank } from '../model/message.ts'
import {
  classOf,
  escalation,
  finishes,
  isDeadLetter,
  type ReceiptChange,
  type ReceiptState,
  receiptClasses,
  showsFirst,
} from '../model/receipt.ts'
import { audienceRank } from '../model/sealed.ts'
import { createFloor } from './floor.ts'
import { createHoles } from './holes.ts'
import { createKeyKeeper } from './keys.ts'
import { levelAtFirst } from './level.ts'
import { createMatterKeeper } from './matter-keeper.ts'
import { createOffers } from './offers.ts'
import type { Applier } from './projection.ts'
import { RowBuffer } from './row-buffer.ts'
import { createScheduled } from './scheduled.ts'

/** The kinds in the table `measure`. */
export const measureKinds = { sent: 0, shown: 1, done: 2 } as const

/** An agent that archived or finished a message has seen it as well. */
const isSeen = (state: ReceiptState): boolean =>
  classOf(state) === 'open' || state === 'completed' || state === 'archived'

const timeOf = (iso: string | undefined): number | null => (iso === undefined ? null : Date.parse(iso))

const classNumber = (state: ReceiptState) => receiptClasses.indexOf(classOf(state))

/**
 * The only writer of the index. Decisions have recorded everything they saw, so this just copies facts into
 * rows: it uses no clock and no randomness, nothing but the entry and the rows themselves.
 */
export function createApplier(database: Database): Applier {
  const messages = new RowBuffer(
    database,
    'INSERT OR IGNORE INTO message',
    '($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)',
  )
  const stored = new RowBuffer(
    database,
    'INSERT OR IGNORE INTO receipt',
    `($1, $2, $2, ${classNumber('stored')}, $3, 'stored', 0, 0, NULL, $4, NULL, 0, $5, $6, 0, 0, NULL)`,
  )
  const dues = new RowBuffer(database, 'INSERT OR IGNORE INTO due', '($1, $2, $3)')
  const labels = new RowBuffer(database, 'INSERT OR IGNORE INTO label', '($1, $2)')
  const keyed = new RowBuffer(database, 'INSERT OR IGNORE INTO keyed', '($1, $2, $3)')
  const buffers = [messages, stored, dues, labels, keyed]
  const tallies = new Map<string, { box: string; slot: number; by: number }>()
  const measures = new Map<string, { agent: string; kind: number; bucket: number; n: number }>()
  const seen = new Map<string, string>()

  const putAgent = database.prepare('INSERT OR REPLACE INTO agent VALUES (?, ?, ?, ?)')
  const putTrail = database.prepare('INSERT OR IGNORE INTO trail VALUES (?, ?, ?, ?, ?)')
  const putReceipt = database.prepare(
    `INSERT INTO receipt VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?16, ?8,
       coalesce(?9, (SELECT expires FROM message WHERE seq = ?1)), ?10, ?11, coalesce(?12, ${escalation.muted}),
       ?15, ?13, ?14, ?17)
     ON CONFLICT DO UPDATE SET box = excluded.box, since = CASE WHEN class <> 0 AND excluded.class = 0 THEN excluded.since ELSE since END,
       class = excluded.class, state = excluded.state, attempts = excluded.attempts, failures = excluded.failures,
       claim_until = excluded.claim_until, expires = CASE WHEN ?11 > 0 THEN NULL ELSE coalesce(?9, expires) END, ack_by = excluded.ack_by,
       repeats = excluded.repeats, level = coalesce(?12, level), via_group = excluded.via_group,
       seen = max(seen, excluded.seen), before = excluded.before`,
  )
  const putShared = database.prepare('INSERT OR IGNORE INTO shared VALUES (?1, ?1, ?2, ?3)')
  const dropShared = database.prepare('DELETE FROM shared WHERE box = ? AND seq = ? AND owner = ?')
  const restoreShared = database.prepare(
    `INSERT OR IGNORE INTO shared SELECT box, owner, seq, rank FROM receipt r
     WHERE seq = ? AND owner = ? AND class = 0 AND EXISTS (SELECT 1 FROM receipt x WHERE x.seq = r.seq AND x.owner <> r.owner)`,
  )
  // Mail that is in another box than its owner's is claimed, and each claim is one more attempt.
  const putClaim = database.prepare(
    `INSERT OR IGNORE INTO claim SELECT ?1, ?2,
       coalesce(?6, max(?3, 1 + coalesce((SELECT max(number) FROM claim WHERE seq = ?1 AND owner = ?2), 0))), ?4, ?3
     WHERE ?6 IS NOT NULL OR ?5 > coalesce((SELECT attempts FROM receipt WHERE seq = ?1 AND owner = ?2), 0)`,
  )
  const putLease = database.prepare('INSERT OR IGNORE INTO lease VALUES (?, ?, ?, ?)')
  const dropLease = database.prepare(
    `DELETE FROM lease WHERE (owner, rank, until, seq) IN
     (SELECT owner, rank, claim_until, seq FROM receipt WHERE seq = ? AND owner = ? AND claim_until IS NOT NULL)`,
  )
  // A message expires for those who have not seen it.
  const dropDue = database.prepare(
    'DELETE FROM due WHERE box = ?2 AND seq = ?1 AND at = (SELECT expires FROM receipt WHERE seq = ?1 AND owner = ?2)',
  )
  const restoreDue = database.prepare(
    `INSERT OR IGNORE INTO due SELECT expires, owner, seq FROM receipt
     WHERE seq = ? AND owner = ? AND class = 0 AND expires IS NOT NULL`,
  )
  const putBound = database.prepare('INSERT OR IGNORE INTO bound VALUES (?, ?)')
  const dropBound = database.prepare('DELETE FROM bound WHERE seq = ? AND owner = ?')
  const restoreBound = database.prepare(
    `INSERT OR IGNORE INTO bound SELECT r.seq, r.owner FROM receipt r JOIN message m ON m.seq = r.seq
     WHERE r.seq = ? AND r.owner = ? AND r.class < 2 AND m.generation IS NOT NULL`,
  )
  const origin = database.prepare('SELECT created, sender, imported FROM message WHERE seq = ?')
  const putNotice = database.prepare('INSERT OR IGNORE INTO notice VALUES (?, ?, 1)')
  const setNotice = database.prepare('UPDATE notice SET live = ?2 WHERE seq = ?1')
  const dropHolder = database.prepare('DELETE FROM holder WHERE agent = ?')
  const putHolder = database.prepare('INSERT OR IGNORE INTO holder VALUES (?, ?)')
  const addMeasure = database.prepare(
    'INSERT INTO measure VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
  )
  const putSeen = database.prepare('INSERT OR REPLACE INTO seen VALUES (?, ?)')
  const lastSeen = database.prepare('SELECT at FROM seen WHERE agent = ?')
  const matters = createMatterKeeper(database)
  const offers = createOffers(database)
  const holes = createHoles(database)
  const keys = createKeyKeeper(database)
  const schedule = createScheduled(database)
  const ownersOf = database.prepare('SELECT owner FROM receipt WHERE seq = ?')
  const addTally = database.prepare(
    'INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
  )
  const dropTally = database.prepare('DELETE FROM tally WHERE box = ? AND slot = ? AND n = 0')
  const advanceFloor = createFloor(database)
  const readFirstMessage = database.prepare('SELECT min(seq) FROM message')
  const missing: ReadonlySet<number> = new Set()
  /** Once there is one, it stays the first. Until then another process may write it. */
  let firstMessage: number | undefined

  function flushRows(): void {
    for (const buffer of buffers) buffer.flush()
  }

  function applyMessage(entry: MessageEntry, place: Place): void {
    const { seq, originalAt, message, exclude } = entry
    const rank = priorityRank(message.priority)
    const expires = timeOf(message.expiresAt)
    const thread = message.threadId === message.id ? null : message.threadId
    const { segment, offset, bytes } = place
    const excluded = exclude === undefined ? null : JSON.stringify(exclude)
    const { generation = null } = message
    const created = Date.parse(message.createdAt)
    const wantsAck = message.requiresAck ? 1 : 0
    messages.add(
      ...[seq, message.id, segment, offset, bytes, message.from, thread, rank, expires, excluded],
      ...[created, wantsAck, generation, asksFor(message), originalAt === undefined ? 0 : 1],
      audienceRank(message),
    )
    measure(message.from, measureKinds.sent, 0)
    const boxes = boxesTo(message.to)
    for (const box of boxes) {
      stored.add(seq, box, rank, expires, levelAtFirst(entry, box, created), Date.parse(happenedAt(entry)))
      if (expires !== null) dues.add(expires, box, seq)
      if (generation !== null) putBound.run([seq, box])
      if (boxes.length > 1 && !isGroupBox(box)) putShared.run([box, seq, rank])
      if (isGroupBox(box) && box !== 'all') labels.add(box, seq)
    }
    for (const tag of message.tags) labels.add(boxOfTag(tag), seq)
    if (message.key !== undefined) keyed.add(message.from, message.key, seq)
    if (message.from === systemAgent) for (const id of aboutOf(message)) putNotice.run([id, seq])
    offers.applyMessage(message, seq)
    if (matters.concerns(message)) {
      flushRows()
      matters.applyMessage(message, seq)
    }
  }

  function applyReceipt(entry: ReceiptEntry, { segment, offset, bytes }: Place): void {
    const { seq, by, step, changes } = entry
    const at = happenedAt(entry)
    flushRows()
    firstMessage ??= readFirstMessage.get<[number | null]>()?.[0] ?? undefined
    if (holes.any()) holes.putAgent(by, at)
    for (const change of changes) {
      if (isRemoved(change.seq, firstMessage)) continue
      const [created, sender, imported] = origin.get<[number, string, number]>([change.seq]) ?? []
      if (created === undefined) {
        // Its message is lost. This is all that is known of it.
        putTrail.run([change.seq, seq, segment, offset, bytes])
        continue
      }
      // Where an entry is lost, the change does not say what the counts have of the receipt.
      if (holes.any()) foldChange(change, holes.receiptOf(change), tally)
      const until = timeOf(change.claimUntil)
      const { seq: message, owner, box, state, rank, attempts = 0, failures = 0, repeats = 0 } = change
      const level = imported === 1 ? escalation.silent : (change.level ?? null)
      if (box !== owner) putClaim.run([message, owner, seq, box, attempts, change.claim ?? null])
      dropLease.run([message, owner])
      dropDue.run([message, owner])
      putReceipt.run([
        ...[message, owner, box, classNumber(state), rank, state, attempts, until],
        ...[timeOf(change.expiresAt), timeOf(change.ackBy), repeats, level],
        ...[change.viaGroup ? 1 : 0, isSeen(state) ? 1 : 0, Date.parse(at), failures],
        isDeadLetter(state) ? (change.was ?? null) : null,
      ])
      if (sender === systemAgent) setNotice.run([message, classOf(state) === 'unread' ? 1 : 0])
      putTrail.run([message, seq, segment, offset, bytes])
      if (until !== null) putLease.run([owner, rank, until, message])
      restoreDue.run([message, owner])
      dropBound.run([message, owner])
      restoreBound.run([message, owner])
      // What the system archives was not finished by an agent.
      if (by !== systemAgent) measureChange(change, Date.parse(at) - created)
      matters.applyReceipt(change, step)
      offers.applyReceipt(change, step)
      if (!isGroupBox(owner)) {
        dropShared.run([change.wasBox ?? box, message, owner])
        restoreShared.run([message, owner])
      }
      if (change.was === undefined) settle(change)
    }
  }

  function applyAgent(agent: Agent): void {
    const { generation, client, pid } = agent.session
    const seat = client === undefined || agent.state === 'dead' ? null : (pid ?? null)
    putAgent.run([agent.name, JSON.stringify(agent), generation, seat])
    dropHolder.run([agent.name])
    if (agent.state === 'dead' || agent.state === 'frozen') return
    for (const role of agent.roles) putHolder.run([role, agent.name])
  }

  function measure(agent: string, kind: number, bucket: number): void {
    const key = `${kind} ${bucket} ${agent}`
    const known = measures.get(key)
    if (known === undefined) measures.set(key, { agent, kind, bucket, n: 1 })
    else known.n++
  }

  /** How long it took until the recipient was first shown the message, and until it was finished. */
  function measureChange(change: ReceiptChange, afterMs: number): void {
    const shown = showsFirst(change)
    const done = finishes(change)
    if (!shown && !done) return
    const bucket = bucketOf(afterMs)
    if (shown) measure(change.box, measureKinds.shown, bucket)
    if (done) measure(change.box, measureKinds.done, bucket)
  }

  /** An agent saw group mail for the first time: everything up to there may now be settled for it. */
  function settle({ seq, owner, rank }: ReceiptChange): void {
    for (const [box] of ownersOf.all<[string]>([seq])) if (isGroupBox(box)) advanceFloor(owner, box, rank)
  }

  function tally(box: string, slot: number, by: number): void {
    const key = `${slot} ${box}`
    const known = tallies.get(key)
    if (known === undefined) tallies.set(key, { box, slot, by })
    else known.by += by
  }

  return {
    begin(from, damaged) {
      keys.begin()
      holes.begin(from, damaged)
    },
    apply({ entry, place }) {
      holes.pass(entry.seq)
      if (entry.kind === 'message') applyMessage(entry, place)
      else if (entry.kind === 'receipt') applyReceipt(entry, place)
      else if (entry.kind === 'agent') applyAgent(entry.agent)
      keys.apply(entry, place)
      schedule(entry, place)
      const actor = actorOf(entry)
      if (actor !== undefined)
        seen.set(
          actor,
          seenBy(entry, () => seen.get(actor) ?? lastSeen.get<[string]>([actor])?.[0]),
        )
      if (entry.kind !== 'receipt' || !holes.any()) foldTallies(entry, { firstMessage, missing }, tally)
    },
    finish() {
      flushRows()
      for (const { box, slot, by } of tallies.values()) {
        if (by === 0) continue
        addTally.run([box, slot, by])
        dropTally.run([box, slot])
      }
      tallies.clear()
      for (const { agent, kind, bucket, n } of measures.values()) addMeasure.run([agent, kind, bucket, n])
      measures.clear()
      for (const [agent, at] of seen) putSeen.run([agent, at])
      seen.clear()
    },
  }
}
