import {
  decideClaimNext,
  decideHandle,
  decideShow,
  type HandleCommand,
  type HandleStep,
} from '../../command/handle.ts'
import type { Claim } from '../../model/claim.ts'
import { checkId } from '../../model/id.ts'
import { isoTime } from '../../model/time.ts'
import { receiptsOf } from '../../query/message.ts'
import type { Claimed, Handled } from './api.ts'
import { type Holder, lookIn, messageOf, standingOf } from './looking.ts'

export async function handle(
  holder: Holder,
  step: HandleStep,
  id: string,
  options: Omit<HandleCommand, 'agent' | 'step' | 'id'> = {},
): Promise<Handled> {
  checkId(id)
  const { core, name: agent } = holder
  await core.record('index', (view, context) => decideHandle(view, { ...options, agent, step, id }, context))
  const { message, state, isMine } = await standingOf(holder, id)
  return { message, state: isMine ? state : 'stored' }
}

export async function claim(holder: Holder, id: string, claimTtlMs?: number): Promise<Claimed> {
  await touch(holder)
  const handled = await handle(holder, 'claimed', id, { claimTtlMs })
  return { ...handled, claim: await claimOf(holder, handled.message) }
}

export async function claimNext(holder: Holder, role: string, ttlMs?: number): Promise<Claimed | null> {
  const { core, name } = holder
  await touch(holder)
  const placed = await core.record('index', (view, context) =>
    decideClaimNext(view, name, role, ttlMs, context),
  )
  const id = placed.flatMap(({ entry }) => (entry.kind === 'receipt' ? entry.changes : []))[0]?.id
  if (id === undefined) return null
  const message = await messageOf(core, id)
  return { message, state: 'shown', claim: await claimOf(holder, message) }
}

export const touch = (holder: Holder): Promise<void> => lookIn(holder, () => undefined)

export async function notified({ core, name }: Holder, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await core.record('index', (view, context) => decideShow(view, name, ids, context, 'notified'))
}

async function claimOf({ core, name: agent }: Holder, { id, seq }: Handled['message']): Promise<Claim> {
  const receipts = await core.query((source) => receiptsOf(source, seq))
  const held = receipts.find(({ box }) => box === agent)
  const until = isoTime(held?.claimUntil ?? core.now() + core.settings.claimTtlMs)
  return { messageId: id, agent, until, attempt: Math.max(1, held?.attempts ?? 1) }
}
