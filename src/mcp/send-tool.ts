import * as z from 'zod'
import { say } from '../agent/say.ts'
import { checkInput } from '../api/check-input.ts'
import { given, isObject } from '../base/objects.ts'
import type { Field } from '../conversation/field.ts'
import { handoff as handoffs } from '../conversation/handoff.ts'
import { allActions, knownTypes, type NamedAction, typeOf } from '../conversation/registry.ts'
import { toSchema } from '../conversation/schema.ts'
import { typeNamed } from '../conversation/type-names.ts'
import type { Kind } from '../model/field.ts'
import { inputFields, optionName, type SendInput } from '../model/fields.ts'
import { priorities, toPriority } from '../model/message.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

/** Limits are left to the mailbox: a model reads the refusal when it needs it, and pays for a schema every turn. */
const schemas: Partial<Record<Kind, () => z.ZodType>> = {
  addresses: () => addressesSchema,
  flag: () => z.boolean(),
  priority: () => prioritySchema,
  whole: () => z.number(),
  duration: () => z.number().nullable(),
  json: () => anyObject,
  object: () => anyObject,
  list: () => z.array(z.string()),
}

/** Passed on as it is: a schema of its keys would leave out `__proto__` in silence, which the mailbox refuses. */
const anyObject = z.unknown().refine(isObject, 'must be an object').meta({ type: 'object' })

/** Described by its words, which are shorter than both; numbers are taken too. */
export const prioritySchema = z.preprocess((given) => toPriority(given) ?? given, z.enum(priorities))

/** Several in one word, because some clients cannot offer a field that is a text or a list. Lists are taken too. */
const addressesSchema = z.preprocess((given) => (Array.isArray(given) ? given.join(',') : given), z.string())

const addressesOf = (words: string): string | string[] =>
  words.includes(',') ? words.split(',').map((word) => word.trim()) : words

const toolFields = inputFields.filter(({ mcp }) => mcp !== undefined)

/** Types that a model may send to ask for something; programs send the others. */
const asking = knownTypes.filter((type) => {
  const { opens, payload, isComposed, conversation } = typeOf(type)!
  return opens !== undefined && payload !== undefined && (isComposed || conversation.verb !== undefined)
})
export const sendTypes = asking.join(', ')

const openingAction = (type: string): NamedAction | undefined =>
  allActions().find((one) => one.type === typeNamed(type) && one.input['id'] === undefined)

/** What a type cannot do without, after its name. The rest is in the refusal of what it does not take. */
const payloadHelp = asking.flatMap((type) => {
  const own = Object.entries<Field>(openingAction(type)?.input ?? {}).filter(
    ([name, { required }]) => required && inputFields.every((field) => field.name !== name),
  )
  const names = own.map(([name, { fields }]) =>
    fields === undefined ? name : `${name} [{${Object.keys(fields).join(', ')}}]`,
  )
  return names.length === 0 ? [] : [`${type}: ${names.join(', ')}`]
})

const messageShape = Object.fromEntries(
  toolFields.map((field) => {
    const schema = (schemas[field.kind] ?? z.string)().exactOptional()
    const about = field.name === 'payload' ? payloadHelp.join('; ') : field.mcp
    return [optionName(field), about ? schema.describe(about) : schema]
  }),
)

const handoff = z.object({ workCompleted: z.string(), nextSteps: z.array(z.string()).exactOptional() })

/** Describes what models use most; every other field of a message is taken as well, and checked by the mailbox. */
export const sendSchema = z.looseObject({ ...messageShape, handoff: handoff.exactOptional() })

/** Sends what the tool was given: a handoff, a reply, or a message. */
export async function sendFrom(
  mailbox: Mailbox,
  asked: { handoff?: z.output<typeof handoff> } & Record<string, unknown>,
): Promise<SentMessage> {
  const message: Partial<SendInput> = Object.fromEntries(
    inputFields
      .map((field) => [field.name, asked[optionName(field)] ?? asked[field.name]] as const)
      .filter(([, value]) => value !== undefined),
  )
  const { replyTo, ...content } = message
  if (asked.handoff !== undefined) {
    const to = (content.to as string | undefined) ?? (await mailbox.lead())
    const work = { ...asked.handoff, to, subject: content.subject ?? 'Handoff' }
    return say(mailbox, handoffs.actions().handOff, work, message)
  }
  const action = content.payload === undefined ? undefined : openingAction(content.type ?? '')
  if (action !== undefined) return sayFrom(mailbox, action, message)
  if (typeof content.to === 'string') content.to = addressesOf(content.to)
  if (replyTo !== undefined) return mailbox.reply(replyTo, content)
  return mailbox.send(content)
}

/** A typed request with fields of its own, as its verb on the command line sends it. */
function sayFrom(mailbox: Mailbox, action: NamedAction, message: Partial<SendInput>): Promise<SentMessage> {
  const { to, subject, body, priority, payload, type: _, ...more } = message
  const fields = { ...(payload as object), ...given({ to, subject, body, priority }) }
  return say(
    mailbox,
    action,
    checkInput(toSchema(action.input, { others: 'refused' }), fields) as object,
    more,
  )
}
