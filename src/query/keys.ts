import { given } from '../base/objects.ts'
import type { SummedEntry } from '../journal/journal.ts'
import type { MessageEntry } from '../model/entry.ts'
import type { SignatureState } from '../model/signature-state.ts'
import { messageOf, type PlaceRow, type readMessage, type Source } from './message.ts'

/** The key that a sender is known by now: undefined if it has signed nothing yet, null if its key was revoked. */
export function currentKey({ index }: Source, name: string): string | null | undefined {
  const last = index.sql('SELECT key, until FROM pin WHERE agent = ? ORDER BY since DESC LIMIT 1')
  const row = last.get<[string, number | null]>([name])
  return row === undefined ? undefined : row[1] === null ? row[0] : null
}

/** Every sender that has signed something, with its key now, and since when. */
export const knownKeys = ({ index }: Source): { agent: string; key?: string; since: number }[] =>
  index
    .sql('SELECT agent, key, max(since), until FROM pin GROUP BY agent ORDER BY agent')
    .all<[string, string, number, number | null]>()
    .map(([agent, key, since, until]) => ({ agent, since: until ?? since, ...(until === null && { key }) }))

type KeyRow = [key: string, since: number, until: number | null]
type Check = (line: SummedEntry<MessageEntry>) => SignatureState

/** Says whether messages are from their senders, as far as their signatures tell. For one snapshot. */
function signatureCheck(source: Source): Check {
  const { index, signers, stored } = source
  const known = new Map<string, KeyRow[]>()
  const keysOf = (sender: string) => {
    const found = known.get(sender)
    if (found !== undefined) return found
    const keys = index
      .sql('SELECT key, since, until FROM pin WHERE agent = ? ORDER BY since')
      .all<KeyRow>([sender])
    known.set(sender, keys)
    return keys
  }
  return (line) => {
    const { entry } = line
    if (entry.originalAt !== undefined) return 'imported'
    if (entry.signature === undefined) return 'unsigned'
    const held = keysOf(entry.message.from).findLast(([, since]) => since <= entry.seq)
    const isInForce = held !== undefined && (held[2] === null || entry.seq < held[2])
    return isInForce && signers.of(line, stored.space) === held[0] ? 'signed' : 'forged'
  }
}

/** Reads messages as somebody reads them in full: with whether they are from their senders. For one snapshot. */
export function signedReader(source: Source): typeof readMessage {
  const check = signatureCheck(source)
  return (_, seq, [segment, offset, bytes]) => {
    const place = { segment, offset, bytes }
    const line = source.stored.lineAt(place)
    const message = messageOf(source, seq, place, line && source.journal.open(line.entry))
    return isMessage(line) ? { ...message, signature: check(line) } : message
  }
}

/** Adds that to messages that were read before. */
export function withSignatures<M extends { seq: number }>(source: Source, messages: readonly M[]): M[] {
  const check = signatureCheck(source)
  return messages.map((message) => ({
    ...message,
    ...given({ signature: signatureBy(check, source, message.seq) }),
  }))
}

/** The same by the seq of a message; undefined when it is not there any more, or cannot be read. */
export const signatureAt = (source: Source, seq: number): SignatureState | undefined =>
  signatureBy(signatureCheck(source), source, seq)

function signatureBy(check: Check, { index, stored }: Source, seq: number): SignatureState | undefined {
  const row = index.sql('SELECT segment, offset, bytes FROM message WHERE seq = ?').get<PlaceRow>([seq])
  if (row === undefined) return undefined
  const line = stored.lineAt({ segment: row[0], offset: row[1], bytes: row[2] })
  return isMessage(line) ? check(line) : undefined
}

const isMessage = (line: SummedEntry | undefined): line is SummedEntry<MessageEntry> =>
  line?.entry.kind === 'message'
