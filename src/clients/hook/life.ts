import type { HookEvent } from './dialect.ts'
import { readHookState, updateHookState } from './hook-state.ts'
import { isRunning, tokenOf } from './process.ts'
import type { HookContext } from './respond.ts'

/** What a run was shown this long before its last sign of life may never have reached its model. */
const lastMomentsMs = 10_000

const runOf = ({ process: owner }: HookContext): string => tokenOf(owner)

/** Records that the agent is at work, or will be in a moment, and in which process. */
export function noteWork(context: HookContext, { moment }: Pick<HookEvent, 'moment'>): void {
  const at = context.space.now()
  const isNewTurn = moment === 'start' || readHookState(context).turnSince === 0
  updateHookState(context, { run: runOf(context), at, ...(isNewTurn ? { turnSince: at } : {}) })
}

/** Its turn is over. */
export const noteIdle = (context: HookContext): void => updateHookState(context, { turnSince: 0 })

/**
 * Since when the last run of this agent may not have dealt with its mail, in ms: since its unfinished turn began, and
 * in its last moments anyway. Undefined if it was not killed: one that ends in order leaves no state behind.
 */
export function whenKilled(context: HookContext): number | undefined {
  const { run, at, turnSince } = readHookState(context)
  if (run === '' || run === runOf(context)) return undefined
  if (isRunning(run)) return undefined
  return Math.min(at - lastMomentsMs, turnSince || at)
}
