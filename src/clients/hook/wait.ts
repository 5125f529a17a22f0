import { processState } from '../../base/process.ts'
import { pause } from '../../base/timers.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import { Arrivals } from './arrivals.ts'
import { readHookState, ringerOf, setWaiter, waiterOf } from './hook-state.ts'
import { isRunning, ownToken } from './process.ts'
import type { HookContext } from './respond.ts'

/** How often to check whether the agent is still idle and its client still running. Before the first time, a hook of the
 * turn that is just ending may show mail. */
const lookMs = 500
/** Mail that comes together is announced together. */
const settleMs = 250
/** For this long mail is left to the MCP server, if it rings for the agent as well. */
const graceMs = 3_000

/** Returns false when another hook was faster. */
type Deliver = (messages: readonly InboxMessage[]) => Promise<boolean>

/**
 * Waits in the background until an idle agent has mail that is worth a turn, and delivers it. Ends silently when the
 * agent starts to work, its client ends, or another wait for it begins. True when it has delivered mail.
 */
export async function waitForMail(context: HookContext, deliver: Deliver): Promise<boolean> {
  const ending = new AbortController()
  const arrivals = new Arrivals(context.mailbox, ending.signal)
  try {
    const waiting = waitWhileIdle(context, arrivals, deliver, ending.signal)
    // The mailbox is watched until we end; it ends earlier only by throwing.
    return await Promise.race([waiting, arrivals.ended.then(() => false)])
  } finally {
    ending.abort()
  }
}

async function waitWhileIdle(
  context: HookContext,
  arrivals: Arrivals,
  deliver: Deliver,
  signal: AbortSignal,
): Promise<boolean> {
  const token = ownToken()
  setWaiter(context, token)
  const { works } = readHookState(context)
  await pause(lookMs, signal)
  while (!signal.aborted) {
    if (waiterOf(context) !== token || processState(context.process) === 'gone') return false
    if (readHookState(context).works !== works) return false
    const minAgeMs = isRunning(ringerOf(context)) ? graceMs : settleMs
    const unseen = await arrivals.take(minAgeMs)
    if (unseen.length > 0 && (await deliver(unseen))) return true
    await arrivals.pause(lookMs, minAgeMs, signal)
  }
  return false
}
