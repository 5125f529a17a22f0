import { MailboxError } from '../base/errors.ts'
import { quote } from '../base/json.ts'
import { given } from '../base/objects.ts'
import { asText, rowsIn, type SqlValue } from '../base/sqlite.ts'
import { isOfType } from '../conversation/type-names.ts'
import { hasTag } from '../model/address.ts'
import { type Agent, boxesOf, clockOf } from '../model/agent.ts'
import { type PriorityInput, priorities, priorityHint, priorityRank, toPriority } from '../model/message.ts'
import { classOf, type ReceiptState, receiptClasses } from '../model/receipt.ts'
import { newestClaim, type PlaceRow, readMessage, type Source, type StoredMessage } from './message.ts'
import { isOfferedElsewhere } from './offers.ts'
import { badCursor, type ListOptions, limitOf, type Page } from './page.ts'
import { isShared } from './roster.ts'

export interface InboxOptions extends ListOptions {
  /** Only what the agent has not been shown yet. @default false */
  unread?: boolean
  /** Include finished mail. @default false */
  all?: boolean
  type?: string | readonly string[]
  minPriority?: PriorityInput
  from?: string | readonly string[]
  tag?: string
  thread?: string
  /** Only replies to this message, or to one of these. */
  replyTo?: string | readonly string[]
}

/** A message in an inbox, and its state there. */
export type InboxMessage = StoredMessage & {
  state: ReceiptState
  role?: string
  /** The agent's claim on it, if it has taken it for a role. */
  claimNumber?: number
  /** Work for a role that waits until the agent has finished what it has in hand, or until another takes it. */
  later?: true
}

interface InboxRow {
  rank: number
  seq: number
  owner: string
  state: ReceiptState
  place: PlaceRow
}

/** Never changes anything; `check` is the verb that does. */
export function inbox(source: Source, agent: Agent, options: InboxOptions, now: number): Page<InboxMessage> {
  const limit = limitOf(options.limit)
  const messages: InboxMessage[] = []
  for (const row of inboxRows(source, agent, options, now, limit)) {
    const message = readMessage(source, row.seq, row.place)
    if (!matches(message, options)) continue
    if (messages.length === limit) return { messages, next: cursorAfter(messages.at(-1)!) }
    const role = row.owner.startsWith('role:') ? row.owner.slice('role:'.length) : undefined
    const isHeld = role !== undefined && classOf(row.state) === 'open'
    const claimNumber = isHeld ? newestClaim(source, agent.name, row.seq) : undefined
    messages.push({ ...message, state: row.state, ...given({ role, claimNumber }) })
  }
  return { messages, next: null }
}

export function matches(
  message: StoredMessage,
  { type, from, tag, thread, replyTo, minPriority }: InboxOptions,
): boolean {
  if (minPriority !== undefined && priorityRank(message.priority) < rankOf(minPriority)) return false
  if (type !== undefined && !isOfType(message.type, type)) return false
  if (!isOneOf(from, message.from) || !isOneOf(replyTo, message.replyTo)) return false
  if (tag !== undefined && !hasTag(message, tag)) return false
  return thread === undefined || message.threadId === thread
}

/** Whether a value is the one that is wanted, or one of them. Everything is where nothing is said. */
const isOneOf = (wanted: string | readonly string[] | undefined, value: string | undefined): boolean =>
  wanted === undefined || (value !== undefined && [wanted].flat().includes(value))

/** The cursor after a message, where the next page starts. */
export const cursorAfter = ({ priority, seq }: StoredMessage): string => `${priorityRank(priority)}-${seq}`

/** A position in an inbox: most urgent first, then oldest. */
function readSpot(text: string | undefined): Pick<InboxRow, 'rank' | 'seq'> {
  if (text === undefined) return { rank: priorities.length - 1, seq: 0 }
  const match = /^([0-3])-(\d{1,15})$/.exec(text)
  if (match === null) throw badCursor(text)
  return { rank: Number(match[1]), seq: Number(match[2]) }
}

export interface RowOptions extends InboxOptions {
  /** Only what no tally can count: group mail, mail to several addresses, and claims that ran out. */
  uncounted?: boolean
}

/** Everything in an agent's inbox in order, read in small portions from as many boxes as it has. */
export function* inboxRows(
  source: Source,
  agent: Agent,
  options: RowOptions,
  now: number,
  portion: number,
): Generator<InboxRow> {
  const start = readSpot(options.after)
  const lowest = options.minPriority === undefined ? 0 : rankOf(options.minPriority)
  for (let rank = start.rank; rank >= lowest; rank--) {
    const streams = streamsOf(source, agent, options, now, rank, portion)
    yield* merge(streams, rank === start.rank ? start.seq : 0, portion)
  }
}

function rankOf(given: PriorityInput): number {
  const priority = toPriority(given)
  if (priority !== undefined) return priorityRank(priority)
  throw new MailboxError('invalid', `no priority ${quote(given)}`, { hint: priorityHint })
}

type Stream = (afterSeq: number) => InboxRow[]

/** The boxes an agent reads, each as a stream in order of seq. */
function streamsOf(
  source: Source,
  agent: Agent,
  { unread, all, uncounted }: RowOptions,
  now: number,
  rank: number,
  portion: number,
): Stream[] {
  const { index } = source
  /** A stream for any box; in `rows` ?1 is the box, ?2 the rank, ?3 where to start, ?4 the time. */
  const streaming = (rows: string, state = 'r.state') => {
    const query = `SELECT r.seq AS seq, r.owner AS owner, ${state} AS state, m.segment, m.offset, m.bytes FROM ${rows} ORDER BY r.seq LIMIT ${portion}`
    const statement = index.sql(asText(query, 'seq, owner, state, segment, offset, bytes'))
    return (box: string, at: number, ...more: SqlValue[]): Stream =>
      (after) =>
        rowsIn<[number, string, ReceiptState, ...PlaceRow]>(statement, [box, rank, after, at, ...more])
          .map(([seq, owner, state, ...place]) => ({ rank, seq, owner, state, place }))
          // SQLite promises no order within a text.
          .sort((a, b) => a.seq - b.seq)
  }
  const alive = '(r.expires IS NULL OR r.expires > ?4)'
  // As a parameter, the class would make SQLite prepare the query again for every value, because of the partial indexes.
  const own = (number: number) =>
    streaming(
      `receipt r JOIN message m ON m.seq = r.seq
       WHERE r.box = ?1 AND r.class = ${number} AND r.rank = ?2 AND r.seq > ?3 AND (${number} <> 0 OR ${alive})
       AND r.state NOT IN ('expired', 'dead') AND (m.generation IS NULL OR m.generation >= ?5)`,
    )
  const ofRole = streaming(
    `receipt r JOIN message m ON m.seq = r.seq
     WHERE r.box = ?1 AND r.class = 0 AND r.rank = ?2 AND r.seq > ?3 AND ${alive}
     AND (m.generation IS NULL OR m.generation >= ?6) AND NOT ${isOfferedElsewhere('?5')}
     AND m.sender <> ?7`,
  )
  const group = streaming(
    `receipt r JOIN message m ON m.seq = r.seq
     WHERE r.box = ?1 AND r.class = 0 AND r.rank = ?2 AND r.seq > ?3 AND ${alive}
     AND m.sender <> ?5 AND NOT EXISTS (SELECT 1 FROM receipt x WHERE x.seq = r.seq AND x.owner = ?5)
     AND NOT EXISTS (SELECT 1 FROM json_each(m.excluded) WHERE value = ?5)`,
  )
  // Whoever was away when a group's mail expired has as much of its life left as when it went.
  const missed = streaming(
    `receipt r JOIN message m ON m.seq = r.seq
     WHERE r.box = ?1 AND r.rank = ?2 AND r.seq > ?3 AND r.state = 'expired' AND r.expires > ?6 AND r.expires <= ?7
     AND ?4 < ?7 + r.expires - ?6
     AND m.sender <> ?5 AND NOT EXISTS (SELECT 1 FROM receipt x WHERE x.seq = r.seq AND x.owner = ?5)
     AND NOT EXISTS (SELECT 1 FROM json_each(m.excluded) WHERE value = ?5)`,
    "'stored'",
  )
  const floor = index.sql('SELECT seq FROM floor WHERE agent = ? AND box = ? AND rank = ?')
  const groupBox = (name: string): Stream => {
    const [settled = 0] = floor.get<[number]>([agent.name, name, rank]) ?? []
    const stream = group(name, now, agent.name)
    return (after) => stream(Math.max(after, settled))
  }
  const lapsed = streaming(
    `lease l JOIN receipt r ON r.seq = l.seq AND r.owner = l.owner JOIN message m ON m.seq = l.seq
     WHERE l.owner = ?1 AND l.rank = ?2 AND l.until <= ?4 AND l.seq > ?3 AND r.box <> ?5 AND r.class = 1 AND ${alive}
     AND m.sender <> ?6`,
    "'stored'",
  )
  const ownNow = clockOf(agent, now)
  const { roles, groups } = boxesOf(agent)
  const { lastAway } = agent
  const away = lastAway && [Date.parse(lastAway.from), Date.parse(lastAway.to)]
  /** Mail to a role is not for its sender while another holder is here. */
  const notFrom = (name: string) =>
    isShared(source, name.slice('role:'.length), agent.name) ? agent.name : ''
  const others = [
    ...roles.map((name) => lapsed(name, now, agent.name, notFrom(name))),
    ...groups.map(groupBox),
    ...(away === undefined ? [] : groups.map((name) => missed(name, now, agent.name, ...away))),
  ]
  if (uncounted) {
    const shared = streaming(
      `shared s JOIN receipt r ON r.seq = s.seq AND r.owner = s.owner JOIN message m ON m.seq = s.seq
       WHERE s.box = ?1 AND s.rank = ?2 AND s.seq > ?3 AND ${alive} AND m.sender <> ?5`,
    )
    return [
      shared(agent.name, ownNow, ''),
      ...roles.map((name) => shared(name, now, notFrom(name))),
      ...others,
    ]
  }
  const classes = all ? [0, 1, 2] : unread ? [0] : [0, 1]
  const { generation } = agent.session
  return [
    ...classes.map((number) => own(number)(agent.name, ownNow, generation)),
    ...roles.map((name) => ofRole(name, now, agent.name, generation, notFrom(name))),
    ...others,
  ]
}

/** Of several copies of one message, show the least finished; of equals, the agent's own. */
const standingOrder = ({ state, owner }: InboxRow): number =>
  2 * receiptClasses.indexOf(classOf(state)) + (owner === 'all' || owner.includes(':') ? 1 : 0)

/** Merges streams by seq. A message that reaches an agent in two ways appears once. */
function* merge(streams: Stream[], after: number, portion: number): Generator<InboxRow> {
  let seen = after
  for (;;) {
    const portions = streams.map((stream) => stream(seen))
    // Past the end of the shortest full portion, that stream may have rows that come first.
    const full = portions.filter((rows) => rows.length === portion)
    const horizon = Math.min(...full.map((rows) => rows.at(-1)!.seq), Number.POSITIVE_INFINITY)
    const rows = portions.flat().filter(({ seq }) => seq <= horizon)
    rows.sort((a, b) => a.seq - b.seq || standingOrder(a) - standingOrder(b))
    for (const row of rows) {
      if (row.seq <= seen) continue
      seen = row.seq
      yield row
    }
    if (full.length === 0) return
  }
}
