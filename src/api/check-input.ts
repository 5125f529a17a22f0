import type * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import { fieldMeant } from '../model/check-fields.ts'
import type { Schema } from './operation.ts'

/** Checks input against its schema. The error names the field that is wrong. */
export function checkInput<S extends Schema>(schema: S, value: unknown): z.output<S> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue!.path.join('.') || 'the input'
  const unknown = issue!.code === 'unrecognized_keys' ? issue!.keys : []
  const fields = Object.keys((schema as { shape?: object }).shape ?? {})
  const meant = unknown.length === 0 ? undefined : meantBy(unknown[0]!, fields)
  throw new MailboxError(
    'invalid',
    unknown.length > 0 ? `unknown field: ${unknown.join(', ')}` : `${where}: ${describe(issue!)}`,
    {
      hint:
        fields.length === 0
          ? 'it takes no fields'
          : `${meant === undefined ? '' : `did you mean ${meant}? `}fields: ${fields.join(', ')}`,
    },
  )
}

/** The field that somebody meant by another name. */
function meantBy(name: string, fields: readonly string[]): string | undefined {
  const field = fieldMeant(name)
  return field !== undefined && fields.includes(field) ? field : nearest(name, fields)[0]
}

function describe(issue: { code?: string; expected?: unknown; message: string; values?: unknown[] }): string {
  if (issue.expected !== undefined) return `expected ${String(issue.expected)}`
  if (issue.values !== undefined) return `expected one of ${issue.values.join(', ')}`
  return issue.message.toLowerCase()
}
