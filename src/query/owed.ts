import type { SqlValue } from '../base/sqlite.ts'
import { isOutcome, type Matter } from '../conversation/matter.ts'
import type { Kind, MatterState } from '../conversation/registry.ts'
import { titleOf } from '../conversation/words.ts'
import { readersOf, unackedMembers } from '../index/members.ts'
import { isGroupBox } from '../model/address.ts'
import { boxesOf, clockOf } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { stateNow } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import { messageBySeq, receiptsOf, type Source } from './message.ts'
import { agentByName } from './roster.ts'

/** Something one agent still has to give another. */
export interface Owed {
  kind: Kind
  /** The message that asks for it. */
  id: string
  subject: string
  type: string
  priority: string
  /** Who waits for it, who was asked, and who is handling it. */
  from: string
  to: string
  by: string
  state: MatterState
  since: string
  /** The deadline, if there is one. */
  until: string | null
  overdue: boolean
}

export interface OwedOptions {
  /** Only what this agent owes, itself or by its roles. */
  by?: string
  /** Only what is owed to this agent. */
  to?: string
  kind?: Kind
}

type MatterRow = [
  ...[seq: number, id: string, owner: string, kind: Kind, state: MatterState, asker: string],
  ...[key: string | null, since: number, until: number | null, level: number],
]
const columns = 'x.seq, m.id, x.owner, x.kind, x.state, x.asker, x.key, x.since, x.until, x.level'

/** Matters with the ids of their messages; `where` may use x (matter) and m (message). */
export const mattersWhere = ({ index }: Source, where: string, parameters: SqlValue[]): Matter[] =>
  index
    .sql(`SELECT ${columns} FROM matter x JOIN message m ON m.seq = x.seq WHERE ${where}`)
    .all<MatterRow>(parameters)
    .map(([seq, id, owner, kind, state, asker, key, since, until, level]) => {
      return { seq, id, owner, kind, state, asker, key, since, until, level }
    })

/** What is open, the oldest first. */
export function owed(source: Source, options: OwedOptions, now: number): Owed[] {
  const isBy = options.by === undefined ? () => true : owedBy(source, options.by)
  return mattersWhere(source, 'x.open = 1 ORDER BY x.since, x.seq', [])
    .filter((matter) => !hasLapsed(source, matter, now))
    .flatMap((matter) => owedFor(source, matter, now))
    .filter(({ kind }) => options.kind === undefined || kind === options.kind)
    .filter(({ from }) => options.to === undefined || from === options.to)
    .filter(isBy)
}

/** Whether something is owed by an agent, itself or by its roles. */
export function owedBy(source: Source, name: string): (one: Owed) => boolean {
  const agent = agentByName(source, name)
  const boxes = agent === undefined ? [] : [agent.name, ...boxesOf(agent).roles]
  return ({ by, to }) => by === name || (by === to && boxes.includes(to))
}

/** Each member of a group owes its own ack. What failed is for whoever asked: to retry, reassign or withdraw it. */
function owedFor(source: Source, matter: Matter, now: number): Owed[] {
  const { seq, owner, kind, state, asker } = matter
  const owed = toOwed(source, matter, now)
  if (state === 'failed') return [{ ...owed, by: asker }]
  if (kind !== 'ack' || !isGroupBox(owner)) return [owed]
  const members = source.index.sql(`${unackedMembers} ORDER BY a.name`).all<[string]>([owner, seq])
  return members.map(([by]) => ({ ...owed, by }))
}

function toOwed(source: Source, matter: Matter, now: number): Owed {
  const { seq, id, owner, kind, state, asker, since, until } = matter
  const message = messageBySeq(source, seq)
  const { type, priority } = message
  const holder = source.index.sql('SELECT box FROM receipt WHERE seq = ? AND owner = ?')
  const [by = owner] = holder.get<[string]>([seq, owner]) ?? []
  return {
    ...{ kind, id, subject: titleOf(message), type, priority, from: asker, to: owner, by, state },
    since: isoTime(since),
    until: until === null ? null : isoTime(until),
    overdue: until !== null && until <= now,
  }
}

/** Whether a message says what has become of something that this agent asked for: a question, a plan, a task. */
export function isAnswerTo(source: Source, agent: string, message: Message): boolean {
  if (message.replyTo === undefined) return false
  const asked = "m.id = ? AND x.asker = ? AND x.kind <> 'ack'"
  return mattersWhere(source, asked, [message.replyTo, agent]).some((matter) => isOutcome(message, matter))
}

/** For each agent that waits for answers, the questions it sent. */
export function waiting(source: Source, now: number): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const open = mattersWhere(source, "x.open = 1 AND x.kind = 'question' ORDER BY x.seq", [])
  for (const { asker, id } of open.filter((matter) => !hasLapsed(source, matter, now))) {
    const known = found.get(asker) ?? []
    if (!known.includes(id)) known.push(id)
    found.set(asker, known)
  }
  return found
}

/** The message has expired, recorded or not, so nothing is owed any more. */
export function hasLapsed(source: Source, { seq, owner }: Matter, now: number): boolean {
  const receipt = receiptsOf(source, seq).find((one) => one.owner === owner)
  const isRead = () => source.index.sql(`${readersOf} LIMIT 1`).get([seq]) !== undefined
  if (isGroupBox(owner) && isRead()) return false
  return receipt !== undefined && stateNow(receipt, clockOf(agentByName(source, owner), now)) === 'expired'
}
