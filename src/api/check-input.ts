import type * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import type { Schema } from './operation.ts'

/** Checks input against its schema. The error names the field that is wrong. */
export function checkInput<S extends Schema>(schema: S, value: unknown): z.output<S> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue!.path.join('.') || 'the input'
  const unknown = issue!.code === 'unrecognized_keys' ? issue!.keys : []
  const fields = Object.keys((schema as { shape?: object }).shape ?? {})
  throw new MailboxError(
    'invalid',
    unknown.length > 0 ? `unknown field: ${unknown.join(', ')}` : `${where}: ${describe(issue!)}`,
    { hint: fields.length === 0 ? 'it takes no fields' : `fields: ${fields.join(', ')}` },
  )
}

function describe(issue: { code?: string; expected?: unknown; message: string; values?: unknown[] }): string {
  if (issue.expected !== undefined) return `expected ${String(issue.expected)}`
  if (issue.values !== undefined) return `expected one of ${issue.values.join(', ')}`
  return issue.message.toLowerCase()
}
