import { given } from '../../base/objects.ts'
import { decideHandle } from '../../command/handle.ts'
import type { HandleCommand, HandleStep } from '../../command/ladder.ts'
import { decideClaimNext, decideShow } from '../../command/take.ts'
import type { Decided } from '../../journal/journal.ts'
import type { Claim } from '../../model/claim.ts'
import { checkId } from '../../model/id.ts'
import type { ReceiptChange } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import { newestClaim, type StoredMessage } from '../../query/message.ts'
import type { Claimed, ClaimOptions, Handled } from './api.ts'
import { checkedOptions } from './arguments.ts'
import { bePresent, type Holder, lookIn, messageOf, standingOf } from './looking.ts'

type Options = Omit<HandleCommand, 'agent' | 'step' | 'id'>

export async function handle(
  holder: Holder,
  step: HandleStep,
  id: string,
  options?: Options,
): Promise<Handled> {
  const given = checkedOptions(options)
  const act = (known: number | undefined) => ({ ...given, claimNumber: given.claimNumber ?? known })
  return (await handleWith(holder, step, id, act)).handled
}

/** Takes a step with the newest claim that this mailbox knows of, as the caller wants it to count. */
async function handleWith(
  holder: Holder,
  step: HandleStep,
  id: string,
  options: (known: number | undefined) => Options,
): Promise<{ handled: Handled; change: ReceiptChange | undefined }> {
  checkId(id)
  const { core, name: agent, claims, inTime } = holder
  await bePresent(holder)
  const decided = await core.decide('index', (view, context) => {
    inTime?.(view)
    const whole = view.message(id)?.id ?? id
    const command = { ...options(claims?.get(whole)), agent, step, id: whole }
    return { drafts: decideHandle(view, command, context), result: view.directory.seq }
  })
  const { message, state, isMine, claimNumber } = await standingOf(holder, id, lastSeq(decided))
  if (claimNumber !== undefined) {
    // What is finished stays so, and nobody claims it again.
    if (step === 'completed' || step === 'archived') claims?.delete(message.id)
    else claims?.set(message.id, claimNumber)
  }
  const isDone = decided.placed.some(({ entry }) => entry.kind === 'receipt' && entry.by === agent)
  const more = { ...given({ claimNumber }), ...(isDone ? {} : { already: true as const }) }
  return {
    handled: { message, state: isMine ? state : 'stored', ...more },
    change: changeOf(decided, agent),
  }
}

/** How far the journal went when a decision was carried out: what came later was not part of it. */
export const lastSeq = ({ result, placed }: Decided<number>): number => placed.at(-1)?.entry.seq ?? result

/** What a decision changed of mail to a role. */
const changeOf = ({ placed }: Pick<Decided<unknown>, 'placed'>, agent: string): ReceiptChange | undefined =>
  placed
    .flatMap(({ entry }) => (entry.kind === 'receipt' && entry.by === agent ? entry.changes : []))
    .find(({ owner, box }) => owner !== box)

export async function claim(holder: Holder, id: string, options?: ClaimOptions): Promise<Claimed> {
  const { ttlMs: claimTtlMs, claimNumber: given } = checkedOptions(options)
  await touch(holder)
  const { handled, change } = await handleWith(holder, 'claimed', id, (known) => {
    if (given !== undefined) return { claimTtlMs, claimNumber: given, renewsOnly: given > 0 }
    // A mailbox that remembers its claims does not share one that was made elsewhere under its name.
    return { claimTtlMs, claimNumber: holder.claims === undefined ? undefined : (known ?? 0) }
  })
  const { claimNumber, already: _, ...rest } = handled
  return { ...rest, claim: claimOf(holder, handled.message, change, claimNumber) }
}

export async function claimNext(holder: Holder, role: string, ttlMs?: number): Promise<Claimed | null> {
  const { core, name } = holder
  await touch(holder)
  const decided = await core.decide('index', (view, context) => ({
    drafts: decideClaimNext(view, name, role, ttlMs, context),
    result: view.directory.seq,
  }))
  const change = changeOf(decided, name)
  if (change === undefined) return null
  const number = await core.query((source) => newestClaim(source, name, change.seq, lastSeq(decided)))
  if (number !== undefined) holder.claims?.set(change.id, number)
  const message = await messageOf(core, change.id)
  return { message, state: 'shown', claim: claimOf(holder, message, change, number) }
}

export const touch = (holder: Holder): Promise<void> => lookIn(holder, () => undefined)

export async function notified({ core, name }: Holder, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await core.record('index', (view, context) => decideShow(view, name, ids, context, { step: 'notified' }))
}

/** The claim as the decision made or renewed it. Mail to the agent itself needs none, and has the number 0. */
function claimOf(
  { core, name: agent }: Holder,
  { id }: StoredMessage,
  change: ReceiptChange | undefined,
  number = 0,
): Claim {
  const until = change?.claimUntil ?? isoTime(core.now() + core.settings.claimTtlMs)
  return { messageId: id, agent, until, attempt: Math.max(1, change?.attempts ?? 1), number }
}
