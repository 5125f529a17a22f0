import { typeOf } from '../conversation/registry.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import { inbox } from './inbox.ts'
import { messageBySeq, requireSeq, type Source, type StoredMessage } from './message.ts'
import { type Owed, owed } from './owed.ts'

/** Something that waits for an agent: what it owes, or has not read. */
export interface Need {
  /** One of `needs` of the conversations. */
  kind: string
  message: StoredMessage
  since: string
  until?: string
}

const unreadAtMost = 1_000

function kindOf({ kind, type }: Owed): Need['kind'] {
  const { need, opens } = typeOf(type) ?? {}
  // What is settled but for its ack wants no more than that.
  if (kind === 'ack' && opens !== undefined) return kind
  return need?.kind ?? (kind === 'ack' || kind === 'question' ? kind : 'mail')
}

/** Unread mail that asks nothing of the reader, or no longer. */
function kindOfUnread({ type, from }: StoredMessage): Need['kind'] {
  const { need, opens } = typeOf(type) ?? {}
  if (need !== undefined && opens === undefined) return need.kind
  return from === systemAgent ? 'notice' : 'mail'
}

/** What waits for an agent, urgent first, then the oldest. Each message once, for what matters most. */
export function needsOf(source: Source, agent: Agent, now: number): Need[] {
  const needs = new Map<string, Need>()
  const open = owed(source, { by: agent.name }, now)
  // What a message asks for says more than that it wants an ack.
  for (const one of open.toSorted((a, b) => Number(a.kind === 'ack') - Number(b.kind === 'ack'))) {
    if (needs.has(one.id)) continue
    const message = messageBySeq(source, requireSeq(source, one.id))
    const until = one.until === null ? {} : { until: one.until }
    needs.set(one.id, { kind: kindOf(one), message, since: one.since, ...until })
  }
  const unread = inbox(source, agent, { unread: true, limit: unreadAtMost }, now).messages
  for (const { state: _, role: __, ...message } of unread) {
    if (needs.has(message.id)) continue
    needs.set(message.id, { kind: kindOfUnread(message), message, since: message.createdAt })
  }
  const isUrgent = ({ message }: Need) => Number(message.priority === 'urgent')
  return [...needs.values()].sort((a, b) => isUrgent(b) - isUrgent(a) || a.message.seq - b.message.seq)
}
