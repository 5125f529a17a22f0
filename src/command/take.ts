import { MailboxError } from '../base/errors.ts'
import { quote } from '../base/json.ts'
import type { View } from '../conversation/view.ts'
import { type Draft, type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import { asking } from '../model/reach.ts'
import type { ReceiptChange } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import { type Context, endsBy } from './context.ts'
import { keepTimes, unchanged } from './due/letter-changes.ts'
import { decideHandle } from './handle.ts'
import { changesFor } from './ladder.ts'
import { requirePresent } from './roster.ts'

export interface ShowOptions {
  /** `notified`: the agent is only told that it has mail, which claims nothing. @default 'shown' */
  step?: 'shown' | 'notified'
  /** Takes one piece of work for a role at most, and none while one is in hand. @default false */
  oneTask?: boolean
}

/**
 * Shows an agent what it is about to read, claiming what is for its roles. Leaves out messages that another took
 * in the meantime; the rest is one entry.
 */
export function decideShow(
  view: View,
  agentName: string,
  ids: readonly string[],
  context: Context,
  { step = 'shown', oneTask = false }: ShowOptions = {},
): ReceiptDraft[] {
  const agent = requirePresent(view.directory, agentName)
  const changes: ReceiptChange[] = []
  let isBusy = oneTask && view.hasWork(agentName)
  for (const id of ids) {
    const message = view.message(id)
    if (message === undefined) continue
    const found = changesFor(view, agent, message, { agent: agentName, step, id }, context)
    // What also went to the agent itself is its own, and what it is shown again is in its hands.
    const isForRole = found.every(({ owner, wasBox }) => owner !== agentName && wasBox !== undefined)
    const isWork = message.asks === asking.work && found.length > 0 && isForRole
    if (isWork && isBusy) continue
    isBusy ||= oneTask && isWork
    changes.push(...found)
  }
  return receiptDrafts(step, agent.name, changes)
}

/** An agent that is at work keeps the work it has claimed, for as long as a claim lasts from now. */
export function decideKeep(view: View, agentName: string, { now, policy }: Context): Draft[] {
  const held = view
    .inBox(agentName, keptAtMost)
    .filter(({ owner, box, claimUntil, state }) => owner !== box && claimUntil !== null && state !== 'failed')
    .filter(({ id }) => view.message(id)?.asks === asking.work)
  const changes = held.map((letter) => ({
    ...unchanged(letter),
    ...keepTimes(letter),
    claimUntil: isoTime(Math.max(letter.claimUntil!, now + policy.readClaimTtlMs)),
  }))
  return receiptDrafts('extended', agentName, changes, 'at work')
}

const keptAtMost = 100

/** The next piece of work for a role: the oldest of the most urgent, to exactly one taker. */
export function decideClaimNext(
  view: View,
  agentName: string,
  role: string,
  ttlMs: number | undefined,
  context: Context,
): Draft[] {
  const agent = requirePresent(view.directory, agentName)
  if (!agent.roles.includes(role)) {
    const named = typeof role === 'string' ? role : quote(role)
    throw new MailboxError('not_permitted', `${agent.name} does not hold the role ${named}`, {
      hint: `take it with: mailbox --as ${agent.name} update --role ${named}`,
    })
  }
  const id = view.nextOfRole(role, endsBy(context), agent.name)
  if (id === undefined) return []
  return decideHandle(
    view,
    { agent: agentName, step: 'claimed', id, claimTtlMs: ttlMs, claimNumber: 0 },
    context,
  )
}
