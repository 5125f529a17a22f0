import type { ShareEntry } from '../model/entry.ts'
import type { PlaceRow, Source } from './message.ts'

/** The key that new messages of the space are encrypted with. */
interface CurrentShare {
  key: string
  /** Somebody who has it must not have the next: their own key was revoked since. */
  isStale: boolean
}

export function currentShare({ index }: Source): CurrentShare | undefined {
  const row = index
    .sql('SELECT key, seq FROM share WHERE fresh = 1 ORDER BY seq DESC LIMIT 1')
    .get<[string, number]>()
  if (row === undefined) return undefined
  const [key, seq] = row
  // Whose key was replaced has another pin from that entry on.
  const revoked = index.sql(
    `SELECT 1 FROM pin p WHERE p.until > ? AND NOT EXISTS
     (SELECT 1 FROM pin q WHERE q.agent = p.agent AND q.since >= p.until) LIMIT 1`,
  )
  return { key, isStale: revoked.get([seq]) !== undefined }
}

/** Where a key is encrypted, and for whom; all of them without a key. Those that cannot be read are left out. */
export function sharesOf({ index, stored }: Source, key?: string): ShareEntry[] {
  const where = key === undefined ? '' : 'WHERE key = ?'
  return index
    .sql(`SELECT segment, offset, bytes FROM share ${where} ORDER BY seq`)
    .all<PlaceRow>(key === undefined ? [] : [key])
    .flatMap(([segment, offset, bytes]) => {
      const entry = stored.at({ segment, offset, bytes })
      return entry?.kind === 'share' ? entry : []
    })
}

export const hasShare = ({ index }: Source, signature: string): boolean =>
  index.sql('SELECT 1 FROM share WHERE signature = ?').get([signature]) !== undefined

/** How much mail is encrypted, for the space and for its recipients alone, and the newest of it by seq. */
export function sealedMail({ index }: Source, newest: number) {
  const counts = index.sql('SELECT sealed, count(*) FROM message WHERE sealed > 0 GROUP BY sealed')
  const found = new Map(counts.all<[number, number]>())
  const seqs = index
    .sql('SELECT seq FROM message WHERE sealed > 0 ORDER BY seq DESC LIMIT ?')
    .all<[number]>([newest])
    .map(([seq]) => seq)
  return { forSpace: found.get(1) ?? 0, forRecipients: found.get(2) ?? 0, seqs }
}

/** The sender and the recipients of a message, if they alone can read it. */
export function readersOfSealed({ index, stored }: Source, seq: number): string[] | undefined {
  const row = index
    .sql('SELECT segment, offset, bytes FROM message WHERE seq = ? AND sealed = 2')
    .get<PlaceRow>([seq])
  const entry = row && stored.at({ segment: row[0], offset: row[1], bytes: row[2] })
  return entry?.kind === 'message' ? [entry.message.from, ...entry.message.to] : undefined
}
