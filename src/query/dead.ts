import { isAway } from '../model/agent.ts'
import { happenedAt } from '../model/entry.ts'
import { isDeadLetter, type ReceiptState } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import { messageBySeq, receiptColumns, type Source, type StoredMessage, toReceipt } from './message.ts'
import { badCursor, type ListOptions, limitOf } from './page.ts'
import { awayBoxes, roster } from './roster.ts'
import { trailOf } from './show.ts'

const isGroup = (owner: string) =>
  `(${owner} = 'all' OR (${owner} GLOB '*:*' AND ${owner} NOT GLOB 'role:*'))`
const hasReader = `EXISTS (SELECT 1 FROM receipt x WHERE x.seq = r.seq AND NOT ${isGroup('x.owner')}
  AND x.class <> 0 AND x.state NOT IN ('dead', 'expired'))`

/** A message that will not reach one of its recipients. */
export interface DeadLetter {
  message: StoredMessage
  recipient: string
  state: ReceiptState
  reason: string
  /** Since when. */
  at: string
}

export interface DeadLetters {
  letters: DeadLetter[]
  /** Unread mail of agents that died and may come back, on the first page; it is not dead yet. */
  waiting: DeadLetter[]
  /** Pass it as `after` for the next page; null at the end. */
  next: string | null
}

/** Recorded as dead or expired, or expired at ?1 and not recorded yet; ?2: boxes whose mail does not expire. */
const dead = `SELECT ${receiptColumns} FROM receipt r
     WHERE r.state IN ('dead', 'expired') AND NOT (${isGroup('r.owner')} AND ${hasReader})
   UNION ALL
   SELECT ${receiptColumns} FROM due d JOIN receipt r ON r.seq = d.seq AND r.owner = d.box
     WHERE d.at <= ?1 AND d.box NOT IN (SELECT value FROM json_each(?2)) AND NOT (${isGroup('r.owner')} AND ${hasReader})`

export const countDead = (source: Source, now: number): number =>
  source.index.sql(`SELECT count(*) FROM (${dead})`).get<[number]>([now, awayBoxes(source)])![0]

/** A position in the list: the message, and which of its recipients. */
function readSpot(after: string | undefined): [seq: number, owner: string] {
  if (after === undefined) return [Number.MAX_SAFE_INTEGER, '']
  const match = /^(\d{1,15}):(.+)$/s.exec(after)
  if (match === null) throw badCursor(after)
  return [Number(match[1]), match[2]!]
}

/**
 * Dead letters, the newest message first: those recorded as such, and those that have expired without being
 * recorded yet. Group mail that somebody has read does not count.
 */
export function deadLetters(
  source: Source,
  { from, ...options }: ListOptions & { from?: string },
  now: number,
): DeadLetters {
  const limit = limitOf(options.limit)
  const found = source.index
    .sql(
      `SELECT r.* FROM (${dead}) r JOIN message m ON m.seq = r.seq
       WHERE (r.seq < ?3 OR (r.seq = ?3 AND r.owner > ?4)) AND (?5 IS NULL OR m.sender = ?5)
       ORDER BY r.seq DESC, r.owner LIMIT ?6`,
    )
    .all([now, awayBoxes(source), ...readSpot(options.after), from ?? null, limit + 1])
    .map(toReceipt)
  const letters = found.slice(0, limit).map(({ seq, owner, state, expiresAt }): DeadLetter => {
    const last = trailOf(source, seq).findLast(({ changes }) =>
      changes.some((change) => change.seq === seq && change.owner === owner && change.state === state),
    )
    const marked = isDeadLetter(state)
    return {
      message: messageBySeq(source, seq),
      recipient: owner,
      state: marked ? state : 'expired',
      reason: (marked ? last?.note : undefined) ?? 'it expired before anybody read it',
      at: marked && last !== undefined ? happenedAt(last) : isoTime(expiresAt ?? now),
    }
  })
  const last = letters.at(-1)
  const waiting = options.after === undefined ? waitingLetters(source, from, limit) : []
  return { letters, waiting, next: found.length > limit ? `${last!.message.seq}:${last!.recipient}` : null }
}

function waitingLetters(source: Source, from: string | undefined, limit: number): DeadLetter[] {
  const unread = source.index.sql(
    `SELECT ${receiptColumns} FROM receipt r JOIN message m ON m.seq = r.seq
     WHERE r.box = ?1 AND r.owner = ?1 AND r.class = 0 AND (?2 IS NULL OR m.sender = ?2) ORDER BY r.seq DESC LIMIT ?3`,
  )
  const died = roster(source).filter((agent) => agent.state === 'dead' && isAway(agent))
  return died
    .flatMap(({ name, gone, lastSeenAt }) =>
      unread.all([name, from ?? null, limit]).map((row): DeadLetter => {
        const { seq, owner, state } = toReceipt(row)
        const why = gone === 'silent' ? 'which has been silent' : 'whose process has ended'
        const reason = `waiting for ${name}, ${why}`
        return { message: messageBySeq(source, seq), recipient: owner, state, reason, at: lastSeenAt }
      }),
    )
    .slice(0, limit)
}
