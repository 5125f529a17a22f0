import * as z from 'zod'
import { say } from '../agent/say.ts'
import { handoff as handoffs } from '../conversation/handoff.ts'
import type { Kind } from '../model/field.ts'
import { inputFields, optionName, type SendInput } from '../model/fields.ts'
import { priorities } from '../model/message.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

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
    const schema = (schemas[field.kind] ?? z.string)().exactOptional()
    return [optionName(field), field.mcp ? schema.describe(field.mcp) : schema]
  }),
)

const handoff = z.object({ workCompleted: z.string(), nextSteps: z.array(z.string()).exactOptional() })

export const sendSchema = z.object({ ...messageShape, handoff: handoff.exactOptional() })

/** Sends what the tool was given: a handoff, a reply, or a message. */
export async function sendFrom(
  mailbox: Mailbox,
  given: { handoff?: z.output<typeof handoff> } & Record<string, unknown>,
): Promise<SentMessage> {
  const message: Partial<SendInput> = Object.fromEntries(
    toolFields
      .map((field) => [field.name, given[optionName(field)]] as const)
      .filter(([, value]) => value !== undefined),
  )
  const { replyTo, ...content } = message
  if (given.handoff !== undefined) {
    const to = (content.to as string | undefined) ?? (await mailbox.lead())
    const work = { ...given.handoff, to, subject: content.subject ?? 'Handoff' }
    return say(mailbox, handoffs.actions().handOff, work, message)
  }
  if (replyTo !== undefined) return mailbox.reply(replyTo, content)
  return mailbox.send({ to: [], ...content })
}
