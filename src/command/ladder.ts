import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import { type Agent, clockOf } from '../model/agent.ts'
import { asking, hasExpired, type MessageFacts, reachOf } from '../model/reach.ts'
import {
  classOf,
  escalation,
  type Receipt,
  type ReceiptChange,
  type ReceiptState,
  type ReceiptStep,
  stateNow,
} from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import { type Context, endsBy } from './context.ts'
import { fence, type OpenCopy } from './fence.ts'

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

/** What a step changes for an agent; nothing where it may not take it. */
export function changesFor(...args: Parameters<typeof changesOf>): ReceiptChange[] {
  try {
    return changesOf(...args)
  } catch (error) {
    if (error instanceof MailboxError) return []
    throw error
  }
}

export function changesOf(
  view: View,
  agent: Agent,
  message: MessageFacts,
  command: HandleCommand,
  context: Context,
): ReceiptChange[] {
  const { directory } = view
  const isShared = (role: string) => directory.hasOtherHolder(role, agent.name)
  const reach = reachOf(agent, message, view.receipts(message.seq), endsBy(context), isShared)
  switch (reach.kind) {
    case 'none':
      throw new MailboxError('not_permitted', `message ${message.id} is not addressed to ${agent.name}`, {
        hint: 'act as its recipient: --as NAME',
      })
    case 'taken':
      throw new MailboxError('conflict', `message ${message.id} is claimed by ${reach.by}`, {
        hint: 'take another, or wait: a claim that is not renewed expires',
      })
    case 'own':
      throw new MailboxError(
        'conflict',
        `${agent.name} has sent message ${message.id} to ${reach.role} itself`,
        {
          hint: 'another holder of the role takes it',
        },
      )
    case 'over':
      throw wrongState(message, reach.state, command.step)
    case 'reached': {
      mustBeFree(view, agent, message, command)
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

/** Work that comes after other work cannot be taken or begun before that is done. It can be read by whoever it is for. */
function mustBeFree(view: View, agent: Agent, message: MessageFacts, { step }: HandleCommand): void {
  if (message.asks !== asking.work || !['shown', 'claimed', 'processing'].includes(step)) return
  const isOwn = view.receipts(message.seq).some(({ owner }) => owner === agent.name)
  if (step === 'shown' && isOwn) return
  const [first] = view.blockers(message.seq)
  if (first === undefined) return
  throw new MailboxError('conflict', `message ${message.id} comes after ${first}, which is not done yet`, {
    hint: `see who has it: mailbox owed --kind task`,
  })
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
  if (takes && receipt.failures >= policy.maxAttempts) return 'refused'
  const renews = command.step === 'claimed' && isRole && !takes && rule.already.includes(from)
  if (rule.already.includes(from) && (gives || !takes) && !renews) return 'already'
  if (!rule.from.includes(from) && !renews) return 'refused'

  const box = gives ? receipt.owner : agent.name
  const triesAgain =
    (command.step === 'retried' && !isRole) || (command.step === 'processing' && from === 'failed')
  const failures = receipt.failures + (command.step === 'failed' ? 1 : 0)
  const isTooMany = command.step === 'failed' && failures >= policy.maxAttempts
  const state = isTooMany ? 'dead' : renews ? receipt.state : endState(rule, command)
  const fresh = takes || command.step === 'claimed' || receipt.claimUntil === null
  const usualMs = command.step === 'claimed' ? policy.claimTtlMs : policy.readClaimTtlMs
  const until = fresh ? now + (command.claimTtlMs ?? usualMs) : receipt.claimUntil!
  // A failure stays with its agent until it is retried; the claim is over.
  const isClaim = command.step === 'claimed' || receipt.claimUntil !== null || message.asks !== asking.nothing
  // What only wanted an ack is finished with that, and belongs to whoever gave it.
  const isFinished = message.asks === asking.ack && state === 'acked'
  // Work that was started lasts as long as the agent that does it is there.
  const isSteady = state === 'processing'
  const keepsClaim =
    isRole && !gives && classOf(state) === 'open' && state !== 'failed' && isClaim && !isSteady && !isFinished
  const { id, seq, rank } = message
  return {
    ...{ id, seq, rank, owner: receipt.owner, box },
    ...(box === receipt.box ? {} : { wasBox: receipt.box }),
    state,
    was: receipt.state,
    // Claiming it is an attempt; so is retrying mail that needs no claim.
    attempts: receipt.attempts + (takes || triesAgain ? 1 : 0),
    ...(failures > 0 ? { failures } : {}),
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
