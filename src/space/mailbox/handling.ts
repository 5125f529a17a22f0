import {
  decideClaimNext,
  decideHandle,
  decideShow,
  type HandleCommand,
  type HandleStep,
} from '../../command/handle.ts'
import type { Claim } from '../../model/claim.ts'
import { checkId } from '../../model/id.ts'
import { receiptsOf } from '../../query/message.ts'
import type { SpaceCore } from '../core.ts'
import type { Claimed, Handled } from './api.ts'
import { lookIn, messageOf, queryAs, standingOf } from './looking.ts'

export async function handle(
  core: SpaceCore,
  agent: string,
  step: HandleStep,
  id: string,
  options: Partial<Pick<HandleCommand, 'note' | 'archive' | 'claimTtlMs'>> = {},
): Promise<Handled> {
  checkId(id)
  const claimTtlMs = options.claimTtlMs ?? core.settings.claimTtlMs
  await core.decide('index', (view, context) => ({
    drafts: decideHandle(view, { ...options, agent, step, id, claimTtlMs }, context),
    result: undefined,
  }))
  return queryAs(core, agent, (source, self) => {
    const { message, state, isMine } = standingOf(core, source, self, id)
    return { message, state: isMine ? state : 'stored' }
  })
}

export async function claim(
  core: SpaceCore,
  agent: string,
  id: string,
  options: { ttlMs?: number },
): Promise<Claimed> {
  await touch(core, agent)
  const handled = await handle(core, agent, 'claimed', id, { claimTtlMs: options.ttlMs })
  return { ...handled, claim: await claimOf(core, agent, handled.message) }
}

export async function claimNext(
  core: SpaceCore,
  agent: string,
  role: string,
  options: { ttlMs?: number },
): Promise<Claimed | null> {
  const ttlMs = options.ttlMs ?? core.settings.claimTtlMs
  await touch(core, agent)
  const { result: id } = await core.decide('index', (view, context) => {
    const drafts = decideClaimNext(view, agent, role, ttlMs, context)
    const claimed = drafts.find((draft) => draft.kind === 'receipt')
    return { drafts, result: claimed?.changes[0]?.id }
  })
  if (id === undefined) return null
  const message = await messageOf(core, id)
  return { message, state: 'shown', claim: await claimOf(core, agent, message) }
}

export const touch = (core: SpaceCore, agent: string): Promise<void> => lookIn(core, agent, () => undefined)

export async function notified(core: SpaceCore, agent: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await core.decide('index', (view, context) => ({
    drafts: decideShow(view, agent, ids, context, 'notified'),
    result: undefined,
  }))
}

async function claimOf(core: SpaceCore, agent: string, { id, seq }: Handled['message']): Promise<Claim> {
  const receipts = await core.query((source) => receiptsOf(source, seq))
  const held = receipts.find(({ box }) => box === agent)
  const until = held?.claimUntil ?? core.now() + core.settings.claimTtlMs
  return {
    messageId: id,
    agent,
    until: new Date(until).toISOString(),
    attempt: Math.max(1, held?.attempts ?? 1),
  }
}
