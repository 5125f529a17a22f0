import { isGroupBox } from './address.ts'
import { type Agent, boxesOf } from './agent.ts'
import { classOf, type Receipt, type ReceiptState } from './receipt.ts'

/** A message as far as routing and decisions need it; its text is none of their business. */
export interface MessageFacts {
  seq: number
  id: string
  sender: string
  rank: number
  expiresAt: number | null
  excluded: readonly string[]
}

/** Where a message stands for one agent. */
export type Reach =
  /** It has receipts of its own: mail to it, mail it claimed, group mail it has seen. */
  | { kind: 'held'; receipts: Receipt[] }
  /** It holds a role the mail is for, and nobody has it. */
  | { kind: 'claimable'; receipts: Receipt[] }
  /** Group mail that it has not seen yet. */
  | { kind: 'group' }
  /** Group mail that is over for everybody: withdrawn, or its life has ended. */
  | { kind: 'over'; state: ReceiptState }
  /** For a role it holds, but somebody else has it. */
  | { kind: 'taken'; by: string }
  | { kind: 'none' }

/** A claim that has run out is no claim. */
export const isFree = (receipt: Receipt, now: number): boolean =>
  receipt.box === receipt.owner ||
  (receipt.claimUntil !== null && receipt.claimUntil <= now && isOpen(receipt))

const isOpen = ({ state }: Receipt) => state === 'shown' || state === 'acked' || state === 'processing'

export function reachOf(
  agent: Agent,
  message: MessageFacts,
  receipts: readonly Receipt[],
  now: number,
): Reach {
  const { roles, groups } = boxesOf(agent)
  const forRoles = receipts.filter(({ owner }) => roles.includes(owner))
  const claimable = forRoles.filter((receipt) => isFree(receipt, now))
  const held = receipts.filter(({ owner, box }) => box === agent.name || owner === agent.name)
  // Mail to an agent and to a role it holds is one piece of mail to it: taking it takes both.
  if (held.length > 0)
    return { kind: 'held', receipts: [...held, ...claimable.filter((one) => !held.includes(one))] }
  if (claimable.length > 0) return { kind: 'claimable', receipts: claimable }
  const shared = receipts.find(({ owner }) => isGroupBox(owner) && groups.includes(owner))
  const leftOut = message.sender === agent.name || message.excluded.includes(agent.name)
  if (shared !== undefined && !leftOut) {
    if (classOf(shared.state) === 'closed') return { kind: 'over', state: shared.state }
    return hasExpired(message, now) ? { kind: 'over', state: 'expired' } : { kind: 'group' }
  }
  return forRoles[0] === undefined ? { kind: 'none' } : { kind: 'taken', by: forRoles[0].box }
}

/** The life of mail ends for those who have not seen it. */
export const hasExpired = ({ expiresAt }: Pick<MessageFacts, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && expiresAt <= now
