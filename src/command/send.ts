import { MailboxError } from '../base/errors.ts'
import { typeOf } from '../conversation/registry.ts'
import type { View } from '../conversation/view.ts'
import { type Address, writeAddress } from '../model/address.ts'
import { person, systemAgent } from '../model/agent.ts'
import { offersMail } from '../model/assign.ts'
import type { Directory } from '../model/directory.ts'
import type { Draft, MessageDraft } from '../model/entry.ts'
import type { SendInput } from '../model/fields.ts'
import { type Message, messageLimits } from '../model/message.ts'
import type { Origin } from '../model/origin.ts'
import type { Routed } from '../model/routes.ts'
import { forbidden } from '../model/rules.ts'
import type { Settings } from '../model/settings.ts'
import { offerOf } from './assign.ts'
import { buildMessage } from './build-message.ts'
import { invalid, recipientsOf } from './check-send.ts'
import type { Context, Decision } from './context.ts'
import { isTalk } from './conversation-check.ts'
import { changes, followUp } from './follow-up.ts'
import { requireMessage } from './handle.ts'
import { resolveAddresses } from './resolve.ts'
import { requireAgent, requirePresent } from './roster.ts'
import { findRoute, reroute } from './route.ts'
import { scheduled, timeOf } from './schedule.ts'
import { decideSupersede } from './withdraw.ts'

export interface SendCommand {
  from: string
  /** The id that its sender has chosen. @default a new one */
  id?: string | undefined
  input: SendInput
  /** The message that `replyTo` names, looked up in advance because messages never change. */
  parent: { id: string; threadId: string } | undefined
  /** Where a bridge brings it from. */
  origin?: Origin | undefined
  /** No routing rule applies: somebody has chosen the recipients after it could not be delivered. @default false */
  asAddressed?: boolean
  /**
   * Whether a box that is full is full for this sender, which takes the index to tell. Otherwise it counts as full for
   * everybody. @default false
   */
  countsShares?: boolean
}

/** The result for the sender. */
export interface Sent {
  /** With its seq if it had been sent before. */
  message: Message & { seq?: number; scheduled?: true }
  /** What the sender should know although the message was accepted. */
  warnings: string[]
}

/** Whether deciding on a send requires other messages; otherwise the directory is enough. */
export const looksAtMessages = (input: SendInput, policy: Settings): boolean =>
  input.key !== undefined ||
  input.at !== undefined ||
  Boolean(input.supersede) ||
  isTalk(input) ||
  typeOf(input.type ?? '')?.reports !== undefined ||
  offersMail(policy['roles.assign'])

/**
 * Decides on one message: whether it may be sent, who gets it, how long it lives, which thread it belongs to,
 * and which earlier message it replaces.
 */
export function decideSend(view: View, command: SendCommand, context: Context): Decision<Sent> {
  const { directory } = view
  const { from, input } = command
  if (from !== systemAgent) requirePresent(directory, from)
  const earlier = input.key === undefined ? undefined : sentWithKey(view, from, input.key)
  if (earlier !== undefined)
    return { drafts: [], result: { message: earlier, warnings: ['already sent with this key'] } }
  const time = input.at === undefined ? context.now : timeOf(input.at, context.now)
  const resolved = resolveAddresses(directory, recipientsOf(input), input.hold ?? false)
  const written = buildMessage(command, resolved.addresses, { ...context, now: time })
  const route = command.asAddressed ? undefined : findRoute(directory, written, input, resolved, context)
  const { addresses, warnings } = route ?? resolved
  checkRules(directory, from, addresses, context, route?.routed)
  checkLimits(view, command, addresses, warnings, context)
  const message = route === undefined ? written : reroute(command, written, route, context)
  if (input.at === undefined) Object.assign(message, offerOf(view, message, addresses, context))
  const generation = generationOf(directory, input, message.type, addresses)
  if (generation !== undefined) message.generation = generation
  const draft: MessageDraft = { kind: 'message', message }
  if (input.encrypt) draft.encrypt = mustBeNamed(addresses)
  if (input.exclude !== undefined && input.exclude.length > 0) draft.exclude = [...input.exclude]
  const { drafts: settled, isAwaited } = followUp(view, message, context)
  // It lives until it is read.
  if (isAwaited && input.ttlMs === undefined && input.expiresAt === undefined) delete message.expiresAt
  if (isLong(message.body))
    warnings.push(`the body has over ${bodyWordsBeforeHint} words; attach a file instead of long text`)
  // What it does is decided when it is sent.
  if (input.at !== undefined)
    return { drafts: [scheduled(draft)], result: { message: { ...message, scheduled: true }, warnings } }
  const drafts: Draft[] = [draft, ...settled]
  if (input.supersede) {
    const isSettled = (seq: number) => changes(drafts, seq)
    const superseded = decideSupersede(view, from, message, input.supersede, isSettled)
    drafts.push(...superseded.drafts)
    warnings.push(...superseded.warnings)
  }
  return { drafts, result: { message, warnings } }
}

function sentWithKey(view: View, from: string, key: string): Sent['message'] | undefined {
  const id = view.keyed(from, key)
  if (id === undefined) return undefined
  const waiting = view.scheduled(id)
  return waiting === undefined
    ? view.text(requireMessage(view, id).seq)
    : { seq: waiting.entry.seq, ...waiting.entry.message, scheduled: true }
}

/** A key is encrypted for agents; who will hold a role or join a group is not known yet. */
function mustBeNamed(addresses: readonly Address[]): true {
  const other = addresses.find(({ kind }) => kind !== 'agent')
  if (other === undefined) return true
  return invalid(
    `${writeAddress(other)} is not an agent, and an encrypted message is for agents by name`,
    'name each agent; without encryption: encrypt: false',
  )
}

const { bodyWordsBeforeHint } = messageLimits

/** Stops counting words at the limit, because a body can be a megabyte. */
function isLong(text: string): boolean {
  // Each word needs at least one character and a space.
  if (text.length < 2 * bodyWordsBeforeHint) return false
  let words = 0
  for (const _ of text.matchAll(/\S+/g)) if (++words > bodyWordsBeforeHint) return true
  return false
}

function generationOf(
  directory: Directory,
  { generation }: SendInput,
  type: string,
  addresses: readonly Address[],
): number | undefined {
  const [address] = addresses
  const agent =
    addresses.length === 1 && address?.kind === 'agent' ? directory.agents.get(address.name) : undefined
  if (generation === undefined) {
    if (!typeOf(type)?.isBound) return undefined
    if (addresses.length > 1 || (address !== undefined && address.kind !== 'agent'))
      invalid(`a ${type} must be addressed to one agent`, 'send one to each agent')
    return agent?.session.generation
  }
  if (agent === undefined) invalid('generation requires a single agent as recipient', 'address one agent')
  const { name, session } = agent
  if (generation === session.generation) return generation
  throw new MailboxError('conflict', `${name} is at generation ${session.generation}, not ${generation}`, {
    hint: generation < session.generation ? 'that run has ended' : 'see `mailbox agents`',
  })
}

function checkRules(
  directory: Directory,
  from: string,
  addresses: readonly Address[],
  { policy }: Context,
  routed?: Routed,
): void {
  if (policy.rules === 'open' || from === systemAgent) return
  const sender = requireAgent(directory, from)
  for (const address of addresses) {
    const rule = forbidden(policy.rules, policy.leads, directory, sender, address)
    if (rule === undefined) continue
    const how = routed === undefined ? '' : `; rule ${routed.rule} of the routes sends it there`
    const message = `${from} may not write to ${writeAddress(address)} (${rule})${how}`
    throw new MailboxError('not_permitted', message, {
      hint:
        policy.rules === 'hub'
          ? `write to ${policy.leads.map((role) => `role:${role}`).join(', ')} or user`
          : 'see the rules: mailbox config get rules',
    })
  }
}

/** From this many messages on, senders are warned how full a box is. */
const fullishBox = 50

/** Exact, because a decision holds the exclusive right to append. The person and the system are never rejected. */
function checkLimits(
  view: View,
  { from, countsShares = false }: SendCommand,
  addresses: readonly Address[],
  warnings: string[],
  { now, policy }: Context,
): void {
  if (from === systemAgent || from === person) return
  const { directory } = view
  const { 'limits.ratePerMinute': rate, 'limits.inbox': inbox } = policy
  if (rate > 0 && directory.sentLately(from, now) >= rate) {
    const message = `${from} has sent ${rate} messages in the last minute (limits.ratePerMinute)`
    throw new MailboxError('over_limit', message, {
      hint: 'wait a moment, combine messages, or raise the limit: mailbox config set limits.ratePerMinute N',
    })
  }
  for (const address of addresses) {
    if (address.kind !== 'agent' && address.kind !== 'role') continue
    const box = writeAddress(address)
    const waiting = directory.unhandled(box)
    // Whoever floods a box fills it for itself, not for others.
    const own = inbox > 0 && waiting >= inbox ? (countsShares ? view.waitingFrom(box, from) : waiting) : 0
    if (own > 0 && own >= inbox) {
      throw new MailboxError(
        'over_limit',
        `${box} has ${own} unfinished messages from ${from} (limits.inbox)`,
        {
          hint: 'wait until some are done, write to someone else, or raise the limit: mailbox config set limits.inbox N',
        },
      )
    }
    if (waiting >= fullishBox) warnings.push(`${box} already has ${waiting} unfinished messages`)
  }
}
