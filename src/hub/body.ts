import type * as z from 'zod/mini'
import type { Schema } from '../api/operation.ts'
import { readTextBody } from '../base/body.ts'
import { MailboxError } from '../base/errors.ts'
import { maxJsonDepth, parseStrictJson } from '../base/json.ts'
import { HttpRefusal } from './errors.ts'

/** The JSON object that a request carries; an empty body is an empty object. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (type !== null && !/^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(type)) {
    const error = new MailboxError('invalid', 'the body is not JSON', {
      hint: 'send `Content-Type: application/json`',
    })
    throw new HttpRefusal(415, 'type', error)
  }
  const text = await readTextBody(request, maxBytes)
  // A payload of the greatest depth is a field of the input.
  return text.trim() === '' ? {} : parseStrictJson(text, maxJsonDepth + 1)
}

/** Checks input against its schema. The error names the field that is wrong. */
export function checkShape<S extends Schema>(schema: S, value: unknown): z.output<S> {
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
