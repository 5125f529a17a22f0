import { MailboxError } from '../base/errors.ts'
import { checkFields } from '../model/check-fields.ts'
import { inputFields, type SendInput } from '../model/fields.ts'

/** Checks what does not depend on the state, so that a bad message never waits for the lock. */
export function checkSend(input: SendInput, maxBytes: number): void {
  if (input === null || typeof input !== 'object')
    invalid('there is nothing to send', 'pass { to, subject, body }')
  checkFields(input)
  if (recipientsOf(input).length === 0)
    invalid(
      'the message has no recipient',
      'name at least one address, or give a tag such as project:x: without an address it goes to every agent that has the tag',
    )
  if (input.ttlMs !== undefined && input.expiresAt !== undefined)
    invalid('ttlMs and expiresAt are both given', 'give one of them')
  if (input.at !== undefined && input.supersede)
    invalid('at and supersede are both given', 'withdraw the earlier message, or send this one now')
  checkSize(input, maxBytes)
}

/** The addresses of a message. Without any, its namespaced tags say who should see it; a word alone addresses nobody. */
export function recipientsOf({ to = [], tags = [] }: SendInput): readonly string[] {
  const named = typeof to !== 'string' ? to : to === '' ? [] : [to]
  return named.length > 0 ? named : tags.filter((tag) => tag.includes(':'))
}

/** The fields that have no limit of their own. */
const contentFields = inputFields.filter(
  ({ kind, maxLength }) =>
    kind === 'json' || kind === 'object' || (kind === 'text' && maxLength === undefined),
)

export function checkSize(input: { [Name in keyof SendInput]?: unknown }, maxBytes: number): void {
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
