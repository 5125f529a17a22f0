import * as z from 'zod'
import { handOff } from '../agent/requests.ts'
import type { Kind } from '../model/field.ts'
import { inputFields, optionName, type SendInput } from '../model/fields.ts'
import { priorities } from '../model/message.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'
import { clean } from './clean.ts'

/** Limits are left to the mailbox: a model reads the refusal when it needs it, and pays for a schema every turn. */
const schemas: Partial<Record<Kind, () => z.ZodType>> = {
  flag: () => z.boolean(),
  priority: () => z.enum(priorities),
  whole: () => z.number(),
  duration: () => z.number().nullable(),
  json: () => z.unknown(),
  object: () => z.record(z.string(), z.unknown()),
  list: () => z.array(z.string()),
}

const toolFields = inputFields.filter(({ mcp }) => mcp !== undefined)

const messageShape = Object.fromEntries(
  toolFields.map((field) => {
    const schema = (schemas[field.kind] ?? z.string)().optional()
    return [optionName(field), field.mcp ? schema.describe(field.mcp) : schema]
  }),
)

const handoff = z.object({ workCompleted: z.string(), nextSteps: z.array(z.string()).optional() }).optional()

export const sendSchema = z.object({ ...messageShape, handoff })

/** Sends what the tool was given: a handoff, a reply, or a message. */
export async function sendFrom(
  mailbox: Mailbox,
  given: { handoff?: z.output<typeof handoff> } & Record<string, unknown>,
): Promise<SentMessage> {
  const { to, replyTo, ...content }: Partial<SendInput> = clean(
    Object.fromEntries(toolFields.map((field) => [field.name, given[optionName(field)]])),
  )
  if (given.handoff !== undefined) {
    const work = clean(given.handoff)
    const recipient = (to as string | undefined) ?? (await mailbox.lead())
    return handOff(mailbox, { ...work, to: recipient, subject: content.subject ?? 'Handoff' })
  }
  if (replyTo !== undefined) return mailbox.reply(replyTo, { ...content, ...clean({ to }) })
  return mailbox.send({ ...content, to: to ?? [] })
}
