import { given } from '../base/objects.ts'
import type { MessageEntry } from '../model/entry.ts'
import { signerIn } from '../model/signature.ts'
import type { SignatureState } from '../model/signature-state.ts'
import type { PlaceRow, Source } from './message.ts'

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

/** Whether a message is from its sender, as far as its signature tells. */
function signatureOf(source: Source, entry: MessageEntry): SignatureState {
  if (entry.originalAt !== undefined) return 'imported'
  if (entry.signature === undefined) return 'unsigned'
  const keys = source.index
    .sql('SELECT key, since, until FROM pin WHERE agent = ? ORDER BY since')
    .all<KeyRow>([entry.message.from])
  const held = keys.findLast(([, since]) => since <= entry.seq)
  const isInForce = held !== undefined && (held[2] === null || entry.seq < held[2])
  return isInForce && signerIn(entry, source.stored.space) === held[0] ? 'signed' : 'forged'
}

/** Messages as somebody reads them in full: with whether they are from their senders. */
export const withSignatures = <M extends { seq: number }>(source: Source, messages: readonly M[]): M[] =>
  messages.map((message) => ({ ...message, ...given({ signature: signatureAt(source, message.seq) }) }))

/** The same by the seq of a message; undefined when it is not there any more, or cannot be read. */
export function signatureAt(source: Source, seq: number): SignatureState | undefined {
  const row = source.index
    .sql('SELECT segment, offset, bytes FROM message WHERE seq = ?')
    .get<PlaceRow>([seq])
  if (row === undefined) return undefined
  const entry = source.stored.at({ segment: row[0], offset: row[1], bytes: row[2] })
  return entry?.kind === 'message' ? signatureOf(source, entry) : undefined
}
