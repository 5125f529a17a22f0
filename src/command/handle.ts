import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import { type Agent, clockOf } from '../model/agent.ts'
import { type Draft, type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import { hasExpired, type MessageFacts, reachOf } from '../model/reach.ts'
import {
  classOf,
  escalation,
  type Receipt,
  type ReceiptChange,
  type ReceiptState,
  type ReceiptStep,
  stateNow,
} from '../model/receipt.ts'
import { isoTime, maxLifeMs } from '../model/time.ts'
import { type Context, endsBy } from './context.ts'
import { fence, type OpenCopy } from './fence.ts'
import { bounces } from './notice.ts'
import { requirePresent } from './roster.ts'

export interface HandleCommand {
  agent: string
  step: HandleStep
  id: string
  note?: string | undefined
  /** A completed message is archived as well. @default true */
  archive?: boolean | undefined
  /** @default the space's claimTtlMs */
  claimTtlMs?: number | undefined
  /**
   * The newest claim on the message that the caller has made; 0: it has made none.
   * @default the newest of the agent, in whichever process it was made
   */
  claimNumber?: number | undefined
  /** Claims only if that claim is still the newest. @default false */
  renewsOnly?: boolean | undefined
}

const maxNoteLength = 10_000

interface Rule {
  /** States from which the step leads on. */
  from: readonly ReceiptState[]
  /** States in which there is nothing left to do: repeating a step is not an error. */
  already: readonly ReceiptState[]
  to: ReceiptState
}

const unseen = ['stored', 'notified'] as const
const active = [...unseen, 'shown', 'acked', 'processing'] as const
const later = ['acked', 'processing', 'completed', 'failed', 'archived'] as const

/** The ladder as a table. A step from a state in neither of its lists is refused. */
export const handleRules = {
  notified: { from: ['stored'], already: ['notified', 'shown', ...later], to: 'notified' },
  shown: { from: unseen, already: ['shown', ...later], to: 'shown' },
  claimed: { from: unseen, already: ['shown', 'acked', 'processing'], to: 'shown' },
  acked: { from: [...unseen, 'shown'], already: later, to: 'acked' },
  processing: { from: [...unseen, 'shown', 'acked', 'failed'], already: ['processing'], to: 'processing' },
  completed: { from: [...active, 'failed'], already: ['completed', 'archived'], to: 'completed' },
  failed: { from: active, already: ['failed'], to: 'failed' },
  released: { from: ['shown', 'acked', 'processing', 'failed'], already: unseen, to: 'stored' },
  retried: { from: ['failed'], already: unseen, to: 'stored' },
  archived: { from: [...active, 'completed', 'failed'], already: ['archived'], to: 'archived' },
} as const satisfies Partial<Record<ReceiptStep, Rule>>

/** What an agent can do with mail that reached it. */
export type HandleStep = keyof typeof handleRules

/** One agent does one thing with one message. Throws when it may not, or when another was first. */
export function decideHandle(view: View, command: HandleCommand, context: Context): Draft[] {
  checkHandle(command)
  const agent = requirePresent(view.directory, command.agent)
  const message = requireMessage(view, command.id)
  const changes = changesOf(view, agent, message, command, context)
  return [
    ...tellOfDeath(view, changes, command, context),
    ...receiptDrafts(command.step, agent.name, changes, command.note),
  ]
}

/** A failure or a release too many makes it a dead letter, and the sender is told. */
function tellOfDeath(
  view: View,
  changes: readonly ReceiptChange[],
  { agent, step, note }: HandleCommand,
  context: Context,
): Draft[] {
  const letters = changes.flatMap((change) => {
    const receipt = view.receipts(change.seq).find(({ owner }) => owner === change.owner)
    if (change.state !== 'dead' || receipt === undefined) return []
    const reason = `${step} by ${agent}${note === undefined ? '' : ` (${note})`}, and it was claimed ${context.policy.maxAttempts} times`
    return { letter: { ...receipt, id: change.id }, reason }
  })
  return bounces(view, letters, context)
}

function checkHandle({ note, claimTtlMs: ttlMs }: HandleCommand): void {
  if (note !== undefined && typeof note !== 'string') {
    throw new MailboxError('invalid', 'note must be a string', { hint: 'pass a string' })
  }
  if (note !== undefined && note.length > maxNoteLength) {
    const message = `the note has ${note.length} characters; the limit is ${maxNoteLength}`
    throw new MailboxError('over_limit', message, { hint: 'send a message instead' })
  }
  if (ttlMs !== undefined && !(Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= maxLifeMs)) {
    throw new MailboxError('invalid', `a claim cannot last ${ttlMs} ms`, {
      hint: 'pass a positive duration, such as 15m',
    })
  }
}

/**
 * Shows an agent what it is about to read, claiming what is for its roles; or records that it was told of it,
 * which claims nothing. Leaves out messages that another took in the meantime; the rest is one entry.
 */
export function decideShow(
  view: View,
  agentName: string,
  ids: readonly string[],
  context: Context,
  step: 'shown' | 'notified' = 'shown',
): ReceiptDraft[] {
  const agent = requirePresent(view.directory, agentName)
  const changes: ReceiptChange[] = []
  for (const id of ids) {
    const message = view.message(id)
    if (message === undefined) continue
    try {
      changes.push(...changesOf(view, agent, message, { agent: agentName, step, id }, context))
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
    }
  }
  return receiptDrafts(step, agent.name, changes)
}

/** The next piece of work for a role: the oldest of the most urgent, to exactly one taker. */
export function decideClaimNext(
  view: View,
  agentName: string,
  role: string,
  ttlMs: number | undefined,
  context: Context,
) {
  const agent = requirePresent(view.directory, agentName)
  if (!agent.roles.includes(role)) {
    throw new MailboxError('not_permitted', `${agent.name} does not hold the role ${role}`, {
      hint: `take it with: mailbox --as ${agent.name} update --role ${role}`,
    })
  }
  const id = view.nextOfRole(role, endsBy(context))
  if (id === undefined) return []
  return decideHandle(
    view,
    { agent: agentName, step: 'claimed', id, claimTtlMs: ttlMs, claimNumber: 0 },
    context,
  )
}

export function requireMessage(view: Pick<View, 'message'>, id: string): MessageFacts {
  const message = view.message(id)
  if (message !== undefined) return message
  throw new MailboxError('not_found', `no message ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}

function changesOf(
  view: View,
  agent: Agent,
  message: MessageFacts,
  command: HandleCommand,
  context: Context,
): ReceiptChange[] {
  const reach = reachOf(agent, message, view.receipts(message.seq), endsBy(context))
  switch (reach.kind) {
    case 'none':
      throw new MailboxError('not_permitted', `message ${message.id} is not addressed to ${agent.name}`, {
        hint: 'act as its recipient: --as NAME',
      })
    case 'taken':
      throw new MailboxError('conflict', `message ${message.id} is claimed by ${reach.by}`, {
        hint: 'take another, or wait: a claim that is not renewed expires',
      })
    case 'over':
      throw wrongState(message, reach.state, command.step)
    case 'reached': {
      const { open: known, refusal } = fence(view, agent, message, reach, command, context)
      if (refusal !== undefined && known.length === 0 && !reach.group) throw refusal
      const outcomes = known.map((receipt) => changeOf(receipt, agent, message, command, context))
      if (reach.group) outcomes.push(firstSight(agent, message, command, context))
      const changes = outcomes.filter((outcome) => typeof outcome === 'object')
      // Each copy moves as far as it can. Refused only when none can and none is there already.
      if (changes.length === 0 && !outcomes.includes('already')) {
        const [stuck] = known
        throw wrongState(message, stuck === undefined ? 'stored' : stateNow(stuck, context.now), command.step)
      }
      return changes
    }
  }
}

type Outcome = ReceiptChange | 'already' | 'refused'

/** Group mail gets its own receipt when an agent first touches it. */
function firstSight(agent: Agent, message: MessageFacts, command: HandleCommand, context: Context): Outcome {
  const rule: Rule = handleRules[command.step]
  if (rule.already.includes('stored')) return 'already'
  if (!rule.from.includes('stored')) return 'refused'
  const { id, seq, rank } = message
  const state = endState(rule, command)
  const own = { owner: agent.name, box: agent.name, viaGroup: true }
  return { id, seq, rank, ...own, state, ...ackBy(message, state, context) }
}

/**
 * Mail that wants an ack gets a time to have one by when it is shown, and the chain of those who are told
 * when it does not come starts again; but not for mail that all of them were told of already.
 */
function ackBy(
  { requiresAck }: MessageFacts,
  state: ReceiptState,
  { now, policy }: Context,
  receipt?: Receipt,
): { ackBy?: string; level?: number } {
  const isGivenUp = receipt !== undefined && receipt.repeats > 0 && receipt.level === escalation.person
  if (!requiresAck || state !== 'shown' || policy.ackTimeoutMs === 0 || isGivenUp) return {}
  const wasTold = receipt?.level === escalation.lead || receipt?.level === escalation.person
  const isFirst = wasTold && receipt.repeats === 0
  return { ackBy: isoTime(now + policy.ackTimeoutMs), ...(isFirst ? { level: escalation.none } : {}) }
}

const sameAckBy = ({ ackBy: by }: Receipt): { ackBy?: string } => (by === null ? {} : { ackBy: isoTime(by) })

function changeOf(
  receipt: OpenCopy,
  agent: Agent,
  message: MessageFacts,
  command: HandleCommand,
  context: Context,
): Outcome {
  const { now, policy } = context
  const rule: Rule = handleRules[command.step]
  const gives = command.step === 'released' || command.step === 'retried'
  const isRole = receipt.owner !== agent.name
  const takes = receipt.box !== agent.name || receipt.isAnew === true
  // Being told of work is not taking it.
  if (takes && command.step === 'notified') return 'refused'
  // What an earlier claimant did with it does not count for the next.
  const from = takes && classOf(receipt.state) === 'open' ? 'stored' : receipt.state
  if (classOf(from) === 'unread' && hasExpired(receipt, clockOf(agent, endsBy(context)))) return 'refused'
  // It is about to become a dead letter.
  if (takes && receipt.attempts >= policy.maxAttempts) return 'refused'
  const renews = command.step === 'claimed' && isRole && !takes && rule.already.includes(from)
  if (rule.already.includes(from) && (gives || !takes) && !renews) return 'already'
  if (!rule.from.includes(from) && !renews) return 'refused'

  const box = gives ? receipt.owner : agent.name
  const triesAgain =
    (command.step === 'retried' && !isRole) || (command.step === 'processing' && from === 'failed')
  const tries = receipt.attempts + (isRole && !takes ? 0 : 1)
  const isTooMany =
    (command.step === 'failed' || (command.step === 'released' && isRole)) && tries >= policy.maxAttempts
  const state = isTooMany ? 'dead' : renews ? receipt.state : endState(rule, command)
  const fresh = takes || command.step === 'claimed' || receipt.claimUntil === null
  const until = fresh ? now + (command.claimTtlMs ?? policy.claimTtlMs) : receipt.claimUntil!
  // A failure stays with its agent until it is retried; the claim is over.
  const keepsClaim = isRole && !gives && classOf(state) === 'open' && state !== 'failed'
  const { id, seq, rank } = message
  return {
    ...{ id, seq, rank, owner: receipt.owner, box },
    ...(box === receipt.box ? {} : { wasBox: receipt.box }),
    state,
    was: receipt.state,
    // Claiming it is an attempt; so is retrying mail that needs no claim.
    attempts: isTooMany ? tries : receipt.attempts + (takes || triesAgain ? 1 : 0),
    ...(keepsClaim ? { claimUntil: isoTime(until) } : {}),
    ...(receipt.repeats > 0 ? { repeats: receipt.repeats } : {}),
    ...(receipt.viaGroup ? { viaGroup: true } : {}),
    ...(renews ? sameAckBy(receipt) : ackBy(message, state, context, receipt)),
  }
}

const endState = (rule: Rule, command: HandleCommand): ReceiptState =>
  rule.to === 'completed' && command.archive !== false ? 'archived' : rule.to

function wrongState(message: MessageFacts, state: ReceiptState, step: HandleStep): MailboxError {
  return new MailboxError('conflict', `message ${message.id} is ${state}; it cannot become ${step}`, {
    hint: `see how it got there: mailbox show ${message.id}`,
  })
}
