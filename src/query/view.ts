import type { SqlValue } from '../base/sqlite.ts'
import { noticeOf } from '../conversation/notice.ts'
import type { View } from '../conversation/view.ts'
import { person, systemAgent } from '../model/agent.ts'
import { Directory } from '../model/directory.ts'
import { priorities } from '../model/message.ts'
import { blockersOf } from './blockers.ts'
import {
  claimsOn,
  factsOf,
  findSeq,
  messageBySeq,
  receiptColumns,
  receiptsOf,
  type Source,
  toReceipt,
} from './message.ts'
import { isOfferedElsewhere, openOffers, openWork } from './offers.ts'
import { mattersWhere } from './owed.ts'
import { isShared } from './roster.ts'
import { findScheduled, scheduledUntil, scheduledWithKey } from './scheduled.ts'
import { hasShare } from './shares.ts'
import { trailOf } from './show.ts'
import { hasWork } from './work.ts'

type IdAndSeq = [id: string, seq: number]

/** The view that decisions are taken on, answered from the index. The caller sets the directory. */
export function createView(source: Source): View {
  const { index } = source
  /**
   * Receipts with the ids of their messages; `where` may use r (receipt) and m (message). The tables are read in the
   * order in which they stand: SQLite does not know which of them are long, and would read those from end to end.
   */
  const letters = (where: string, parameters: SqlValue[], join = '') =>
    index
      .sql(
        `SELECT ${receiptColumns}, m.id FROM ${join || 'receipt r'} CROSS JOIN message m ON m.seq = r.seq WHERE ${where}`,
      )
      .all(parameters)
      .map((row) => ({ ...toReceipt(row), id: row.at(-1) as string }))
  const joined = (table: string, box: string) =>
    `${table} CROSS JOIN receipt r ON r.seq = ${table}.seq AND r.owner = ${table}.${box}`
  return {
    directory: new Directory(),
    message(id) {
      const seq = findSeq(source, id)
      return seq === undefined ? undefined : factsOf(source, seq)
    },
    text: (seq) => messageBySeq(source, seq),
    blockers: (seq) => blockersOf(source, messageBySeq(source, seq)),
    receipts: (seq) => receiptsOf(source, seq),
    claims: (seq) => claimsOn(source, seq),
    waitingFrom: (box, sender) =>
      index
        .sql(
          'SELECT count(*) FROM receipt r JOIN message m ON m.seq = r.seq WHERE r.box = ? AND r.class < 2 AND NOT (r.via_group = 1 AND r.class = 1) AND m.sender = ?',
        )
        .get<[number]>([box, sender])![0],
    stepCount: (seq) => index.sql('SELECT count(*) FROM trail WHERE message = ?').get<[number]>([seq])![0],
    // As they are stored: what is encrypted can be compared without a key.
    steps: (seq) => trailOf(source, seq, source.stored),
    hasShare: (signature) => hasShare(source, signature),
    keyed(sender, key) {
      const sent = index
        .sql('SELECT m.id FROM keyed k JOIN message m ON m.seq = k.seq WHERE k.sender = ? AND k.key = ?')
        .get<[string]>([sender, key])?.[0]
      return sent ?? scheduledWithKey(source, sender, key)
    },
    scheduledUntil: (time, limit) => scheduledUntil(source, time, limit),
    scheduled: (id) => findScheduled(source, id),
    lastOf(sender, threadId) {
      return index
        .sql(
          `SELECT id, seq FROM message WHERE thread = ?1 AND sender = ?2
           UNION SELECT id, seq FROM message WHERE id = ?1 AND sender = ?2 ORDER BY seq DESC LIMIT 1`,
        )
        .get<[string]>([threadId, sender])?.[0]
    },
    liveNotices: (id) =>
      letters(
        `r.class = 0 AND r.seq IN (SELECT seq FROM notice WHERE live = 1${id === undefined ? '' : ' AND about = ?'})`,
        id === undefined ? [] : [id],
      ),
    noticesAbout: (id) =>
      letters('r.seq IN (SELECT seq FROM notice WHERE about = ?)', [id]).flatMap(({ seq, owner, state }) => {
        const notice = messageBySeq(source, seq)
        const at = Date.parse(notice.createdAt)
        return noticeOf(notice)!
          .about.filter((item) => item.id === id)
          .map(({ to: recipient, kind }) => ({ to: owner, recipient, kind, state, at }))
      }),
    hasWork: (agent) => hasWork(source, agent),
    lapsed: (now, waiting, limit) =>
      letters(
        'due.at <= ?1 AND due.box NOT IN (SELECT value FROM json_each(?2)) ORDER BY due.at LIMIT ?3',
        [now, JSON.stringify(waiting), limit],
        joined('due', 'box'),
      ),
    lapsedClaims: (now, limit) =>
      letters(
        `lease.until <= ? AND r.class < 2 AND r.state <> 'failed' LIMIT ?`,
        [now, limit],
        joined('lease', 'owner'),
      ),
    inBox: (box, limit) =>
      letters(
        `r.box = ? AND r.class < 2 AND (r.state <> 'failed' OR r.owner <> r.box)
         ORDER BY r.owner = r.box LIMIT ?`,
        [box, limit],
      ),
    deadOf: (owner, limit) =>
      letters(`r.owner = ? AND r.state IN ('dead', 'expired') LIMIT ?`, [owner, limit]),
    bound: (limit) =>
      letters(
        'm.generation < (SELECT generation FROM agent WHERE name = r.owner) LIMIT ?',
        [limit],
        joined('bound', 'owner'),
      ),
    unacked: (now, limit) =>
      letters(
        'r.ack_by IS NOT NULL AND r.level < 4 AND r.ack_by <= ? AND (r.class = 1 OR (r.class = 0 AND r.repeats > 0)) LIMIT ?',
        [now, limit],
      ),
    unreadSince: (before, minRank, level, away, limit) =>
      priorities.flatMap((_, rank) =>
        rank < minRank
          ? []
          : letters(
              `r.class = 0 AND r.repeats = 0 AND r.level = ${level} AND r.level < 2 AND r.rank = ? AND r.since <= ?
               AND r.owner NOT IN (SELECT value FROM json_each(?)) ORDER BY r.since LIMIT ?`,
              [rank, before, JSON.stringify(away), limit],
            ),
      ),
    matters: (seq) => mattersWhere(source, 'x.seq = ?', [seq]),
    openMatters: (kind, key) =>
      mattersWhere(source, 'x.open = 1 AND x.kind = ? AND x.key = ? ORDER BY x.seq', [kind, key]),
    overdue: (now, openedBefore, limit) => [
      ...mattersWhere(
        source,
        `x.open = 1 AND x.state = 'open' AND x.until IS NOT NULL AND x.until <= ? AND x.level = 0
         AND m.imported = 0 LIMIT ?`,
        [now, limit],
      ),
      ...mattersWhere(
        source,
        `x.open = 1 AND x.state = 'open' AND coalesce(x.until, x.since) <= ? AND x.kind NOT IN ('ack', 'task')
         AND x.level < (CASE WHEN x.until IS NULL THEN 2 ELSE 3 END) AND m.imported = 0 LIMIT ?`,
        [openedBefore, limit],
      ),
    ],
    threadLength(threadId, limit) {
      return index
        .sql(
          `SELECT count(*) FROM (SELECT 1 FROM message WHERE thread = ?1
             AND seq > coalesce((SELECT max(seq) FROM message WHERE thread = ?1 AND sender = '${person}'), 0)
             AND sender <> '${systemAgent}' LIMIT ?2)`,
        )
        .get<[number]>([threadId, limit])![0]
    },
    offers: (limit) => openOffers(source, limit),
    openWork: (agent) => openWork(source, agent),
    nextOfRole(role, now, agent) {
      // Mail to a role is not for its sender while another holder is here.
      const notFrom = isShared(source, role, agent) ? agent : ''
      const first = index.sql(
        `SELECT m.id, m.seq FROM receipt r JOIN message m ON m.seq = r.seq
         WHERE r.box = ?1 AND r.class = 0 AND r.rank = ?2 AND (r.expires IS NULL OR r.expires > ?3)
         AND NOT ${isOfferedElsewhere('?4')} AND m.sender <> ?5 AND r.seq > ?6 ORDER BY r.seq LIMIT 1`,
      )
      const lapsed = index.sql(
        `SELECT m.id, m.seq FROM lease l JOIN message m ON m.seq = l.seq JOIN receipt r ON r.seq = l.seq AND r.owner = l.owner
         WHERE l.owner = ?1 AND l.rank = ?2 AND l.until <= ?3 AND r.class = 1 AND (r.expires IS NULL OR r.expires > ?3)
         AND m.sender <> ?4 AND l.seq > ?5 ORDER BY l.seq LIMIT 1`,
      )
      const box = `role:${role}`
      for (let rank = priorities.length - 1; rank >= 0; rank--) {
        for (let after = 0; ; ) {
          const [oldest] = [
            first.get<IdAndSeq>([box, rank, now, agent, notFrom, after]),
            lapsed.get<IdAndSeq>([box, rank, now, notFrom, after]),
          ]
            .filter((row) => row !== undefined)
            .sort((a, b) => a[1] - b[1])
          if (oldest === undefined) break
          if (blockersOf(source, messageBySeq(source, oldest[1])).length === 0) return oldest[0]
          after = oldest[1]
        }
      }
      return undefined
    },
  }
}
