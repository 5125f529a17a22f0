import { findStep, isWork, type Kind, type MatterState, matterOf } from '../conversation/registry.ts'
import { titleOf } from '../conversation/words.ts'
import { readersOf } from '../index/members.ts'
import { isGroupBox } from '../model/address.ts'
import type { Agent } from '../model/agent.ts'
import type { ReceiptEntry } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import { isDeadLetter, type ReceiptChange, type ReceiptState } from '../model/receipt.ts'
import { count } from './count.ts'
import { findSeq, messageIfThere, receiptsOf, type Source, type StoredMessage } from './message.ts'
import type { Need } from './needs.ts'
import { mattersWhere, owed } from './owed.ts'
import { agentByName, roster } from './roster.ts'
import { waitsIn } from './waits.ts'

/** A message that a line of the digest is about. */
export interface DigestLine {
  id: string
  seq: number
  threadId: string
  type: string
  /** Its subject, or what its conversation calls it; empty where there is neither. */
  subject: string
  from: string
  to: string[]
  /** When what the line says has happened; for what is open, since when. */
  at: string
  /** Its text is encrypted, so what the line quotes stays in the space. */
  encrypted?: true
}

/** A verdict, or an answer to a question that the person asked or was asked. */
export interface DecidedLine extends DigestLine {
  kind: Kind
  outcome: MatterState
  by: string
  /** The message that says so, and its beginning. */
  answer: string
  says: string
}

export interface FinishedLine extends DigestLine {
  outcome: MatterState
  by: string
  note?: string
}

/** Something that waits for the person, and the agents that go on once it is settled. */
export interface NeedLine extends DigestLine {
  kind: string
  priority: Message['priority']
  until?: string
  frees: string[]
}

export interface BlockedLine {
  agent: string
  /** Who has to answer. */
  for: string
  /** The message that asks. */
  id: string
  seq: number
  subject: string
  since: string
  encrypted?: true
}

export interface DiedLine {
  agent: string
  at: string
  reason: 'ended' | 'silent'
  /** Mail that waits for it. */
  unread: number
  isBack: boolean
}

export interface LostLine extends DigestLine {
  recipient: string
  state: ReceiptState
  reason: string
}

/** A change of a receipt, and the entry that records it. */
export interface ChangedReceipt {
  entry: ReceiptEntry
  change: ReceiptChange
}

/** How a line about a message begins. */
export const lineOf = (message: StoredMessage, at: string): DigestLine => ({
  ...{
    id: message.id,
    seq: message.seq,
    threadId: message.threadId,
    type: message.type,
    subject: titleOf(message),
  },
  ...{ from: message.from, to: [...message.to], at },
  ...(message.encrypted !== undefined && { encrypted: true }),
})

/** Work that is over now. What was begun again since is not. */
export function finishedLine(source: Source, { entry, change }: ChangedReceipt): FinishedLine[] {
  const work = mattersWhere(source, 'x.seq = ?', [change.seq]).filter(({ kind }) => isWork(kind))
  const matter =
    work.find(({ owner }) => owner === change.owner) ?? work.find(({ owner }) => isGroupBox(owner))
  const { done = '', fail = '' } = (matter && matterOf(matter.kind)?.handled) ?? {}
  const isOver = [done, fail].some((name) => matter && findStep(matter.kind, name)?.to === matter.state)
  const message = isOver ? messageIfThere(source, change.seq) : undefined
  if (message === undefined) return []
  const { note } = entry
  return [
    {
      ...{ ...lineOf(message, entry.at), outcome: matter!.state, by: entry.by },
      ...(note !== undefined && { note }),
      ...(entry.sealed !== undefined && { encrypted: true as const }),
    },
  ]
}

/** Mail that is still lost. What a member of its group has read is not. */
export function lostLine(source: Source, { entry, change: { seq, owner } }: ChangedReceipt): LostLine[] {
  const receipt = receiptsOf(source, seq).find((one) => one.owner === owner)
  if (receipt === undefined || !isDeadLetter(receipt.state)) return []
  const isRead = () => source.index.sql(`${readersOf} LIMIT 1`).get([seq]) !== undefined
  if (isGroupBox(owner) && isRead()) return []
  const message = messageIfThere(source, seq)
  if (message === undefined) return []
  const reason = entry.note ?? 'it expired before anybody read it'
  return [{ ...lineOf(message, entry.at), recipient: owner, state: receipt.state, reason }]
}

export const needLine = ({ kind, message, since, until, frees }: Need): NeedLine => ({
  ...{ ...lineOf(message, since), kind, priority: message.priority },
  ...(until !== undefined && { until }),
  frees: frees.map(({ agent }) => agent),
})

/** Who cannot go on, and since when, those who have waited longest first. */
export function blockedNow(source: Source, now: number): BlockedLine[] {
  const open = owed(source, {}, now)
  const isThere = new Set(roster(source).flatMap(({ name, state }) => (state === 'dead' ? [] : name)))
  const sinceOf = new Map(open.map(({ id, since }) => [id, since]))
  return waitsIn(open, (name) => isThere.has(name)).map((wait) => {
    const seq = findSeq(source, wait.id)!
    const isEncrypted = messageIfThere(source, seq)?.encrypted !== undefined
    return {
      ...{ ...wait, seq, since: sinceOf.get(wait.id)! },
      ...(isEncrypted && { encrypted: true as const }),
    }
  })
}

export function diedLine(source: Source, { name, gone }: Agent, at: string, now: number): DiedLine {
  const agent = agentByName(source, name)
  const unread = agent === undefined ? 0 : count(source, agent, now).unread
  return {
    agent: name,
    at,
    reason: gone === 'silent' ? gone : 'ended',
    unread,
    isBack: agent?.state !== 'dead',
  }
}
