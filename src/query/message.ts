import { MailboxError } from '../base/errors.ts'
import type { SqlRow } from '../base/sqlite.ts'
import type { Projection } from '../index/projection.ts'
import { UnfitIndex } from '../index/unfit.ts'
import type { DamagedLine, Journal, Place } from '../journal/journal.ts'
import type { ClaimMade } from '../model/claim.ts'
import type { Entry } from '../model/entry.ts'
import { checkId } from '../model/id.ts'
import type { Message } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { Receipt, ReceiptState } from '../model/receipt.ts'
import type { Encrypted } from '../model/sealed.ts'
import type { SignatureState } from '../model/signature-state.ts'
import type { SealedWords } from './sealed-words.ts'
import type { Signers } from './signers.ts'
import { noteUnreadable, unreadableMessage } from './unreadable.ts'

/** A journal for readers. */
export type ReadableJournal = Pick<Journal, 'space' | 'at' | 'read' | 'damageAt' | 'locate'> & {
  /** An entry as it is stored, with its text. */
  open: (entry: Entry) => Entry
}

/** What queries read from: the rows, and the journal that holds the text. */
export interface Source {
  index: Projection
  /** With the texts of encrypted mail, as far as there are keys for it. */
  journal: ReadableJournal
  /** As it is stored, for what is about the entries themselves. */
  stored: Journal
  /** The words of encrypted mail. */
  sealedWords: SealedWords
  /** Entries of the index whose lines this process could not read, by their seq. */
  damaged: Map<number, DamagedLine>
  /** See {@link Signers}. */
  signers: Signers
}

/**
 * A message with its seq. One that cannot be read says where it was, and has what the index knows of it. One that was
 * imported was not sent here: what it says of its sender is the word of whoever wrote the file.
 */
export type StoredMessage = Message &
  Encrypted & {
    seq: number
    imported?: true
    unreadable?: Omit<DamagedLine, 'seq'>
    /** Whether it is from its sender, where somebody reads it in full. */
    signature?: SignatureState
  }

/** The columns segment, offset and bytes, and perhaps more. */
export type PlaceRow = [segment: number, offset: number, bytes: number, ...SqlRow]

export function messageBySeq(source: Source, seq: number): StoredMessage {
  const message = messageIfThere(source, seq)
  if (message === undefined) throw new MailboxError('not_found', `no message with seq ${seq}`)
  return message
}

/** Undefined when it was removed a moment ago. */
export function messageIfThere(source: Source, seq: number): StoredMessage | undefined {
  const places = source.index.sql('SELECT segment, offset, bytes FROM message WHERE seq = ?')
  const row = places.get<PlaceRow>([seq])
  return row === undefined ? undefined : readMessage(source, seq, row)
}

/** Reads the message with this seq, whose place the row starts with. */
export function readMessage(source: Source, seq: number, [segment, offset, bytes]: PlaceRow): StoredMessage {
  const place = { segment, offset, bytes }
  return messageOf(source, seq, place, source.journal.at(place))
}

/** The message in an entry that was read from this place. */
export function messageOf(
  source: Source,
  seq: number,
  place: Place,
  entry: Entry | undefined,
): StoredMessage {
  if (entry === undefined) return unreadableMessage(source, noteUnreadable(source, seq, place))
  if (entry.kind !== 'message' || entry.seq !== seq) throw new UnfitIndex()
  return { seq, ...entry.message, ...(entry.originalAt === undefined ? {} : { imported: true }) }
}

/** The seq of a message by its id, by a unique prefix of it, or by its number: `#1234`. */
export function findSeq({ index }: Source, id: string): number | undefined {
  checkId(id)
  const number = /^#(\d{1,15})$/.exec(id)?.[1]
  if (number !== undefined)
    return index.sql('SELECT seq FROM message WHERE seq = ?').get<[number]>([Number(number)])?.[0]
  const exact = index.sql('SELECT seq FROM message WHERE id = ?').get<[number]>([id])
  if (exact !== undefined) return exact[0]
  if (!/^[0-9a-f-]{4,35}$/.test(id)) return undefined
  const starting = index.sql('SELECT seq FROM message WHERE id >= ? AND id < ? LIMIT 2')
  const [first, second] = starting.all<[number]>([id, `${id}~`])
  if (second === undefined) return first?.[0]
  throw new MailboxError('invalid', `several messages start with ${id}`, { hint: 'give more of the id' })
}

export function requireSeq(source: Source, id: string): number {
  const seq = findSeq(source, id)
  if (seq !== undefined) return seq
  throw new MailboxError('not_found', `no message ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}

type FactsRow = [
  ...[id: string, sender: string, rank: number, expires: number | null, excluded: string | null],
  ...[wantsAck: number, generation: number | null, asks: number, imported: number],
]

export function factsOf({ index }: Source, seq: number): MessageFacts {
  const row = index
    .sql(
      `SELECT id, sender, rank, expires, excluded, wants_ack, generation, asks, imported
       FROM message WHERE seq = ?`,
    )
    .get<FactsRow>([seq])
  if (row === undefined) throw new MailboxError('not_found', `no message with seq ${seq}`)
  const [id, sender, rank, expiresAt, names, wantsAck, generation, asks, imported] = row
  const excluded = names === null ? [] : (JSON.parse(names) as string[])
  return {
    ...{ seq, id, sender, rank, expiresAt, excluded, generation, asks },
    requiresAck: wantsAck === 1,
    imported: imported === 1,
  }
}

export const receiptsOf = ({ index }: Source, seq: number): Receipt[] =>
  index.sql(`SELECT ${receiptColumns} FROM receipt r WHERE seq = ?`).all([seq]).map(toReceipt)

/** Every claim that was made on a message, the oldest first. */
export const claimsOn = ({ index }: Source, seq: number): ClaimMade[] =>
  index
    .sql('SELECT owner, number, agent FROM claim WHERE seq = ? ORDER BY number')
    .all<[string, number, string]>([seq])
    .map(([owner, number, agent]) => ({ owner, number, agent }))

/** The newest claim of an agent on a message, of those that were made up to an entry. */
export const newestClaim = (
  source: Source,
  agent: string,
  seq: number,
  upTo = Number.MAX_SAFE_INTEGER,
): number | undefined =>
  source.index
    .sql('SELECT max(number) FROM claim WHERE seq = ? AND agent = ? AND entry <= ?')
    .get<[number | null]>([seq, agent, upTo])?.[0] ?? undefined

export const receiptColumns =
  'r.seq, r.owner, r.box, r.rank, r.state, r.attempts, r.claim_until, r.expires, r.ack_by, r.repeats, r.level, r.via_group, r.seen, r.failures, r.since, r.before'

type ReceiptRow = [
  ...[seq: number, owner: string, box: string, rank: number, state: ReceiptState, attempts: number],
  ...[claimUntil: number | null, expiresAt: number | null, ackBy: number | null, repeats: number],
  ...[level: number, viaGroup: number, seen: number, failures: number, since: number],
  ReceiptState | null,
]

/** A receipt from a row that starts with {@link receiptColumns}. */
export function toReceipt(row: SqlRow): Receipt {
  const [seq, owner, box, rank, state, attempts, claimUntil, expiresAt, ackBy, repeats, level, ...rest] =
    row as ReceiptRow
  const [viaGroup, seen, failures, since, before] = rest
  return {
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
    viaGroup: viaGroup === 1,
    seen: seen === 1,
    failures,
    since,
    before,
  }
}
