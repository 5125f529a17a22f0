import type { Agent } from '../model/agent.ts'
import { boxesOf } from '../model/agent.ts'
import { type Priority, priorities } from '../model/message.ts'
import { inboxRows } from './inbox.ts'
import type { Source } from './message.ts'

export interface UnreadCount {
  unread: number
  byPriority: Record<Priority, number>
}

const groupPortion = 256

/**
 * How much is unread. Boxes that belong to one agent or role have a tally, so their part costs the same
 * however full they are; group mail is counted from the agent's floor on, so what it has read is free.
 */
export function count(source: Source, agent: Agent, now: number): UnreadCount {
  const byPriority = Object.fromEntries(priorities.map((name) => [name, 0])) as Record<Priority, number>
  const { index } = source
  const { roles } = boxesOf(agent)
  const tally = index.sql(`SELECT slot, n FROM tally WHERE box = ? AND slot < ${priorities.length}`)
  for (const box of [agent.name, ...roles]) {
    for (const [slot, n] of tally.all([box])) byPriority[priorities[slot as number]!] += n as number
  }
  // Mail whose life is over and that nobody has marked yet still stands in its tally.
  const lapsed = index.sql(
    `SELECT r.box, r.rank FROM due d JOIN receipt r ON r.seq = d.seq
     WHERE d.at <= ? AND r.class = 0`,
  )
  for (const [box, rank] of lapsed.all([now])) {
    if (box === agent.name || roles.includes(box as string)) byPriority[priorities[rank as number]!]--
  }
  // Mail to an agent and to its role stands in two boxes and is one message.
  const twice = index.sql(
    `SELECT s.rank FROM shared s WHERE s.box = ?1
     AND EXISTS (SELECT 1 FROM receipt x WHERE x.seq = s.seq AND x.class = 0 AND x.box <> s.box
       AND x.box IN (SELECT value FROM json_each(?2)))`,
  )
  roles.forEach((box, place) => {
    const others = JSON.stringify([agent.name, ...roles.slice(0, place)])
    for (const [rank] of twice.all([box, others])) byPriority[priorities[rank as number]!]--
  })
  for (const row of inboxRows(source, agent, { groupsOnly: true }, now, groupPortion))
    byPriority[priorities[row.rank]!]++
  return { unread: Object.values(byPriority).reduce((sum, n) => sum + n, 0), byPriority }
}
