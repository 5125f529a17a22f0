import { MailboxError } from '../base/errors.ts'
import { given, isObject } from '../base/objects.ts'
import type { View } from '../conversation/view.ts'
import type { MessageDraft } from '../model/entry.ts'
import { messageDraft } from '../model/schemas.ts'

/** Checks an exported message; the file may come from anyone. */
export function checkImport(value: unknown): MessageDraft {
  const { message, exclude } =
    isObject(value) && 'message' in value ? value : { message: value, exclude: undefined }
  const { seq: _, ...stored } = isObject(message) ? message : {}
  const { data, error } = messageDraft.safeParse({ kind: 'message', message: stored, ...given({ exclude }) })
  if (data !== undefined) return data
  const issue = error.issues[0]
  throw new MailboxError('invalid', `not a message: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`, {
    hint: 'import expects the output of export: one JSON object per line',
  })
}

/** Imports a message with its id, sender, time and expiry. A message that already exists is skipped. */
export function decideImport(view: View, draft: MessageDraft): MessageDraft[] {
  return view.message(draft.message.id) === undefined ? [draft] : []
}
