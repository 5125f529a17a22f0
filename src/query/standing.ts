import type { Agent } from '../model/agent.ts'
import { reachOf } from '../model/reach.ts'
import { classOf, type ReceiptState, stateNow } from '../model/receipt.ts'
import { type InboxMessage, type InboxOptions, matches } from './inbox.ts'
import { factsOf, messageBySeq, receiptsOf, type Source } from './message.ts'

/** Where a message stands for one agent; undefined when it is none of its business. */
export function standing(source: Source, agent: Agent, seq: number, now: number): ReceiptState | undefined {
  const reach = reachOf(agent, factsOf(source, seq), receiptsOf(source, seq), now)
  switch (reach.kind) {
    case 'reached': {
      const { held, claimable } = reach
      const own = held.find(({ box }) => box === agent.name) ?? held[0]
      if (own !== undefined) return stateNow(own, now)
      // What a former claimant did does not count for the next.
      return claimable.some((receipt) => stateNow(receipt, now) === 'expired') ? 'expired' : 'stored'
    }
    case 'over':
      return reach.state
    default:
      return undefined
  }
}

/** The message, if it is unread for the agent and fits the filter. */
export function unreadFor(
  source: Source,
  agent: Agent,
  seq: number,
  filter: InboxOptions,
  now: number,
): InboxMessage | undefined {
  const state = standing(source, agent, seq, now)
  if (state === undefined || classOf(state) !== 'unread') return undefined
  const message = messageBySeq(source, seq)
  return matches(message, filter) ? { ...message, state } : undefined
}
