import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import type { MessageDraft } from '../model/entry.ts'
import { messageDraft } from '../model/schemas.ts'

/** Checks a message that was exported, by us or by somebody who says so. */
export function checkImport(value: unknown): MessageDraft {
  const { message, exclude } =
    isObject(value) && 'message' in value ? value : { message: value, exclude: undefined }
  const { seq: _, ...stored } = isObject(message) ? message : {}
  const { data, error } = messageDraft.safeParse({
    kind: 'message',
    message: stored,
    ...(exclude === undefined ? {} : { exclude }),
  })
  if (data !== undefined) return data
  const issue = error.issues[0]
  throw new MailboxError('invalid', `not a message: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`, {
    hint: 'import takes what export writes: one JSON object a line',
  })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Takes a message in as it was: its id, sender, time and life stay. One that is here already is left alone. */
export function decideImport(view: View, draft: MessageDraft): MessageDraft[] {
  return view.message(draft.message.id) === undefined ? [draft] : []
}
