import { typeOf } from '../conversation/registry.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import { priorityRank } from '../model/message.ts'
import { inbox } from './inbox.ts'
import { messageBySeq, requireSeq, type Source, type StoredMessage } from './message.ts'
import { type Owed, owed, owedBy } from './owed.ts'
import { roster } from './roster.ts'
import { freedBy, type Wait, waitsIn } from './waits.ts'

/**
 * `blocked`: agents cannot go on without it. `asked`: it asks for something. `info`: it asks for nothing. `snoozed`: the
 * person does not want to see it before a time.
 */
export const needSections = ['blocked', 'asked', 'info', 'snoozed'] as const

/** Something that waits for an agent: what it owes, or has not read. */
export interface Need {
  /** One of `needs` of the conversations. */
  kind: string
  section: (typeof needSections)[number]
  message: StoredMessage
  since: string
  until?: string
  /** Who can go on once it is answered: whoever asked, then those who wait for them. */
  frees: Wait[]
  snoozedUntil?: string
}

const unreadAtMost = 1_000

/** Whether it asks something of the person now. */
export const isForPerson = ({ section }: Need): boolean => section === 'blocked' || section === 'asked'

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

/** What its conversation calls a need asks for something, and so does what the system raises the priority of. */
const asks = (kind: string, { priority }: StoredMessage): boolean =>
  kind !== 'mail' && (kind !== 'notice' || priorityRank(priority) >= priorityRank('high'))

/**
 * What waits for an agent: what asks for something first, by how many agents it frees, then by priority, then the oldest.
 * Each message once, for what matters most.
 */
export function needsOf(
  source: Source,
  agent: Agent,
  now: number,
  snoozed: Readonly<Record<string, string>> = {},
): Need[] {
  const needs = new Map<string, Need>()
  const open = owed(source, {}, now)
  const isThere = new Set(roster(source).flatMap(({ name, state }) => (state === 'dead' ? [] : name)))
  const waits = waitsIn(open, (name) => isThere.has(name))
  const own = open.filter(owedBy(source, agent.name))
  const add = (need: Omit<Need, 'section' | 'frees'>, section: 'asked' | 'info') => {
    const { id } = need.message
    const frees = freedBy(id, waits)
    const until = snoozed[id]
    const isSnoozed = until !== undefined && Date.parse(until) > now
    needs.set(id, {
      ...{ ...need, frees, section: isSnoozed ? 'snoozed' : frees.length > 0 ? 'blocked' : section },
      ...(isSnoozed && { snoozedUntil: until }),
    })
  }
  // What a message asks for says more than that it wants an ack.
  for (const one of own.toSorted((a, b) => Number(a.kind === 'ack') - Number(b.kind === 'ack'))) {
    if (needs.has(one.id)) continue
    const message = messageBySeq(source, requireSeq(source, one.id))
    const until = one.until === null ? {} : { until: one.until }
    add({ kind: kindOf(one), message, since: one.since, ...until }, 'asked')
  }
  const unread = inbox(source, agent, { unread: true, limit: unreadAtMost }, now).messages
  for (const { state: _, role: __, ...message } of unread) {
    if (needs.has(message.id)) continue
    const kind = kindOfUnread(message)
    add({ kind, message, since: message.createdAt }, asks(kind, message) ? 'asked' : 'info')
  }
  const sectionOf = ({ section }: Need) => needSections.indexOf(section)
  const rank = ({ message }: Need) => priorityRank(message.priority)
  return [...needs.values()].sort(
    (a, b) =>
      sectionOf(a) - sectionOf(b) ||
      b.frees.length - a.frees.length ||
      rank(b) - rank(a) ||
      a.message.seq - b.message.seq,
  )
}
