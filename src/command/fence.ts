import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import type { Agent } from '../model/agent.ts'
import type { ClaimMade } from '../model/claim.ts'
import { hasLapsed, type MessageFacts, type Reach } from '../model/reach.ts'
import type { Receipt } from '../model/receipt.ts'
import { type Context, endsBy } from './context.ts'
import type { HandleCommand } from './ladder.ts'

/** A copy that is not fenced off; `isAnew`: the claim on it has run out, and this is the next. */
export type OpenCopy = Receipt & { isAnew?: boolean }

/** Steps that take mail nobody has, so that an earlier claim on it does not matter. */
const taking: readonly string[] = ['notified', 'shown', 'claimed', 'acked', 'processing']

/**
 * Fences off what is no longer the caller's: copies that were claimed after the claim it acts with. Names do
 * not help here, because two processes may act under one name and one of them may have slept through its
 * claim. A call that comes without a number acts for its agent, so with the agent's newest claim.
 */
export function fence(
  view: View,
  agent: Agent,
  message: MessageFacts,
  { held, claimable }: Pick<Reach & { kind: 'reached' }, 'held' | 'claimable'>,
  command: HandleCommand,
  context: Context,
): { open: OpenCopy[]; refusal?: MailboxError } {
  const copies: OpenCopy[] = [...held, ...claimable]
  const { step, claimNumber, renewsOnly = false } = command
  // Nearly all mail was never claimed.
  const isFresh = copies.every(({ owner, attempts }) => owner === agent.name || attempts === 0)
  if (isFresh && !renewsOnly && !claimNumber) return { open: copies }
  const claims = view.claims(message.seq)
  const acting = actingWith(claims, agent.name, message, claimNumber)
  let refusal: MailboxError | undefined
  const open = copies.flatMap((copy): OpenCopy[] => {
    const newest = claims.findLast(({ owner }) => owner === copy.owner)
    if (newest === undefined || newest.number <= acting) return [copy]
    const isFree = copy.box !== agent.name || hasLapsed(copy, endsBy(context))
    if (isFree && taking.includes(step) && !renewsOnly) return [{ ...copy, isAnew: true }]
    refusal ??= superseded(message, newest, acting, agent.name)
    return []
  })
  return refusal === undefined ? { open } : { open, refusal }
}

/** The number of the claim that a caller acts with. One that never claimed the message is no earlier holder. */
function actingWith(
  claims: readonly ClaimMade[],
  agent: string,
  { id }: MessageFacts,
  given: number | undefined,
): number {
  const own = claims.filter((claim) => claim.agent === agent).map(({ number }) => number)
  if (given === undefined) return own.at(-1) ?? Number.POSITIVE_INFINITY
  if (given === 0 || own.includes(given)) return given
  throw new MailboxError('conflict', `${agent} has made no claim ${given} on message ${id}`, {
    hint: 'pass the number that the claim was answered with',
  })
}

function superseded({ id }: MessageFacts, newest: ClaimMade, acting: number, agent: string): MailboxError {
  const who = newest.agent === agent ? `${agent}, in another process,` : newest.agent
  const over = acting === 0 ? '' : `: claim ${acting} is over`
  return new MailboxError('conflict', `${who} has claimed message ${id} as claim ${newest.number}${over}`, {
    hint: `stop working on it; see how it got there: mailbox show ${id}`,
  })
}
