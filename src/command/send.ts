import { MailboxError } from '../base/errors.ts'
import { checkJsonValue } from '../base/json.ts'
import { type Address, checkTag, defaultLife, writeAddress } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import type { Draft, MessageDraft } from '../model/entry.ts'
import { type Message, messageLimits, type Priority, priorities } from '../model/message.ts'
import { checkName } from '../model/name.ts'
import { forbidden } from '../model/rules.ts'
import { isoTime, maxLifeMs } from '../model/time.ts'
import type { Context, View } from './context.ts'
import { checkTalk, guardLoop, isTalk } from './converse.ts'
import { resolveAddresses } from './resolve.ts'
import { requireAgent } from './roster.ts'

/** What a sender says; everything but `to` has a default. */
export interface SendInput {
  /** Addresses: `ada`, `role:architect`, `project:x`, `all`, or several of them. */
  to: string | readonly string[]
  /** @default '' */
  subject?: string
  /** Markdown. @default '' */
  body?: string
  /** @default 'text' */
  type?: string
  /** @default 'normal' */
  priority?: Priority
  /** Any JSON. */
  payload?: unknown
  /** Structured context of a handoff. */
  context?: Record<string, unknown>
  replyTo?: string
  threadId?: string
  /** How long the mail lives. `null`: for ever. @default by kind of address: agent and tag 24 h, all 4 h, role for ever */
  ttlMs?: number | null
  requiresAck?: boolean
  awaitingResponse?: boolean
  attachments?: readonly string[]
  tags?: readonly string[]
  swarm?: string
  /** A second send with the same key returns the first message. */
  key?: string
  traceparent?: string
  /** Agents that a group address would reach and that shall not get it. */
  exclude?: readonly string[]
  /** Keep the mail for agents that have yet to join. */
  hold?: boolean
  /**
   * Only for this run of the agent. Requests to shut down and answers to plans are for the run that is there
   * when they are sent, unless this says otherwise.
   */
  generation?: number
  /** An earlier message of yours in the same thread that this one replaces if nobody has seen it; `true`: the last. */
  supersede?: string | boolean
}

export interface SendCommand {
  from: string
  input: SendInput
  /** The message that `replyTo` names, looked up before: it never changes. */
  parent: { id: string; threadId: string } | undefined
}

export interface SendDecision {
  drafts: Draft[]
  message: Message
  warnings: string[]
}

/** Checks what does not depend on the state, so that a bad message never waits for the lock. */
export function checkSend(input: SendInput, maxBytes: number): void {
  if (input === null || typeof input !== 'object')
    invalid('there is nothing to send', 'pass { to, subject, body }')
  if (input.to === undefined) invalid('the message has no recipient', 'name at least one address')
  const { type = 'text', priority = 'normal', subject = '', body = '', payload, context, ttlMs } = input
  const { tags = [], attachments = [], exclude = [] } = input
  const to = toList(input.to)
  checkList(to, 'to', messageLimits.recipients, messageLimits.wordLength)
  if (to.length === 0) invalid('the message has no recipient', 'name at least one address')
  checkWord('type', type)
  checkWord('replyTo', input.replyTo)
  checkWord('threadId', input.threadId)
  checkWord('key', input.key)
  checkWord('traceparent', input.traceparent)
  if (/\s/u.test(type)) invalid('a type has no spaces', 'use a word such as text, request or help_request')
  if (!priorities.includes(priority))
    invalid(`there is no priority ${JSON.stringify(priority)}`, `use ${priorities.join(', ')}`)
  if (typeof subject !== 'string' || subject.length > messageLimits.subjectLength) {
    invalid(
      'the subject is too long',
      `${messageLimits.subjectLength} characters are the limit; the rest belongs into the body`,
    )
  }
  if (typeof body !== 'string') invalid('the body is not a string', 'put structured data into the payload')
  if (payload !== undefined) checkJsonValue(payload, 'payload')
  if (context !== undefined) {
    if (context === null || typeof context !== 'object' || Array.isArray(context)) {
      invalid('the context is not an object', 'pass an object of named values')
    }
    checkJsonValue(context, 'context')
  }
  checkFlag('requiresAck', input.requiresAck)
  checkFlag('awaitingResponse', input.awaitingResponse)
  if (typeof input.supersede !== 'boolean') checkWord('supersede', input.supersede)
  if (input.generation !== undefined && !(Number.isSafeInteger(input.generation) && input.generation > 0)) {
    invalid('a generation is a whole number above 0', 'see `mailbox agents`')
  }
  checkList(tags, 'tags', messageLimits.tags, messageLimits.wordLength)
  for (const tag of tags) checkTag(tag)
  checkList(attachments, 'attachments', messageLimits.attachments, messageLimits.pathLength)
  checkList(exclude, 'exclude', messageLimits.recipients, messageLimits.wordLength)
  for (const name of exclude) checkName(name, 'excluded agent')
  if (input.swarm !== undefined) checkName(input.swarm, 'swarm')
  if (ttlMs != null && !(Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= maxLifeMs)) {
    invalid(`a life of ${ttlMs} ms makes no sense`, 'give a positive duration of at most ten years')
  }
  checkSize(body, payload, context, maxBytes)
}

/** Short strings that people and programs look at: present, not too long, nothing invisible in them. */
function checkWord(field: string, word: string | undefined): void {
  if (word === undefined) return
  const short = typeof word === 'string' && word.length > 0 && word.length <= messageLimits.wordLength
  if (!short || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(word)) {
    invalid(
      `${field} cannot be ${JSON.stringify(word).slice(0, 60)}`,
      `1 to ${messageLimits.wordLength} visible characters`,
    )
  }
}

function checkFlag(field: string, flag: boolean | undefined): void {
  if (flag !== undefined && typeof flag !== 'boolean')
    invalid(`${field} is not true or false`, 'pass a boolean')
}

function checkList(list: readonly unknown[], field: string, most: number, length: number): void {
  if (!Array.isArray(list) || list.length > most)
    invalid(`${field} has too many items`, `${most} are the limit`)
  for (const item of list) {
    if (typeof item !== 'string' || item === '' || item.length > length || item.includes('\0')) {
      invalid(
        `${field} cannot hold ${JSON.stringify(item)?.slice(0, 60)}`,
        `strings of 1 to ${length} characters without NUL`,
      )
    }
  }
}

const toList = (to: SendInput['to']): readonly string[] => (typeof to === 'string' ? [to] : to)

function checkSize(body: string, payload: unknown, context: unknown, maxBytes: number): void {
  const jsonBytes = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
  const size = Buffer.byteLength(body) + jsonBytes(payload) + jsonBytes(context)
  if (size > maxBytes) {
    throw new MailboxError(
      'over_limit',
      `the message has ${size} bytes; ${maxBytes} are the limit (limits.messageBytes)`,
      {
        hint: 'write the content to a file and attach its path',
      },
    )
  }
}

/** Decides on one message: whether it may be sent, who gets it, how long it lives, which thread it belongs to. */
export function decideSend(view: View, command: SendCommand, context: Context): SendDecision {
  const { directory } = view
  const { body = '', exclude = [], hold = false, to } = command.input
  const { addresses, warnings } = resolveAddresses(directory, toList(to), hold)
  checkRules(directory, command.from, addresses, context)
  checkLimits(directory, command.from, addresses, warnings, context)
  const message = buildMessage(command, addresses, context)
  const generation = generationOf(directory, command.input, message.type, addresses)
  if (generation !== undefined) message.generation = generation
  const notices = isTalk(message) ? talk(view, message, context) : []
  if (countWords(body) > messageLimits.bodyWordsBeforeHint) {
    warnings.push(
      `the body has over ${messageLimits.bodyWordsBeforeHint} words: mail is not a document, attach a file`,
    )
  }
  const draft: MessageDraft = { kind: 'message', message }
  if (exclude.length > 0) draft.exclude = [...exclude]
  return { drafts: [draft, ...notices], message, warnings }
}

function talk(view: View, message: Message, context: Context): Draft[] {
  checkTalk(view, message)
  return guardLoop(view, message, context)
}

/**
 * What every message has comes in one literal and the rest behind it. This runs for every message, and
 * objects put together from pieces take several times as long.
 */
function buildMessage(command: SendCommand, addresses: readonly Address[], { now, newId }: Context): Message {
  const { from, input, parent } = command
  const id = newId()
  const life = input.ttlMs === undefined ? defaultLife(addresses) : input.ttlMs
  const message: Message = {
    id,
    from,
    to: addresses.length === 1 ? [writeAddress(addresses[0]!)] : [...new Set(addresses.map(writeAddress))],
    type: input.type ?? 'text',
    priority: input.priority ?? 'normal',
    createdAt: isoTime(now),
    threadId: input.threadId ?? parent?.threadId ?? id,
    requiresAck: input.requiresAck ?? false,
    awaitingResponse: input.awaitingResponse ?? false,
    tags: input.tags === undefined ? [] : [...new Set(input.tags)],
    attachments: input.attachments === undefined ? [] : [...input.attachments],
    subject: input.subject ?? '',
    body: input.body ?? '',
  }
  if (life !== null) message.expiresAt = isoTime(now + life)
  if (parent !== undefined) message.replyTo = parent.id
  if (input.swarm !== undefined) message.swarm = input.swarm
  if (input.key !== undefined) message.key = input.key
  if (input.traceparent !== undefined) message.traceparent = input.traceparent
  if (input.payload !== undefined) message.payload = input.payload as Exclude<Message['payload'], undefined>
  if (input.context !== undefined) message.context = input.context as Exclude<Message['context'], undefined>
  return message
}

/** Counts only as far as it matters: a body may be a megabyte. */
function countWords(text: string): number {
  // So many words need a character and a gap each.
  if (text.length < 2 * messageLimits.bodyWordsBeforeHint) return 0
  let words = 0
  for (const _ of text.matchAll(/\S+/g)) if (++words > messageLimits.bodyWordsBeforeHint) break
  return words
}

/** Mail of these types is about one run of an agent and must not hit the next. */
const boundTypes = ['shutdown_request', 'plan_approval']

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
    if (
      boundTypes.includes(type) &&
      (addresses.length > 1 || (address?.kind !== 'agent' && address?.kind !== undefined))
    )
      invalid(`a ${type} is for one run of one agent`, 'send one to each agent')
    return boundTypes.includes(type) ? agent?.session.generation : undefined
  }
  if (agent === undefined) invalid('only mail to one agent can be for one run of it', 'name one agent')
  const { name, session } = agent
  if (generation === session.generation) return generation
  throw new MailboxError('conflict', `${name} is generation ${session.generation}, not ${generation}`, {
    hint: generation < session.generation ? 'that run is over' : 'see `mailbox agents`',
  })
}

function checkRules(
  directory: Directory,
  from: string,
  addresses: readonly Address[],
  { policy }: Context,
): void {
  if (policy.rules === 'open' || from === systemAgent) return
  const sender = requireAgent(directory, from)
  for (const address of addresses) {
    const rule = forbidden(policy.rules, policy.leads, directory, sender, address)
    if (rule === undefined) continue
    throw new MailboxError('not_permitted', `${from} may not write to ${writeAddress(address)} (${rule})`, {
      hint:
        policy.rules === 'hub'
          ? `write to ${policy.leads.map((role) => `role:${role}`).join(', ')} or user`
          : 'see the rules: mailbox config get rules',
    })
  }
}

/** From here on a sender is told how full the box is it writes to. */
const fullishBox = 50

/** Exact, because whoever decides has the only right to append. What the system has to say is never refused. */
function checkLimits(
  directory: Directory,
  from: string,
  addresses: readonly Address[],
  warnings: string[],
  { now, policy }: Context,
): void {
  if (from === systemAgent) return
  const { 'limits.ratePerMinute': rate, 'limits.inbox': inbox } = policy
  if (rate > 0 && directory.sentLately(from, now) >= rate) {
    throw new MailboxError(
      'over_limit',
      `${from} has sent ${rate} messages within a minute (limits.ratePerMinute)`,
      {
        hint: 'wait a little, or put several things into one message; mailbox config set limits.ratePerMinute N',
      },
    )
  }
  for (const address of addresses) {
    if (address.kind !== 'agent' && address.kind !== 'role') continue
    const box = writeAddress(address)
    const waiting = directory.unhandled(box)
    if (inbox > 0 && waiting >= inbox) {
      throw new MailboxError('over_limit', `${box} has ${waiting} messages to handle (limits.inbox)`, {
        hint: 'wait until some are done, or write to somebody else; mailbox config set limits.inbox N',
      })
    }
    if (waiting >= fullishBox) warnings.push(`${box} has ${waiting} messages to handle before this one`)
  }
}

function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}
