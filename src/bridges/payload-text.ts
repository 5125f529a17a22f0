import { given, isObject } from '../base/objects.ts'
import type { Letter } from './format.ts'
import { stringsIn } from './letters.ts'

/** What formats that have only a bag of values keep in it, under these names. */
const ownNames = ['subject', 'text', 'context', 'attachments', 'tags', 'payload']

type Said = Pick<Letter, 'subject' | 'body' | 'payload' | 'context' | 'attachments' | 'tags'>

/** A message as a bag of values: its text, and whatever else it has. */
export function toBag(letter: Said): Record<string, unknown> {
  const { subject, body, context, attachments = [], tags = [], payload } = letter
  const own = given({
    subject: subject || undefined,
    text: body || undefined,
    context,
    attachments: attachments.length > 0 ? attachments : undefined,
    tags: tags.length > 0 ? tags : undefined,
  })
  if (payload === undefined) return own
  const isPlain = isObject(payload) && Object.keys(payload).every((name) => !ownNames.includes(name))
  return isPlain && Object.keys(payload as object).length > 0
    ? { ...own, ...(payload as object) }
    : { ...own, payload }
}

/** The other way round. What has another shape than ours is left in the payload. */
export function fromBag(bag: Record<string, unknown>): Said {
  const rest = { ...bag }
  const take = <T>(name: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = rest[name]
    if (!Object.hasOwn(rest, name) || !fits(value)) return undefined
    delete rest[name]
    return value
  }
  const subject = take('subject', isFilled)
  const body = take('text', isFilled)
  const context = take('context', isObject)
  const attachments = take('attachments', isStrings)
  const tags = take('tags', isStrings)
  const names = Object.keys(rest)
  const payload =
    names.length === 0 ? undefined : names.length === 1 && names[0] === 'payload' ? rest['payload'] : rest
  return given({ subject, body, context, attachments, tags, payload })
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && stringsIn(value).length === value.length
