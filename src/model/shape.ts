import { agentStates } from './agent.ts'
import { agentChanges, type Draft, type Gist, segmentReasons } from './entry.ts'
import { priorities } from './message.ts'
import { receiptStates, receiptSteps } from './receipt.ts'

/**
 * Whether something read from the journal has the shape that folding it relies on. Its checksum says that
 * it is what was written, and what was written was checked; this keeps a forged line from doing harm.
 * Everything that schemas.ts accepts passes here.
 */
export function isDraft(value: Fields): value is Draft & Fields {
  switch (value['kind']) {
    case 'message':
      return isMessage(value['message']) && isOptional(value['exclude'], isStrings)
    case 'receipt':
      return oneOf(receiptSteps, value['step']) && isString(value['by']) && isChanges(value['changes'])
    case 'agent':
      return oneOf(agentChanges, value['change']) && isAgent(value['agent'])
    case 'segment':
      return value['format'] === 1 && isString(value['space']) && oneOf(segmentReasons, value['reason'])
    case 'torn':
      return isInt(value['offset']) && isInt(value['bytes']) && isString(value['digest'])
    default:
      return false
  }
}

/** Whether it is the beginning of a message, as far as {@link Gist} goes. */
export function isGist(value: unknown): value is Gist {
  if (!isObject(value) || value['kind'] !== 'message' || !isObject(value['message'])) return false
  const { id, from, to, type, priority } = value['message']
  return (
    isInt(value['seq']) &&
    isString(value['at']) &&
    isString(id) &&
    isString(from) &&
    isStrings(to) &&
    isString(type) &&
    oneOf(priorities, priority)
  )
}

type Fields = Record<string, unknown>
type Check = (value: unknown) => boolean

const isString: Check = (value) => typeof value === 'string'
const isInt: Check = (value) => Number.isSafeInteger(value)
const isStrings: Check = (value) => Array.isArray(value) && value.every(isString)
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isOptional = (value: unknown, check: Check) => value === undefined || check(value)
// Every text that matches is a date; asking Date.parse instead takes several times as long.
const time = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const isTime: Check = (value) => typeof value === 'string' && time.test(value)
const oneOf = (known: readonly string[], value: unknown) => known.includes(value as string)

function isMessage(value: unknown): boolean {
  return (
    isObject(value) &&
    isString(value['id']) &&
    isString(value['from']) &&
    isStrings(value['to']) &&
    isString(value['type']) &&
    oneOf(priorities, value['priority']) &&
    isTime(value['createdAt']) &&
    isString(value['threadId']) &&
    isOptional(value['expiresAt'], isTime) &&
    isOptional(value['key'], isString) &&
    isOptional(value['generation'], isInt) &&
    isStrings(value['tags']) &&
    isStrings(value['attachments']) &&
    isString(value['subject']) &&
    isString(value['body'])
  )
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
    isOptional(value['claimUntil'], isTime) &&
    isOptional(value['ackBy'], isTime) &&
    isOptional(value['repeats'], isInt) &&
    isOptional(value['level'], isInt) &&
    isOptional(value['expiresAt'], isTime)
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
