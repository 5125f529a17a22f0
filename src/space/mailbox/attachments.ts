import { existsSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import type { SendInput } from '../../model/fields.ts'

/**
 * Refuses to attach a file that is not there: whoever reads the message would look for it in vain. Files that a
 * handoff names as changed may have been deleted, which is a change too.
 */
export function checkAttachments({ attachments = [], context = {} }: SendInput): void {
  if (attachments.length === 0) return
  const changed = [context['filesModified'], context['filesCreated']].flat()
  const missing = attachments.find((path) => !changed.includes(path) && !existsSync(path))
  if (missing === undefined) return
  throw new MailboxError('invalid', `there is no file ${JSON.stringify(missing)} to attach`, {
    hint: 'paths are relative to the current directory; create the file first, or name it in the body',
  })
}
