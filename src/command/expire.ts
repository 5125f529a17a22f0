import { systemAgent } from '../model/agent.ts'
import type { ReceiptDraft } from '../model/entry.ts'
import type { Context, View } from './context.ts'

/** How much of what is over one reader clears away at a time. */
const expireAtOnce = 500

/**
 * Writes down what has ended by itself in some boxes: unread mail whose life is over. Whoever looks into a
 * box next does it, so that nothing that is over has to be stepped over for ever.
 */
export function decideExpire(view: View, boxes: readonly string[], { now }: Context): ReceiptDraft[] {
  const changes = view.lapsed(boxes, now, expireAtOnce).map(({ seq, id, rank, owner, box, state }) => ({
    ...{ id, seq, rank, owner, box },
    state: 'expired' as const,
    was: state,
  }))
  return changes.length === 0 ? [] : [{ kind: 'receipt', step: 'expired', by: systemAgent, changes }]
}
