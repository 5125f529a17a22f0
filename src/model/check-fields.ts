import { MailboxError } from '../base/errors.ts'
import { checkJsonValue, quote } from '../base/json.ts'
import { nearest } from '../base/nearest.ts'
import { isObject, onDemand } from '../base/objects.ts'
import { checkTag } from './address.ts'
import type { Kind } from './field.ts'
import { inputFields, type NamedField, optionName, storedFields } from './fields.ts'
import { messageIdPattern } from './id.ts'
import { messageLimits, priorities, toPriority } from './message.ts'
import { checkName } from './name.ts'
import { isTime } from './shape.ts'
import { isoTime, maxLifeMs, readFuture, readTime } from './time.ts'

/** Checks each field that a sender gave by itself, against its row in the table. What is no field is refused. */
export function checkFields(input: object): void {
  for (const name in input) {
    const value = (input as Record<string, unknown>)[name]
    if (value === undefined) continue
    const known = byName.get(name)
    if (known === undefined) throw unknownField(name)
    known.check(value, known.field)
  }
}

const spelling = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/** Fields by every name that people and other systems have for them. */
const byOtherName = onDemand(
  () =>
    new Map(
      inputFields.flatMap((field) =>
        [...(field.aka ?? []), optionName(field), field.name].map((name) => [spelling(name), field.name]),
      ),
    ),
)
const senderNames = ['from', 'fromAgent', 'fromAgentId', 'sender'].map(spelling)

/** The field that a name means which is none: `reply_to` is replyTo, `ttl_hours` is ttlMs. */
export const fieldMeant = (name: string): string | undefined =>
  byOtherName().get(spelling(name)) ??
  nearest(
    name,
    inputFields.map((field) => field.name),
  )[0]

function unknownField(name: string): MailboxError {
  const meant = fieldMeant(name)
  const hint = senderNames.includes(spelling(name))
    ? 'a mailbox sends as its own agent: open it with space.mailbox(NAME), or use --as NAME'
    : `${meant === undefined ? '' : `did you mean ${meant}? `}fields: ${inputFields.map((field) => field.name).join(', ')}`
  return new MailboxError('invalid', `a message has no field ${JSON.stringify(name)}`, { hint })
}

/** Checks a message as it is stored, wherever it comes from. */
export function checkStored(message: Record<string, unknown>): void {
  const unknown = Object.keys(message).find((name) => storedFields.every((field) => field.name !== name))
  if (unknown !== undefined)
    throw new MailboxError('invalid', `a message has no field ${quote(unknown)}`, {
      hint: `fields: ${storedFields.map(({ name }) => name).join(', ')}`,
    })
  for (const field of storedFields) {
    const value = message[field.name]
    // Mail to an agent that is expected, but has never joined, is for run 0.
    if (field.kind === 'whole' && value === 0) continue
    if (field.kind === 'time' && value !== undefined) checkStoredTime(value, field)
    // A sender may name one address; stored mail has a list of them.
    else if (field.kind === 'addresses') checkList(value, field)
    else if (value !== undefined) checks[field.kind](value, field)
    else if (field.stored === 'always') refuse(field, 'is missing')
  }
}

function checkStoredTime(value: unknown, field: NamedField): void {
  // Date.parse turns 31 February into 3 March.
  if (!isTime(value) || isoTime(Date.parse(value as string)) !== value)
    refuse(field, 'must be a time such as 2026-11-15T09:30:00.000Z')
}

type Check = (value: unknown, field: NamedField) => void

const checks: Record<Kind, Check> = {
  id(value, field) {
    if (typeof value !== 'string' || !messageIdPattern.test(value))
      refuse(field, `must be a UUID of version 7, not ${quote(value)}`)
  },
  word: checkWord,
  name: (value, { name }) => void checkName(value as string, name),
  text(value, field) {
    if (typeof value !== 'string') refuse(field, 'must be a string')
    if (value.length > (field.maxLength ?? Number.POSITIVE_INFINITY))
      refuse(field, `has ${value.length} characters`)
  },
  flag(value, field) {
    if (typeof value !== 'boolean') refuse(field, 'must be true or false')
  },
  priority(value, field) {
    if (toPriority(value) === undefined)
      refuse(field, `must be one of ${priorities.join(', ')}, not ${quote(value)}`)
  },
  time(value, field) {
    if (typeof value !== 'string' || readTime(value) === undefined)
      refuse(field, `must be a date, not ${quote(value)}`)
  },
  moment(value, field) {
    if (typeof value !== 'string' || readFuture(value, Date.now()) === undefined)
      refuse(field, `must be a time, not ${quote(value)}`)
  },
  whole(value, field) {
    if (!(Number.isSafeInteger(value) && (value as number) > 0))
      refuse(field, 'must be a whole number above 0')
  },
  duration(value, field) {
    const isLife = Number.isFinite(value) && (value as number) > 0 && (value as number) <= maxLifeMs
    if (value !== null && !isLife) refuse(field, 'must be above 0, at most 10 years')
  },
  json: (value, { name }) => checkJsonValue(value, name),
  object(value, field) {
    if (!isObject(value)) refuse(field, 'must be an object')
    checkJsonValue(value, field.name)
  },
  list: checkList,
  addresses: (value, field) => checkList(typeof value === 'string' ? [value].filter(Boolean) : value, field),
  reference(value, field) {
    if (typeof value !== 'boolean') checkWord(value, field)
  },
}

const byName = new Map<string, { field: NamedField; check: Check }>(
  inputFields.map((field) => [field.name, { field, check: checks[field.kind] }]),
)

/** Present, not too long, and nothing invisible in it. */
function checkWord(value: unknown, field: NamedField): void {
  const { maxLength = messageLimits.wordLength } = field
  const isShort = typeof value === 'string' && value.length > 0 && value.length <= maxLength
  if (!isShort || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(value))
    refuse(field, `must be 1 to ${maxLength} visible characters, not ${quote(value)}`)
  if (field.solid && /\s/u.test(value)) refuse(field, 'must not contain spaces')
}

function checkList(value: unknown, field: NamedField): void {
  const { maxItems, maxLength = messageLimits.wordLength, items } = field
  if (!Array.isArray(value)) refuse(field, 'must be a list of strings')
  if (maxItems !== undefined && value.length > maxItems)
    refuse(field, `has ${value.length} items; the limit is ${maxItems}`)
  for (const item of value) {
    if (typeof item !== 'string' || item === '' || item.length > maxLength || item.includes('\0'))
      refuse(field, `must hold strings of 1 to ${maxLength} characters without NUL, not ${quote(item)}`)
    if (items === 'tag') checkTag(item)
    if (items === 'name') checkName(item, `${field.name} item`)
  }
}

function refuse(
  { name, hint = '`mailbox send --help` describes the fields' }: NamedField,
  why: string,
): never {
  throw new MailboxError('invalid', `${name} ${why}`, { hint })
}
