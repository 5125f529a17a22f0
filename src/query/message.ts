import { MailboxError } from '../base/errors.ts'
import type { SqlRow } from '../base/sqlite.ts'
import type { Projection } from '../index/projection.ts'
import type { Journal } from '../journal/journal.ts'
import { checkId } from '../model/id.ts'
import type { Message } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { Receipt, ReceiptState } from '../model/receipt.ts'

/** What queries read from: the rows, and the journal that holds the text. */
export interface Source {
  index: Projection
  journal: Journal
}

/** A message with its seq. */
export type StoredMessage = Message & { seq: number }

const place = 'm.segment, m.offset, m.bytes'

export function messageBySeq(source: Source, seq: number): StoredMessage {
  const message = messageIfThere(source, seq)
  if (message === undefined) throw new MailboxError('not_found', `no message with seq ${seq}`)
  return message
}

/** Undefined when it was removed a moment ago. */
export function messageIfThere({ index, journal }: Source, seq: number): StoredMessage | undefined {
  const row = index.sql(`SELECT ${place} FROM message m WHERE seq = ?`).get([seq])
  return row === undefined ? undefined : readMessage(journal, row)
}

/** Reads the message whose place the row starts with. */
export function readMessage(journal: Journal, [segment, offset, bytes]: SqlRow): StoredMessage {
  const entry = journal.at({ segment: segment as number, offset: offset as number, bytes: bytes as number })
  if (entry.kind !== 'message')
    throw new MailboxError('damaged', 'the index points at the wrong line', {
      hint: 'rebuild it: mailbox rebuild',
    })
  return { seq: entry.seq, ...entry.message }
}

/** The seq of a message by its id, or by a unique prefix of it. */
export function findSeq({ index }: Source, id: string): number | undefined {
  checkId(id)
  const exact = index.sql('SELECT seq FROM message WHERE id = ?').get([id])?.[0]
  if (exact !== undefined) return exact as number
  if (!/^[0-9a-f-]{4,35}$/.test(id)) return undefined
  const starting = index.sql('SELECT seq FROM message WHERE id >= ? AND id < ? LIMIT 2').all([id, `${id}~`])
  if (starting.length === 1) return starting[0]![0] as number
  if (starting.length > 1) {
    throw new MailboxError('invalid', `several messages start with ${id}`, { hint: 'give more of the id' })
  }
  return undefined
}

export function requireSeq(source: Source, id: string): number {
  const seq = findSeq(source, id)
  if (seq !== undefined) return seq
  throw new MailboxError('not_found', `no message ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}

export function factsOf({ index }: Source, seq: number): MessageFacts {
  const row = index
    .sql('SELECT id, sender, rank, expires, excluded, wants_ack, generation FROM message WHERE seq = ?')
    .get([seq])
  if (row === undefined) throw new MailboxError('not_found', `no message with seq ${seq}`)
  const [id, sender, rank, expiresAt, excluded, wantsAck, generation] = row
  return {
    seq,
    id: id as string,
    sender: sender as string,
    rank: rank as number,
    expiresAt: expiresAt as number | null,
    excluded: excluded === null ? [] : (JSON.parse(excluded as string) as string[]),
    requiresAck: wantsAck === 1,
    generation: generation as number | null,
  }
}

export function receiptsOf({ index }: Source, seq: number): Receipt[] {
  return index.sql(`SELECT ${receiptColumns} FROM receipt r WHERE seq = ?`).all([seq]).map(toReceipt)
}

export const receiptColumns =
  'r.seq, r.owner, r.box, r.rank, r.state, r.attempts, r.claim_until, r.expires, r.ack_by, r.repeats, r.level, r.via_group, r.seen'

/** A receipt from a row that starts with {@link receiptColumns}. */
export function toReceipt(row: SqlRow): Receipt {
  const [
    seq,
    owner,
    box,
    rank,
    state,
    attempts,
    claimUntil,
    expiresAt,
    ackBy,
    repeats,
    level,
    viaGroup,
    seen,
  ] = row
  return {
    seq: seq as number,
    owner: owner as string,
    box: box as string,
    rank: rank as number,
    state: state as ReceiptState,
    attempts: attempts as number,
    claimUntil: claimUntil as number | null,
    expiresAt: expiresAt as number | null,
    ackBy: ackBy as number | null,
    repeats: repeats as number,
    level: level as number,
    viaGroup: viaGroup === 1,
    seen: seen === 1,
  }
}
