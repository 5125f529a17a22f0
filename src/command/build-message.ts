import { type Address, defaultLife, writeAddress } from '../model/address.ts'
import type { Message } from '../model/message.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'
import type { SendCommand } from './send.ts'

/**
 * What every message has comes in one literal and the rest behind it. This runs for every message, and
 * objects put together from pieces take several times as long.
 */
export function buildMessage(
  command: SendCommand,
  addresses: readonly Address[],
  { now, newId }: Context,
): Message {
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
