import { MailboxError } from '../base/errors.ts'
import { checkJsonValue } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { checkTag } from './address.ts'
import type { Kind } from './field.ts'
import { inputFields, type NamedField } from './fields.ts'
import { messageLimits, priorities } from './message.ts'
import { checkName } from './name.ts'
import { isTime } from './shape.ts'
import { maxLifeMs } from './time.ts'

const byName = new Map<string, { field: NamedField; check: Check }>(
  inputFields.map((field) => [field.name, { field, check: (...given) => checks[field.kind](...given) }]),
)

/** Checks each field that a sender gave by itself, against its row in the table. */
export function checkFields(input: object): void {
  for (const name in input) {
    const known = byName.get(name)
    if (known === undefined) continue
    const value = (input as Record<string, unknown>)[name]
    if (value !== undefined) known.check(value, known.field)
  }
}

/** Refuses, by its name, what is not a field that a sender can give. */
export function checkFieldNames(input: object): void {
  const unknown = Object.keys(input).find((name) => inputFields.every((field) => field.name !== name))
  if (unknown === undefined) return
  throw new MailboxError('invalid', `a message has no field ${JSON.stringify(unknown)}`, {
    hint: `fields: ${inputFields.map(({ name }) => name).join(', ')}`,
  })
}

type Check = (value: unknown, field: NamedField) => void

const checks: Record<Kind, Check> = {
  id: checkWord,
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
    if (!priorities.includes(value as never))
      refuse(field, `must be one of ${priorities.join(', ')}, not ${quote(value)}`)
  },
  time(value, field) {
    if (!isTime(value)) refuse(field, 'must be a time such as 2026-11-15T09:30:00.000Z')
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
  addresses: (value, field) => checkList(typeof value === 'string' ? [value] : value, field),
  reference(value, field) {
    if (typeof value !== 'boolean') checkWord(value, field)
  },
}

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

const quote = (value: unknown): string => `${JSON.stringify(value)}`.slice(0, 60)

function refuse(
  { name, hint = '`mailbox send --help` describes the fields' }: NamedField,
  why: string,
): never {
  throw new MailboxError('invalid', `${name} ${why}`, { hint })
}
