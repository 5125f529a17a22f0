import { type Agent, clockOf } from '../model/agent.ts'
import { hasExpired, type MessageFacts, reachOf } from '../model/reach.ts'
import { classOf, type Receipt, type ReceiptState, receiptClasses, stateNow } from '../model/receipt.ts'
import { type InboxMessage, type InboxOptions, matches } from './inbox.ts'
import { factsOf, messageBySeq, receiptsOf, type Source } from './message.ts'
import { isOfferedToOther } from './offers.ts'
import { isShared } from './roster.ts'

const reachFor = (source: Source, agent: Agent, facts: MessageFacts, now: number) =>
  reachOf(agent, facts, receiptsOf(source, facts.seq), now, (role) => isShared(source, role, agent.name))

/** The state of a message for one agent; undefined when it was not sent to it. */
export function standing(source: Source, agent: Agent, seq: number, now: number): ReceiptState | undefined {
  const facts = factsOf(source, seq)
  const reach = reachFor(source, agent, facts, now)
  switch (reach.kind) {
    case 'reached': {
      const { held, claimable, group } = reach
      const isOwn = ({ owner }: Receipt) => owner === agent.name
      const ownFirst = [...held.filter(isOwn), ...held.filter((one) => !isOwn(one))]
      const own = ownFirst.map((one) => stateNow(one, clockOf(agent, now)))
      // What an earlier claimant did does not count for the next.
      const free = claimable.map(() => (hasExpired(facts, now) ? 'expired' : 'stored') as ReceiptState)
      const states = [...own, ...free, ...(group ? ['stored' as const] : [])]
      return receiptClasses.flatMap((wanted) => states.filter((state) => classOf(state) === wanted))[0]
    }
    case 'over':
      return reach.state
    default:
      return undefined
  }
}

/** The message, if it is unread for the agent and matches the filter. */
export function unreadFor(
  source: Source,
  agent: Agent,
  seq: number,
  filter: InboxOptions,
  now: number,
): InboxMessage | undefined {
  const state = standing(source, agent, seq, now)
  if (state === undefined || classOf(state) !== 'unread') return undefined
  if (isOfferedToOther(source, seq, agent.name)) return undefined
  const message = messageBySeq(source, seq)
  if (!matches(message, filter)) return undefined
  const role = roleOf(source, agent, seq, now)
  return { ...message, state, ...(role === undefined ? {} : { role }) }
}

/** The role through which unread mail reaches an agent, unless it was also sent to the agent itself. */
function roleOf(source: Source, agent: Agent, seq: number, now: number): string | undefined {
  const reach = reachFor(source, agent, factsOf(source, seq), now)
  if (reach.kind !== 'reached' || reach.held.some(({ state }) => classOf(state) === 'unread'))
    return undefined
  return reach.claimable[0]?.owner.slice('role:'.length)
}
