import { isObject } from '../base/objects.ts'
import { systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { MessageType } from './conversation.ts'
import { type Fields, fieldsOf, sayValue } from './field.ts'
import { typeOf } from './registry.ts'

/** A value of a payload in words. */
export interface Fact {
  label: string
  text: string
}

/** What a message says to a reader, so that nobody has to read JSON. */
export interface Words {
  /** Empty where neither the sender nor the conversation has one. */
  subject: string
  body: string
  /** What the payload says and the body does not, in the words of the conversation. */
  facts: Fact[]
  /** Other values of a typed payload, in words that the sender chose. */
  others: Fact[]
  /** What is left of the payload and of the context; undefined when the words say everything. */
  payload: unknown
  context: Message['context']
}

type Said = Pick<Message, 'from' | 'to' | 'type' | 'subject' | 'body' | 'payload' | 'context'>

export function wordsOf(message: Said): Words {
  const type = typeOf(message.type)
  const subject = message.subject || titleOf(message)
  const body = message.body || (textOf(message, type) ?? '')
  return {
    ...{ subject, body, ...sayPayload(message, type, body) },
    context: contextBesides(message.context, body),
  }
}

/** The subject of a message, or what its conversation calls it; empty where there is neither. */
export const titleOf = ({ type, subject, payload }: Pick<Said, 'type' | 'subject' | 'payload'>): string =>
  subject || (typeOf(type)?.title?.(fieldsOf(payload)) ?? '')

const previewLength = 160

/** Markdown in one line, without its signs. */
export const withoutMarks = (text: string): string =>
  text
    .replace(/^\s*(?:#{1,6}|>|[-*]|\d+\.)\s+|\*\*|__|`+/gm, '')
    .replace(/\s+/g, ' ')
    .trim()

/** The beginning of what a message says. */
export function previewOf(message: Said): string {
  const text = message.body || (textOf(message, typeOf(message.type)) ?? '')
  return withoutMarks(text.slice(0, 4 * previewLength)).slice(0, previewLength)
}

/** The text of a message that has no body. Other systems put it into the payload. */
export function textOf(message: Pick<Said, 'from' | 'to' | 'payload' | 'context'>, type?: MessageType) {
  const { text } = fieldsOf(message.payload)
  return typeof text === 'string' && text !== '' ? text : type?.says?.(message)
}

/** Facts that follow one another under the same label, as one list. */
export function listsOf(facts: readonly Fact[]): { label: string; texts: string[] }[] {
  const lists: { label: string; texts: string[] }[] = []
  for (const { label, text } of facts) {
    const last = lists.at(-1)
    if (last?.label === label) last.texts.push(text)
    else lists.push({ label, texts: [text] })
  }
  return lists
}

const textField = { text: { kind: 'any', label: 'Text' } } as const satisfies Fields

function sayPayload(
  { from, payload }: Said,
  type: MessageType | undefined,
  body: string,
): Pick<Words, 'facts' | 'others' | 'payload'> {
  // The payload of a notice is for programs: its body says everything.
  if (from === systemAgent) return { facts: [], others: [], payload: undefined }
  if (!isObject(payload)) return { facts: [], others: [], payload }
  const known: Fields = { ...textField, ...type?.payload }
  const isTyped = (type?.payload ?? type?.says) !== undefined
  const facts: Fact[] = []
  const others: Fact[] = []
  const rest: [string, unknown][] = []
  for (const [name, value] of Object.entries<unknown>(payload)) {
    const field = Object.hasOwn(known, name) ? known[name]! : undefined
    if (field?.label !== undefined) facts.push(...sayAll(field.label, sayValue(field, value)))
    else if (isTyped && isPlain(value) && others.length < listedAtMost)
      others.push({ label: labelFor(name), text: [value].flat().map(String).join(', ') })
    else rest.push([name, value])
  }
  // What the body says already is not said again.
  const isNew = ({ text }: Fact) => !isSaidIn(body, text)
  return {
    ...{ facts: facts.filter(isNew), others: others.filter(isNew) },
    payload: rest.length === 0 ? undefined : Object.fromEntries(rest),
  }
}

/** How far it is looked for whether a body says something: both are the sender's, and may be made to take long. */
const searched = { chars: 10_000, places: 100, shortText: 200 }

/** Whether a body says a text: a short one anywhere but within a longer word, a long one as lines of its own. */
function isSaidIn(body: string, text: string): boolean {
  if (text === '') return true
  if (text.length > searched.shortText) return lineStarts(body).some((at) => body.startsWith(text, at))
  const [whole, part] = [body.slice(0, searched.chars).toLowerCase(), text.toLowerCase()]
  const isLetter = (letter = ' ') => /[\p{L}\p{N}]/u.test(letter)
  for (let at = whole.indexOf(part), n = 0; at >= 0 && n < searched.places; n++) {
    const isPart =
      (isLetter(part[0]) && isLetter(whole[at - 1])) ||
      (isLetter(part.at(-1)) && isLetter(whole[at + part.length]))
    if (!isPart) return true
    at = whole.indexOf(part, at + 1)
  }
  return false
}

function lineStarts(body: string): number[] {
  const starts = [0]
  for (
    let at = body.indexOf('\n');
    at >= 0 && starts.length < searched.places;
    at = body.indexOf('\n', at + 1)
  )
    starts.push(at + 1)
  return starts
}

const sayAll = (label: string, texts: readonly string[]): Fact[] => texts.map((text) => ({ label, text }))

/** Of values that nobody declared. A payload with more of them is data. */
const listedAtMost = 50

/** What can be read without knowing what it is: a text, a number, yes or no, or a list of these. */
const isPlain = (value: unknown): boolean => (Array.isArray(value) ? value.every(isScalar) : isScalar(value))
const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** `blockedBy` and `blocked_by` as "Blocked by". */
export function labelFor(name: string): string {
  const words = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|[\s_]+/g, ' ')
    .trim()
    .slice(0, 60)
  return `${words.charAt(0).toUpperCase()}${words.slice(1).toLowerCase()}`
}

/** A context without what the body says already under a label or in a list; undefined if nothing is left. */
function contextBesides(context: Message['context'], body: string): Message['context'] {
  if (context === undefined) return undefined
  const isSaid = (value: unknown) =>
    typeof value === 'string' && [`:** ${value}`, `- ${value}`].some((text) => body.includes(text))
  const left = Object.entries(context).filter(
    ([, value]) => !(Array.isArray(value) ? value.every(isSaid) : isSaid(value)),
  )
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** The files of a message, without those that a body made from its context has in its lists. */
export function filesBesides(message: Pick<Message, 'attachments' | 'context'>, body: string): string[] {
  if (message.context === undefined) return message.attachments
  const lines = new Set(body.split('\n'))
  return message.attachments.filter((path) => !lines.has(`- ${path}`))
}

/** A context as a list. */
export function contextLines(context: Record<string, unknown>): string[] {
  return Object.entries(context).flatMap(([key, value]) => {
    if (Array.isArray(value)) return [`- **${key}:**`, ...value.map((item) => `  - ${inline(item)}`)]
    return [`- **${key}:** ${inline(value)}`]
  })
}

const inline = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
