import { isObject } from '../base/objects.ts'
import type { Message } from '../model/message.ts'
import { sayValue } from './field.ts'
import { typeOf } from './registry.ts'

/** A value of a payload in words. */
export interface Fact {
  label: string
  text: string
}

/** The payload of a message in words, so that nobody has to read JSON, and what is left of it. */
export interface PayloadWords {
  facts: Fact[]
  /** Undefined when the words say everything. */
  rest: unknown
}

export function sayPayload({
  type,
  payload,
  body,
}: Pick<Message, 'type' | 'payload' | 'body'>): PayloadWords {
  const known = typeOf(type)?.payload
  if (known === undefined || !isObject(payload)) return { facts: [], rest: payload }
  const fields = Object.entries<unknown>(payload)
  const labelOf = (name: string) => (Object.hasOwn(known, name) ? known[name]!.label : undefined)
  const facts = fields.flatMap(([name, value]) => {
    const label = labelOf(name)
    return label === undefined ? [] : sayValue(known[name]!, value).map((text) => ({ label, text }))
  })
  const rest = fields.filter(([name]) => labelOf(name) === undefined)
  return {
    // What the body says already is not said again, and nothing is in every body.
    facts: facts.filter(({ text }) => !body.includes(text)),
    rest: rest.length === 0 ? undefined : Object.fromEntries(rest),
  }
}

/** The context of a message without what its body says already under a label or in a list; undefined if nothing is left. */
export function contextBesides({ context, body }: Pick<Message, 'context' | 'body'>): Message['context'] {
  if (context === undefined) return undefined
  const isSaid = (value: unknown) =>
    typeof value === 'string' && [`:** ${value}`, `- ${value}`].some((text) => body.includes(text))
  const left = Object.entries(context).filter(
    ([, value]) => !(Array.isArray(value) ? value.every(isSaid) : isSaid(value)),
  )
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
