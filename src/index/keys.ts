import type { Database } from '../base/sqlite.ts'
import type { Place } from '../journal/journal.ts'
import type { Entry, KeyDraft, MessageEntry, ScheduledEntry, ShareEntry } from '../model/entry.ts'
import { changerIn, sharerIn, signerIn } from '../model/signature.ts'

/** Who came and went, and everything else that is no mail. */
const isAudited = (entry: Entry): boolean =>
  entry.kind === 'audit' ||
  entry.kind === 'key' ||
  entry.kind === 'share' ||
  entry.kind === 'repair' ||
  entry.kind === 'damage' ||
  (entry.kind === 'agent' && entry.change !== 'updated')

type KeyEntry = KeyDraft & { seq: number }

/**
 * Maintains the tables of keys and of what is recorded for an audit. The first message that a sender has signed says
 * which key is the sender's, and from then on only an entry that was signed with that key, or with the person's, can change it.
 */
export function createKeyKeeper(database: Database) {
  const space = database.prepare('SELECT space FROM meta')
  const find = database.prepare('SELECT key FROM pin WHERE agent = ? AND until IS NULL')
  const put = database.prepare('INSERT OR IGNORE INTO pin VALUES (?, ?, ?, NULL)')
  const end = database.prepare('UPDATE pin SET until = ?2 WHERE agent = ?1 AND until IS NULL')
  const any = database.prepare('SELECT 1 FROM pin WHERE agent = ? LIMIT 1')
  const putShare = database.prepare('INSERT OR IGNORE INTO share VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const putAudit = database.prepare('INSERT OR IGNORE INTO audit VALUES (?, ?, ?, ?)')
  /** Senders that have a key, so that nearly no message asks for it. */
  const known = new Set<string>()
  const spaceId = () => space.get<[string]>()?.[0] ?? ''
  const keyOf = (agent: string) => find.get<[string]>([agent])?.[0]

  function applyMessage(entry: MessageEntry | ScheduledEntry): void {
    const { from } = entry.message
    if (entry.signature === undefined || entry.originalAt !== undefined || known.has(from)) return
    known.add(from)
    if (any.get([from]) !== undefined) return
    const key = signerIn(entry, spaceId())
    if (key !== undefined) put.run([from, key, entry.seq])
    else known.delete(from)
  }

  const knownOf = (by: string) => keyOf(by) ?? (any.get([by]) === undefined ? undefined : null)

  /** A key that nobody in the space has signed for is not used: whoever put it there could read what it encrypts. */
  function applyShare(entry: ShareEntry, { segment, offset, bytes }: Place): void {
    const { seq, by, key, change, space: origin, originalAt, signature } = entry
    if (originalAt === undefined) {
      const known = knownOf(by)
      const sharer = sharerIn(entry, spaceId(), known)
      if (sharer === undefined) return
      if (known === undefined) put.run([by, sharer, seq])
    }
    const isNew = originalAt === undefined && change === 'created' ? 1 : 0
    putShare.run([seq, key, isNew, origin ?? null, signature, segment, offset, bytes])
  }

  function applyKey(entry: KeyEntry): void {
    const { agent, by, key, seq } = entry
    const known = knownOf(by)
    const changer = changerIn(entry, spaceId(), known)
    if (changer === undefined) return
    if (known === undefined) put.run([by, changer, seq])
    end.run([agent, seq])
    if (key !== undefined) put.run([agent, key, seq])
  }

  return {
    begin: () => known.clear(),
    apply(entry: Entry, place: Place): void {
      const { segment, offset, bytes } = place
      if (entry.kind === 'message' || entry.kind === 'scheduled') applyMessage(entry)
      else if (entry.kind === 'key') applyKey(entry)
      else if (entry.kind === 'share') applyShare(entry, place)
      if (isAudited(entry)) putAudit.run([entry.seq, segment, offset, bytes])
    },
  }
}
