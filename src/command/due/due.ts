import type { View } from '../../conversation/view.ts'
import type { Draft } from '../../model/entry.ts'
import type { Context } from '../context.ts'
import { sendScheduled } from '../schedule.ts'
import { remind } from './acks.ts'
import { findDeaths, findReturns, type ProcessStates, settleDead } from './deaths.ts'
import { escalateUnread } from './escalation.ts'
import { expire, expireForRun, waitingBoxes } from './expiry.ts'
import { atOnce, LetterChanges } from './letter-changes.ts'
import { endOffers } from './offers.ts'
import { escalateOverdue } from './overdue.ts'

/**
 * Everything that happens by itself: mail that was scheduled, agents found dead, claims that ran out, mail that expired or lost its
 * recipient, acks that did not come, urgent mail that nobody reads. No process has to be running for it:
 * whoever reads next does what is due, exactly once, because it is decided with the exclusive right to append.
 */
export function decideDue(
  view: View,
  processes: ProcessStates,
  context: Context,
  /** The agent that comes for its mail: nobody is told that it has not read or answered it. */
  reader?: string,
): Draft[] {
  const scheduled = sendScheduled(view, context)
  // What becomes of the rest is decided once they are there.
  if (scheduled.length > 0) return scheduled
  const letters = new LetterChanges(view, context, reader)
  const deaths = findDeaths(view, processes, context)
  const returns = findReturns(view, context)
  const dead = new Map(deaths.map(({ agent }) => [agent.name, agent]))
  const back = new Set(returns.map((draft) => (draft.kind === 'agent' ? draft.agent.name : '')))
  for (const [name, agent] of view.directory.dead) if (!back.has(name)) dead.set(name, agent)
  for (const agent of dead.values()) settleDead(letters, agent)
  for (const letter of view.lapsedClaims(context.now, atOnce)) letters.giveBack(letter, 'the claim ran out')
  endOffers(letters)
  for (const letter of view.bound(atOnce)) expireForRun(letters, letter)
  for (const letter of view.lapsed(context.now, waitingBoxes(view, dead.values()), atOnce))
    expire(letters, letter)
  for (const letter of view.unacked(context.now, atOnce)) remind(letters, letter)
  escalateUnread(letters)
  escalateOverdue(letters)
  return [...deaths, ...returns, ...letters.drafts()]
}
