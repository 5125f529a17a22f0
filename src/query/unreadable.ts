import { UnfitIndex } from '../index/unfit.ts'
import type { DamagedLine, Place } from '../journal/journal.ts'
import { isGroupBox } from '../model/address.ts'
import type { ReceiptEntry } from '../model/entry.ts'
import { priorities } from '../model/message.ts'
import type { ReceiptState } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import { unreadableHint, unreadableText } from '../model/unreadable.ts'
import type { Source, StoredMessage } from './message.ts'
import { trailOf } from './show.ts'

/** A record that could not be read, and what other records tell of it. */
export interface UnreadableRecord extends DamagedLine {
  /** Undefined if no other record tells. */
  kind?: 'message' | 'receipt'
  /** The message that it was, or the messages whose receipts it changed. */
  ids: string[]
  from?: string
  to: string[]
  createdAt?: string
  /** How far its recipients are. */
  receipts: { recipient: string; state: ReceiptState }[]
}

/** Notes that the line of an entry in the index cannot be read any more. If it is somewhere else, the index is wrong. */
export function noteUnreadable({ journal, damaged }: Source, seq: number, place: Place): DamagedLine {
  const damage = journal.damageAt(place)
  if (damage === undefined) throw new UnfitIndex()
  const line = { ...damage, seq }
  damaged.set(seq, line)
  return line
}

type MessageRow = [
  ...[id: string, sender: string, thread: string | null, rank: number, created: number],
  ...[expires: number | null, wantsAck: number],
]

/** What the index knows of a message whose line cannot be read. It is handled like any other. */
export function unreadableMessage(source: Source, line: DamagedLine): StoredMessage {
  const { index } = source
  const { seq, ...unreadable } = line
  const columns = 'id, sender, thread, rank, created, expires, wants_ack'
  const row = index.sql(`SELECT ${columns} FROM message WHERE seq = ?`).get<MessageRow>([seq])
  const [id, from, thread, rank, created, expires, wantsAck] = row!
  const tags = index.sql('SELECT tag FROM label WHERE seq = ? ORDER BY tag').all<[string]>([seq])
  const to = addressesOf(source, seq)
  return {
    ...{ seq, id, from, to, threadId: thread ?? id, type: 'text', priority: priorities[rank]! },
    subject: '(could not be read)',
    body: `This message is lost: ${unreadableText([line])}. To see if it can be restored, ${unreadableHint}.`,
    tags: tags.map(([tag]) => tag).filter((tag) => !to.includes(tag)),
    attachments: [],
    requiresAck: wantsAck === 1,
    awaitingResponse: false,
    createdAt: isoTime(created),
    ...(expires === null ? {} : { expiresAt: isoTime(expires) }),
    unreadable,
  }
}

/** Whom a message was sent to. A group's member that has seen it has a row of its own. */
const addressesOf = ({ index }: Source, seq: number): string[] =>
  index
    .sql('SELECT owner FROM receipt WHERE seq = ? AND via_group = 0')
    .all<[string]>([seq])
    .map(([owner]) => owner)

/** More are not listed: where so much is damaged, the list is no help. */
const listedAtMost = 1_000

/** The records that could not be read, in the order of the journal. */
export function unreadableRecords(source: Source): UnreadableRecord[] {
  const columns = 'seq, segment, offset, bytes, line'
  const rows = source.index.sql(`SELECT ${columns} FROM damaged ORDER BY seq LIMIT ${listedAtMost}`)
  const known = rows
    .all<[number, number, number, number, number]>()
    .map(([seq, segment, offset, bytes, line]): DamagedLine => ({ seq, segment, offset, bytes, line }))
  // It was repaired, and the index was built without it.
  if (known.some((line) => isReadable(source, line))) throw new UnfitIndex()
  for (const line of source.damaged.values()) if (isReadable(source, line)) source.damaged.delete(line.seq)
  const bySeq = new Map([...source.damaged.values(), ...known].map((line) => [line.seq, line]))
  return [...bySeq.values()]
    .sort((a, b) => a.seq - b.seq)
    .slice(0, listedAtMost)
    .map((line) => describe(source, line))
}

const isReadable = ({ journal }: Source, line: DamagedLine): boolean => journal.at(line)?.seq === line.seq

/** Whether the index has entries that the journal has no more, so that a rebuilt one would have less. */
export function hasMoreThanJournal({ index, damaged }: Source): boolean {
  const known = index.sql('SELECT 1 FROM damaged WHERE segment = ? AND offset = ?')
  return [...damaged.values()].some(({ segment, offset }) => known.get([segment, offset]) === undefined)
}

function describe(source: Source, line: DamagedLine): UnreadableRecord {
  const { index } = source
  const { seq } = line
  const message = index.sql('SELECT id, sender, created FROM message WHERE seq = ?')
  const row = message.get<[string, string, number]>([seq])
  if (row !== undefined) {
    const [id, from, created] = row
    const states = index.sql('SELECT owner, state FROM receipt WHERE seq = ?')
    const receipts = states
      .all<[string, ReceiptState]>([seq])
      .map(([recipient, state]) => ({ recipient, state }))
    const to = addressesOf(source, seq)
    return { ...line, kind: 'message', ids: [id], from, to, createdAt: isoTime(created), receipts }
  }
  const changed = index.sql('SELECT m.id FROM trail t JOIN message m ON m.seq = t.message WHERE t.entry = ?')
  const ids = changed.all<[string]>([seq]).map(([id]) => id)
  if (ids.length > 0) return { ...line, kind: 'receipt', ids, to: [], receipts: [] }
  return toldBy(trailOf(source, seq), line)
}

/** What became of a message is told by its receipts, even if it is lost itself. */
export function toldBy(trail: readonly ReceiptEntry[], line: DamagedLine): UnreadableRecord {
  const { seq } = line
  const states = new Map<string, ReceiptState>()
  const ids = new Set<string>()
  const to = new Set<string>()
  for (const { changes } of trail) {
    for (const change of changes) {
      if (change.seq !== seq) continue
      ids.add(change.id)
      states.set(change.owner, change.state)
      if (!change.viaGroup || isGroupBox(change.owner)) to.add(change.owner)
    }
  }
  const receipts = [...states].map(([recipient, state]) => ({ recipient, state }))
  const kind = ids.size > 0 && { kind: 'message' as const }
  return { ...line, ...kind, ids: [...ids], to: [...to], receipts }
}
