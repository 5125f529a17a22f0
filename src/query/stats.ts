import { measureKinds } from '../index/apply.ts'
import { boxesOf, systemAgent } from '../model/agent.ts'
import { percentile } from '../model/latency.ts'
import { priorities } from '../model/message.ts'
import { isoTime } from '../model/time.ts'
import { count } from './count.ts'
import { countDead } from './dead.ts'
import type { Source } from './message.ts'
import { roster } from './roster.ts'

/** Durations in ms; null when nothing was measured yet. */
export interface Latency {
  p50: number | null
  p95: number | null
  p99: number | null
}

export interface Figures {
  sent: number
  /** Messages shown to it. */
  received: number
  /** Unread mail in its inbox, as `count` has it. */
  pending: number
  /** Shown to it and not acknowledged although that was requested. */
  unacked: number
  /** When the oldest unread message was sent; null when there is none. */
  oldestWaiting: string | null
  /** Time from stored to shown, and from stored to done. */
  shown: Latency
  done: Latency
}

export interface Stats {
  all: Figures
  agents: (Figures & { name: string })[]
  /** Roles with mail waiting. */
  roles: { name: string; pending: number; oldestWaiting: string | null }[]
  deadLetters: number
  warnings: string[]
}

/** From these counts on, somebody should look. */
const manyPending = 50
const manyUnacked = 10

type Buckets = { bucket: number; n: number }[]

/** How much mail there is and how long it takes. Read from counts, so its cost does not grow with history. */
export function stats(source: Source, now: number): Stats {
  const { index } = source
  const measures = new Map<string, Buckets>()
  /** Everybody who has sent something. Mail can be imported without the agent that sent it. */
  const senders: string[] = []
  const measured = index.sql('SELECT agent, kind, bucket, n FROM measure')
  for (const [agent, kind, bucket, n] of measured.all<[string, number, number, number]>()) {
    const key = `${kind} ${agent}`
    measures.set(key, [...(measures.get(key) ?? []), { bucket, n }])
    if (kind === measureKinds.sent && agent !== systemAgent) senders.push(agent)
  }
  const all = (kind: number) =>
    [...measures].filter(([key]) => key.startsWith(`${kind} `)).flatMap(([, found]) => found)
  const numbers = (sql: string) => new Map(index.sql(sql).all<[box: string, n: number]>())
  const unacked = numbers('SELECT box, count(*) FROM receipt WHERE ack_by IS NOT NULL GROUP BY box')
  const pending = numbers('SELECT box, sum(n) FROM tally WHERE slot < 4 GROUP BY box')
  const sum = (counts: Map<string, number>, boxes: readonly string[]) =>
    boxes.reduce((total, box) => total + (counts.get(box) ?? 0), 0)

  const oldestIn = oldestWaiting(source)
  const figures = (boxes: readonly string[], kindsOf: (kind: number) => Buckets): Figures => ({
    sent: total(kindsOf(measureKinds.sent)),
    received: total(kindsOf(measureKinds.shown)),
    pending: sum(pending, boxes),
    unacked: sum(unacked, boxes),
    oldestWaiting: earliest(boxes.flatMap((box) => (pending.get(box) ? oldestIn(box) : []))),
    shown: latency(kindsOf(measureKinds.shown)),
    done: latency(kindsOf(measureKinds.done)),
  })
  const everybody = roster(source)
  const known = everybody.map((agent) => {
    const { name } = agent
    const own = figures([name, ...boxesOf(agent).roles], (kind) => measures.get(`${kind} ${name}`) ?? [])
    const { unread } = count(source, agent, now)
    return { name, ...own, pending: unread, unacked: unacked.get(name) ?? 0 }
  })
  const names = new Set(everybody.map(({ name }) => name))
  const others = senders.filter((name) => !names.has(name))
  const agents = [
    ...known,
    ...others.map((name) => ({
      name,
      ...figures([name], (kind) => measures.get(`${kind} ${name}`) ?? []),
    })),
  ]
  const roles = [...pending.keys()]
    .filter((box) => box.startsWith('role:') && pending.get(box)! > 0)
    .map((box) => ({ name: box, pending: pending.get(box)!, oldestWaiting: oldestIn(box) }))
  const own = [...agents.map(({ name }) => name), ...roles.map(({ name }) => name)]
  return {
    all: figures(own, all),
    agents,
    roles,
    deadLetters: countDead(source, now),
    // What waits for a role is said of the role, and not once more of each holder.
    warnings: [
      ...agents.map((agent) => ({ ...agent, pending: pending.get(agent.name) ?? 0 })),
      ...roles,
    ].flatMap(warningsOf),
  }
}

type Watched = Pick<Figures, 'pending'> & { name: string; unacked?: number }

function warningsOf({ name, pending, unacked = 0 }: Watched): string[] {
  return [
    ...(pending > manyPending ? [`${name} has ${pending} unread messages`] : []),
    ...(unacked > manyUnacked ? [`${name} has ${unacked} unacknowledged messages`] : []),
  ]
}

const total = (buckets: Buckets) => buckets.reduce((sum, { n }) => sum + n, 0)

const latency = (buckets: Buckets): Latency => ({
  p50: percentile(buckets, 0.5),
  p95: percentile(buckets, 0.95),
  p99: percentile(buckets, 0.99),
})

/**
 * When the oldest unread message of a box was sent. What was sent here is in the order in which it was sent, so the first
 * of each rank is enough, however full the box is. Only imported mail is older than what was there before it.
 */
function oldestWaiting({ index }: Source): (box: string) => string | null {
  const imported = new Map(
    index
      .sql(
        `SELECT r.box, min(m.created) FROM message m CROSS JOIN receipt r ON r.seq = m.seq
         WHERE m.imported = 1 AND r.class = 0 GROUP BY r.box`,
      )
      .all<[box: string, created: number]>(),
  )
  const first = index.sql(
    `SELECT min((SELECT m.created FROM receipt r JOIN message m ON m.seq = r.seq
       WHERE r.box = ?1 AND r.class = 0 AND r.rank = p.value ORDER BY r.seq LIMIT 1))
     FROM json_each('${JSON.stringify(priorities.map((_, rank) => rank))}') p`,
  )
  return (box) => {
    const [created] = first.get<[number | null]>([box])!
    const oldest = Math.min(
      created ?? Number.POSITIVE_INFINITY,
      imported.get(box) ?? Number.POSITIVE_INFINITY,
    )
    return Number.isFinite(oldest) ? isoTime(oldest) : null
  }
}

const earliest = (times: readonly (string | null)[]): string | null =>
  times.filter((time) => time !== null).toSorted()[0] ?? null
