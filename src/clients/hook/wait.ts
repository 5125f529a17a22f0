import { setTimeout as sleep } from 'node:timers/promises'
import { processState } from '../../base/process.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import { Arrivals } from './arrivals.ts'
import { readHookState, setWaiter, waiterOf } from './hook-state.ts'
import { ownToken } from './process.ts'
import type { HookContext } from './respond.ts'

/** How often to check whether the agent is still idle and its client still running. */
const lookMs = 500
/** For this long mail is left to others: to a hook of a turn that is just ending, or to the MCP server. */
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
  for (;;) {
    await sleep(lookMs, undefined, { signal })
    if (waiterOf(context) !== token || processState(context.process) === 'gone') return false
    if (readHookState(context).works !== works) return false
    const unseen = await arrivals.take(graceMs)
    if (unseen.length > 0 && (await deliver(unseen))) return true
  }
}
