import { MailboxError } from '../errors.ts'
import { type Address, checkTag, defaultLife, writeAddress } from '../model/address.ts'
import type { MessageDraft } from '../model/entry.ts'
import { checkJsonValue } from '../model/json.ts'
import { type Message, messageLimits, messageSchema, type Priority } from '../model/message.ts'
import { checkName } from '../model/name.ts'
import { isoTime, maxLifeMs } from '../model/time.ts'
import type { Context, DirectoryView } from './context.ts'
import { resolveAddresses } from './resolve.ts'

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
}

export interface SendCommand extends SendInput {
  from: string
  /** The message that `replyTo` names, looked up before: it never changes. */
  parent?: { id: string; threadId: string } | undefined
}

export interface SendDecision {
  drafts: MessageDraft[]
  message: Message
  warnings: string[]
}

/** Checks what does not depend on the state, so that a bad message never waits for the lock. */
export function checkSend(input: SendInput, maxBytes: number): void {
  const { type = 'text', payload, context, tags = [], exclude = [], ttlMs } = input
  if (toList(input.to).length === 0) invalid('the message has no recipient', 'name at least one address')
  if (type.length === 0 || type.length > 100 || /[\p{Cc}\s]/u.test(type)) {
    invalid(`${JSON.stringify(type.slice(0, 40))} is not a type`, 'use a word such as text, request or help_request')
  }
  if (payload !== undefined) checkJsonValue(payload, 'payload')
  if (context !== undefined) checkJsonValue(context, 'context')
  for (const tag of tags) checkTag(tag)
  for (const name of exclude) checkName(name, 'excluded agent')
  if (ttlMs != null && !(Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= maxLifeMs)) {
    invalid(`a life of ${ttlMs} ms makes no sense`, 'give a positive duration of at most ten years')
  }
  checkSize(input, maxBytes)
}

const toList = (to: SendInput['to']): readonly string[] => (typeof to === 'string' ? [to] : to)

function checkSize({ body = '', payload, context }: SendInput, maxBytes: number): void {
  const jsonBytes = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
  const size = Buffer.byteLength(body) + jsonBytes(payload) + jsonBytes(context)
  if (size > maxBytes) {
    throw new MailboxError('over_limit', `the message has ${size} bytes; ${maxBytes} are the limit (limits.messageBytes)`, {
      hint: 'write the content to a file and attach its path',
    })
  }
}

/** Decides on one message: who gets it, how long it lives, which thread it belongs to. */
export function decideSend(view: DirectoryView, command: SendCommand, context: Context): SendDecision {
  const { directory } = view
  const { addresses, warnings } = resolveAddresses(directory, toList(command.to), command.hold ?? false)
  const message = buildMessage(command, addresses, context)
  if (command.body !== undefined && countWords(command.body) > messageLimits.bodyWordsBeforeHint) {
    warnings.push(`the body has over ${messageLimits.bodyWordsBeforeHint} words: mail is not a document, attach a file`)
  }
  const parsed = messageSchema.safeParse(message)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    invalid(`${issue?.path.join('.') || 'the message'}: ${issue?.message}`, 'see the limits in docs/journal-format.md')
  }
  const { exclude = [] } = command
  const draft: MessageDraft = { kind: 'message', message, ...(exclude.length > 0 ? { exclude: [...exclude] } : {}) }
  return { drafts: [draft], message, warnings }
}

function buildMessage(command: SendCommand, addresses: readonly Address[], { now, newId }: Context): Message {
  const id = newId()
  const life = command.ttlMs === undefined ? defaultLife(addresses) : command.ttlMs
  const optional = {
    replyTo: command.parent?.id,
    expiresAt: life === null ? undefined : isoTime(now + life),
    swarm: command.swarm,
    key: command.key,
    traceparent: command.traceparent,
  }
  // Small things first and the body last, so that a line can be understood from its beginning.
  return {
    id,
    from: command.from,
    to: [...new Set(addresses.map(writeAddress))],
    type: command.type ?? 'text',
    priority: command.priority ?? 'normal',
    createdAt: isoTime(now),
    threadId: command.threadId ?? command.parent?.threadId ?? id,
    ...dropUndefined(optional),
    requiresAck: command.requiresAck ?? false,
    awaitingResponse: command.awaitingResponse ?? false,
    tags: [...new Set(command.tags ?? [])],
    attachments: [...(command.attachments ?? [])],
    subject: command.subject ?? '',
    ...dropUndefined({ payload: command.payload, context: command.context }),
    body: command.body ?? '',
  } as Message
}

function dropUndefined(values: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const key in values) if (values[key] !== undefined) kept[key] = values[key]
  return kept
}

/** Counts only as far as it matters: a body may be a megabyte. */
function countWords(text: string): number {
  let words = 0
  for (const _ of text.matchAll(/\S+/g)) if (++words > messageLimits.bodyWordsBeforeHint) break
  return words
}

function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}
