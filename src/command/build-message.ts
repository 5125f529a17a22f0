import { type Address, defaultLife, tagLabel, writeAddress } from '../model/address.ts'
import { fields, inputFields, type SendInput } from '../model/fields.ts'
import { type Message, toPriority } from '../model/message.ts'
import { isoTime, maxLifeMs, parseTime } from '../model/time.ts'
import { invalid } from './check-send.ts'
import type { Context } from './context.ts'
import type { SendCommand } from './send.ts'

/** The optional fields that are stored as they were given, each with a bit of its own. */
const copied = inputFields
  .filter(({ stored, decided }) => stored === 'optional' && !decided)
  .map(({ name }, at) => ({ name: name as keyof SendInput & keyof Message, bit: 1 << at }))
const bitOf = new Map<string, number>(copied.map(({ name, bit }) => [name, bit]))

/**
 * What every message has comes in one literal and the rest behind it. This runs for every message, and
 * objects put together from pieces take several times as long.
 */
export function buildMessage(
  command: SendCommand,
  addresses: readonly Address[],
  { now, newId }: Context,
): Message {
  const { from, input, parent, id = newId() } = command
  const message: Message = {
    id,
    from,
    to: addresses.length === 1 ? [writeAddress(addresses[0]!)] : [...new Set(addresses.map(writeAddress))],
    type: input.type ?? fields.type.default,
    priority: toPriority(input.priority) ?? fields.priority.default,
    createdAt: isoTime(now),
    threadId: input.threadId ?? parent?.threadId ?? id,
    requiresAck: input.requiresAck ?? false,
    awaitingResponse: input.awaitingResponse ?? false,
    tags: input.tags === undefined ? [] : [...new Set(input.tags.map(tagLabel))],
    attachments: input.attachments === undefined ? [] : [...input.attachments],
    subject: input.subject ?? '',
    body: input.body ?? '',
  }
  const expiresAt = expiryOf(input, addresses, now)
  if (expiresAt !== null) message.expiresAt = isoTime(expiresAt)
  if (parent !== undefined) message.replyTo = parent.id
  copyOptional(input, message)
  if (command.origin !== undefined) message.bridge = { ...command.origin }
  return message
}

/** When a message expires unread, in ms; `null` for one that never does. */
function expiryOf(
  { ttlMs, expiresAt }: SendInput,
  addresses: readonly Address[],
  now: number,
): number | null {
  if (expiresAt === undefined) {
    const life = ttlMs === undefined ? defaultLife(addresses) : ttlMs
    return life === null ? null : now + life
  }
  const at = parseTime(expiresAt)
  if (at <= now || at - now > maxLifeMs)
    invalid(
      `expiresAt must be in the future, at most 10 years from now, not ${expiresAt}`,
      fields.expiresAt.hint,
    )
  return at
}

/** In the order of the table, whatever order they were given in; asking for what is not there takes time. */
function copyOptional(input: SendInput, message: Message): void {
  let present = 0
  for (const name in input) present |= bitOf.get(name) ?? 0
  if (present === 0) return
  for (const { name, bit } of copied)
    if (present & bit && input[name] !== undefined) message[name] = input[name] as never
}
