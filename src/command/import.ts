import { MailboxError } from '../errors.ts'
import type { MessageDraft } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import { messageSchema } from '../model/schemas.ts'
import type { View } from './context.ts'

/** Checks a message that was exported, by us or by somebody who says so. */
export function checkImport(value: unknown): Message {
  const found = value !== null && typeof value === 'object' && 'message' in value ? value.message : value
  if (found !== null && typeof found === 'object' && 'seq' in found) {
    const { seq: _, ...rest } = found
    return checkImport(rest)
  }
  const { data, error } = messageSchema.safeParse(found)
  if (data !== undefined) return data
  const issue = error.issues[0]
  throw new MailboxError('invalid', `not a message: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`, {
    hint: 'import takes what export writes: one JSON object a line',
  })
}

/** Takes a message in as it was: its id, sender, time and life stay. One that is here already is left alone. */
export function decideImport(view: View, message: Message): MessageDraft[] {
  return view.message(message.id) === undefined ? [{ kind: 'message', message }] : []
}
