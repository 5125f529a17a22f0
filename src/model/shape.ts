import { isObject } from '../base/objects.ts'
import { agentStates } from './agent.ts'
import {
  agentChanges,
  auditEvents,
  type Draft,
  type Gist,
  keyChanges,
  readableFormats,
  segmentReasons,
  shareChanges,
} from './entry.ts'
import type { Kind } from './field.ts'
import { storedFields } from './fields.ts'
import { priorities } from './message.ts'
import { receiptStates, receiptSteps } from './receipt.ts'

/**
 * Whether a value read from the journal has the shape that folding relies on. Its checksum proves that it is what was
 * written, and writes are checked; this guards against forged lines. Everything that schemas.ts accepts passes here.
 */
export function isDraft(value: Fields): value is Draft & Fields {
  if (!isOptional(value['originalAt'], isTime)) return false
  switch (value['kind']) {
    case 'message':
    case 'scheduled':
      return (
        isOptional(value['scheduledAt'], isTime) &&
        isMessage(value['message']) &&
        isOptional(value['exclude'], isStrings) &&
        isOptional(value['signature'], isString)
      )
    case 'unscheduled':
      return ['id', 'by'].every((name) => isString(value[name])) && isOptional(value['note'], isString)
    case 'receipt':
      return (
        oneOf(receiptSteps, value['step']) &&
        isString(value['by']) &&
        isChanges(value['changes']) &&
        isOptional(value['sealed'], isString)
      )
    case 'agent':
      return oneOf(agentChanges, value['change']) && isAgent(value['agent'])
    case 'segment':
      return isReadable(value['format']) && isString(value['space']) && oneOf(segmentReasons, value['reason'])
    case 'torn':
      return isInt(value['offset']) && isInt(value['bytes']) && isString(value['digest'])
    case 'damage':
      return damageNumbers.every((name) => isInt(value[name])) && isOptional(value['kept'], isString)
    case 'repair':
      return isRepair(value)
    case 'key':
      return (
        oneOf(keyChanges, value['change']) &&
        isString(value['agent']) &&
        isString(value['by']) &&
        isString(value['signature']) &&
        isOptional(value['key'], isString)
      )
    case 'share':
      return (
        oneOf(shareChanges, value['change']) &&
        ['by', 'key', 'signature'].every((name) => isString(value[name])) &&
        isObject(value['for']) &&
        Object.values(value['for']).every(isString) &&
        isOptional(value['space'], isString)
      )
    case 'audit':
      return (
        oneOf(auditEvents, value['event']) && isString(value['by']) && isOptional(value['about'], isString)
      )
    default:
      return false
  }
}

const isRepair = ({ files, lost }: Fields): boolean =>
  isListOf(
    files,
    (file) => repairNumbers.every((name) => isInt(file[name])) && isOptional(file['kept'], isString),
  ) && isListOf(lost, ({ from, to }) => isInt(from) && isInt(to))
const repairNumbers = ['segment', 'reformatted', 'corrected', 'restored']
const isListOf = (value: unknown, check: (item: Fields) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && check(item))

const damageNumbers = ['from', 'to', 'segment', 'offset', 'bytes']

/** Whether it is the beginning of a message, as far as {@link Gist} goes. */
export function isGist(value: unknown): value is Gist {
  if (!isObject(value) || value['kind'] !== 'message' || !isObject(value['message'])) return false
  const { id, from, to, type, priority } = value['message']
  const isAddressed = isString(id) && isString(from) && isStrings(to)
  const isKnown = isString(type) && oneOf(priorities, priority)
  return isInt(value['seq']) && isString(value['at']) && isAddressed && isKnown
}

type Fields = Record<string, unknown>
type Check = (value: unknown) => boolean

const isString: Check = (value) => typeof value === 'string'
const isInt: Check = (value) => Number.isSafeInteger(value)
function isStrings(value: unknown): boolean {
  if (!Array.isArray(value)) return false
  for (const item of value) if (typeof item !== 'string') return false
  return true
}
const isOptional = (value: unknown, check: Check) => value === undefined || check(value)
// Every text that matches is a date; Date.parse takes several times as long.
const time = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
export const isTime: Check = (value) => typeof value === 'string' && time.test(value)
const isReadable: Check = (format) => readableFormats.includes(format as 1)
const oneOf = (known: readonly string[], value: unknown) => known.includes(value as string)

/** What a field holds once it is stored, where it is not text. */
const stored: Partial<Record<Kind, Check>> = {
  flag: (value) => typeof value === 'boolean',
  priority: (value) => oneOf(priorities, value),
  time: isTime,
  whole: isInt,
  duration: isInt,
  json: () => true,
  object: isObject,
  list: isStrings,
  addresses: isStrings,
}
/** All of the same form, which makes reading them several times as fast. */
const messageFields = new Map(
  storedFields.map(({ name, kind, stored: always }) => [
    name as string,
    { name, check: stored[kind], isAlways: always === 'always' },
  ]),
)
const alwaysCount = storedFields.filter((field) => field.stored === 'always').length
/** The fields of the last message in their order: those of the next one nearly always come in the same. */
const lastOrder: NonNullable<ReturnType<typeof messageFields.get>>[] = []

/** Goes by the fields that are there: asking for the others as well takes twice the time. */
function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false
  let missing = alwaysCount
  let at = 0
  for (const name in value) {
    let field = lastOrder[at]
    if (field?.name !== name) {
      field = messageFields.get(name)
      if (field === undefined) continue
      lastOrder[at] = field
    }
    at++
    const held = value[name]
    if (field.isAlways) missing--
    else if (held === undefined) continue
    if (field.check === undefined ? typeof held !== 'string' : !field.check(held)) return false
  }
  return missing === 0
}

const isChanges: Check = (value) => Array.isArray(value) && value.every(isChange)

function isChange(value: unknown): boolean {
  return (
    isObject(value) &&
    isString(value['id']) &&
    isInt(value['seq']) &&
    isInt(value['rank']) &&
    isString(value['owner']) &&
    isString(value['box']) &&
    isOptional(value['wasBox'], isString) &&
    oneOf(receiptStates, value['state']) &&
    (value['was'] === undefined || oneOf(receiptStates, value['was'])) &&
    isOptional(value['attempts'], isInt) &&
    isOptional(value['failures'], isInt) &&
    isOptional(value['claimUntil'], isTime) &&
    isOptional(value['ackBy'], isTime) &&
    isOptional(value['repeats'], isInt) &&
    isOptional(value['level'], isInt) &&
    isOptional(value['expiresAt'], isTime) &&
    isOptional(value['claim'], isInt)
  )
}

function isAgent(value: unknown): boolean {
  return (
    isObject(value) &&
    isString(value['name']) &&
    oneOf(agentStates, value['state']) &&
    isStrings(value['roles']) &&
    isStrings(value['tags']) &&
    isObject(value['session']) &&
    isInt(value['session']['generation']) &&
    isTime(value['lastSeenAt'])
  )
}
