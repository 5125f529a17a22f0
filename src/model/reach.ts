import { isGroupBox } from './address.ts'
import { type Agent, boxesOf } from './agent.ts'
import { classOf, type Receipt, type ReceiptState } from './receipt.ts'

/** The parts of a message that routing and decisions need. */
export interface MessageFacts {
  seq: number
  id: string
  sender: string
  rank: number
  expiresAt: number | null
  excluded: readonly string[]
  requiresAck: boolean
  /** One of {@link asking}. */
  asks: number
  /** The only run it is meant for, if any. */
  generation: number | null
  /** It comes from another space. Nobody is notified of what becomes of it by itself: that is old news. */
  imported: boolean
}

/** What a message wants of its recipients: nothing but to be read, an answer, work to be done, or only an ack. */
export const asking = { nothing: 0, answer: 1, work: 2, ack: 3 } as const

/** How a message relates to one agent. */
export type Reach =
  /**
   * The agent can handle it: receipts it holds (mail to it, mail it claimed, group mail it has seen),
   * receipts it can claim, and whether a group's copy is new to it. Mail that reaches an agent in several ways
   * is one message to it: handling it handles all copies.
   */
  | { kind: 'reached'; held: Receipt[]; claimable: Receipt[]; group: boolean }
  /** Group mail that was withdrawn or has expired for everyone. */
  | { kind: 'over'; state: ReceiptState }
  /** Sent to a role it holds, but claimed by another agent. */
  | { kind: 'taken'; by: string }
  /** Sent by the agent itself to a role that another holder is here for. */
  | { kind: 'own'; role: string }
  | { kind: 'none' }

/** Nobody has it, or whoever claimed it has let the claim run out. */
const isFree = (receipt: Receipt, now: number): boolean =>
  receipt.box === receipt.owner || hasLapsed(receipt, now)

/** The claim on it has run out. */
export const hasLapsed = (receipt: Receipt, now: number): boolean =>
  receipt.claimUntil !== null && receipt.claimUntil <= now && isOpen(receipt)

const isOpen = ({ state }: Receipt) => state === 'shown' || state === 'acked' || state === 'processing'

export function reachOf(
  agent: Agent,
  message: MessageFacts,
  receipts: readonly Receipt[],
  now: number,
  /** Whether another agent that is here holds the role. */
  isShared: (role: string) => boolean = () => false,
): Reach {
  const { roles, groups } = boxesOf(agent)
  const forRoles = receipts.filter(({ owner }) => roles.includes(owner))
  const isOthers = ({ owner }: Receipt) =>
    message.sender === agent.name && isShared(owner.slice('role:'.length))
  const free = forRoles.filter((receipt) => classOf(receipt.state) !== 'closed' && isFree(receipt, now))
  const claimable = free.filter((receipt) => !isOthers(receipt))
  const held = receipts.filter(({ owner, box }) => box === agent.name || owner === agent.name)
  if (isOutdated(agent, message) && held.length > 0) return { kind: 'over', state: 'dead' }
  const shared = receipts.find(({ owner }) => isGroupBox(owner) && groups.includes(owner))
  const leftOut = message.sender === agent.name || message.excluded.includes(agent.name)
  const isOver = (one: Receipt) => classOf(one.state) === 'closed' || hasExpired(message, now)
  const over = shared !== undefined && isOver(shared) && !hasMissed(agent, message, shared, now)
  const sawIt = held.some(({ owner }) => owner === agent.name)
  const group = shared !== undefined && !leftOut && !over && !sawIt
  const rest = claimable.filter((receipt) => !held.includes(receipt))
  if (held.length + rest.length > 0 || group) return { kind: 'reached', held, claimable: rest, group }
  if (shared !== undefined && !leftOut) {
    return { kind: 'over', state: classOf(shared.state) === 'closed' ? shared.state : 'expired' }
  }
  if (free[0] !== undefined) return { kind: 'own', role: free[0].owner }
  const ended = forRoles.find(({ owner, box }) => box === owner)
  if (ended !== undefined) return { kind: 'over', state: ended.state }
  return forRoles[0] === undefined ? { kind: 'none' } : { kind: 'taken', by: forRoles[0].box }
}

/** Meant for an earlier run of the agent, so a later one must not get it. */
export const isOutdated = (
  { session }: Pick<Agent, 'session'>,
  { generation }: Pick<MessageFacts, 'generation'>,
): boolean => generation !== null && generation < session.generation

/**
 * Whether an agent was away when a group's mail expired. It has as much of its life left as when the agent went, from
 * when it is back.
 */
function hasMissed({ lastAway }: Agent, { expiresAt }: MessageFacts, shared: Receipt, now: number): boolean {
  if (lastAway === undefined || expiresAt === null || shared.state !== 'expired') return false
  const [from, to] = [Date.parse(lastAway.from), Date.parse(lastAway.to)]
  return expiresAt > from && expiresAt <= to && now < to + expiresAt - from
}

/** Mail expires only for agents that have not seen it. */
export const hasExpired = ({ expiresAt }: Pick<MessageFacts, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && expiresAt <= now
