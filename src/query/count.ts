import { type Agent, boxesOf, clockOf } from '../model/agent.ts'
import { type Priority, priorities } from '../model/message.ts'
import { inboxRows } from './inbox.ts'
import type { Source } from './message.ts'
import { isShared } from './roster.ts'

export interface UnreadCount {
  unread: number
  byPriority: Record<Priority, number>
}

const portion = 256

/**
 * How much is unread. Boxes of one agent or role have a tally, so they cost the same however full they are.
 * What a tally cannot tell is counted one by one: mail in several boxes, claims that ran out, and group mail
 * from the agent's floor on, so that what it has read costs nothing.
 */
export function count(source: Source, agent: Agent, now: number): UnreadCount {
  const byPriority = Object.fromEntries(priorities.map((name) => [name, 0])) as Record<Priority, number>
  const add = (rank: number, n: number) => {
    byPriority[priorities[rank]!] += n
  }
  const { index } = source
  const own = [agent.name, ...boxesOf(agent).roles]
  const tally = index.sql(`SELECT slot, n FROM tally WHERE box = ? AND slot < ${priorities.length}`)
  const shared = index.sql('SELECT rank, count(*) FROM shared WHERE box = ? GROUP BY rank')
  for (const box of own) {
    for (const [rank, n] of tally.all<[number, number]>([box])) add(rank, n)
    for (const [rank, n] of shared.all<[number, number]>([box])) add(rank, -n)
  }
  // Mail that has expired but is not recorded so yet is still in its tally.
  const lapsed = index.sql(
    `SELECT r.rank FROM due d JOIN receipt r ON r.seq = d.seq AND r.owner = d.box
     WHERE r.box = ? AND d.at <= ? AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.box = r.box AND s.seq = r.seq AND s.owner = r.owner)`,
  )
  for (const box of own) {
    const clock = box === agent.name ? clockOf(agent, now) : now
    for (const [rank] of lapsed.all<[number]>([box, clock])) add(rank, -1)
  }
  // So is mail for an earlier run.
  const outdated = index.sql(
    `SELECT r.rank FROM bound b JOIN message m ON m.seq = b.seq JOIN receipt r ON r.seq = b.seq AND r.owner = b.owner
     WHERE b.owner = ? AND m.generation < ? AND r.class = 0 AND (r.expires IS NULL OR r.expires > ?)`,
  )
  const { name, session } = agent
  for (const [rank] of outdated.all<[number]>([name, session.generation, clockOf(agent, now)])) add(rank, -1)
  // Mail to a role is not for its sender while another holder is here.
  const sent = index.sql(
    `SELECT r.rank FROM receipt r JOIN message m ON m.seq = r.seq
     WHERE r.box = ?1 AND r.class = 0 AND m.sender = ?2 AND (r.expires IS NULL OR r.expires > ?3)
     AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.box = r.box AND s.seq = r.seq AND s.owner = r.owner)`,
  )
  // And so is mail of a role that another holder is offered first.
  const offered = index.sql(
    `SELECT r.rank FROM offer o JOIN receipt r ON r.seq = o.seq JOIN message m ON m.seq = o.seq
     WHERE r.owner = ?1 AND r.box = ?1 AND o.agent <> ?2 AND m.sender <> ?4 AND (r.expires IS NULL OR r.expires > ?3)`,
  )
  for (const role of agent.roles) {
    const box = `role:${role}`
    const isNotForSender = isShared(source, role, name)
    if (isNotForSender) for (const [rank] of sent.all<[number]>([box, name, now])) add(rank, -1)
    const countedOnce = isNotForSender ? name : ''
    for (const [rank] of offered.all<[number]>([box, name, now, countedOnce])) add(rank, -1)
  }
  for (const row of inboxRows(source, agent, { uncounted: true }, now, portion)) add(row.rank, 1)
  return { unread: Object.values(byPriority).reduce((sum, n) => sum + n, 0), byPriority }
}
