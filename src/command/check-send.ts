import { MailboxError } from '../base/errors.ts'
import { checkFields } from '../model/check-fields.ts'
import { inputFields, type SendInput } from '../model/fields.ts'

/** Checks what does not depend on the state, so that a bad message never waits for the lock. */
export function checkSend(input: SendInput, maxBytes: number): void {
  if (input === null || typeof input !== 'object')
    invalid('there is nothing to send', 'pass { to, subject, body }')
  checkFields(input)
  if (input.to === undefined || input.to.length === 0)
    invalid('the message has no recipient', 'name at least one address')
  checkSize(input, maxBytes)
}

/** The addresses as a list: one alone needs none. */
export const toList = (to: SendInput['to']): readonly string[] => (typeof to === 'string' ? [to] : to)

/** The fields that have no limit of their own. */
const contentFields = inputFields.filter(
  ({ kind, maxLength }) =>
    kind === 'json' || kind === 'object' || (kind === 'text' && maxLength === undefined),
)

function checkSize(input: SendInput, maxBytes: number): void {
  let size = 0
  for (const { name, kind } of contentFields) {
    const value = input[name as keyof SendInput]
    if (value !== undefined)
      size += Buffer.byteLength(kind === 'text' ? (value as string) : JSON.stringify(value))
  }
  if (size > maxBytes) {
    const message = `the message has ${size} bytes; the limit is ${maxBytes} (limits.messageBytes)`
    const hint = 'write the content to a file and attach its path'
    throw new MailboxError('over_limit', message, { limit: 'size', hint })
  }
}

export function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}
