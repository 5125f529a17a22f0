import type * as z from 'zod/mini'
import type { Schema } from '../api/operation.ts'
import { readBoundedBody } from '../base/body.ts'
import { MailboxError } from '../base/errors.ts'
import { maxJsonDepth, parseStrictJson } from '../base/json.ts'
import { HttpRefusal } from './errors.ts'

/** The JSON object that a request carries; no more of it is read than is allowed. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (type !== null && !/^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(type)) {
    const error = new MailboxError('invalid', 'the body is not JSON', {
      hint: 'send `Content-Type: application/json`',
    })
    throw new HttpRefusal(415, 'type', error)
  }
  const text = await readText(request, maxBytes)
  // What is nested as deep as it may be lies in a field of the input.
  return text.trim() === '' ? {} : parseStrictJson(text, maxJsonDepth + 1)
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBoundedBody(request, maxBytes)
  if (bytes === undefined) throw tooLarge(maxBytes)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new MailboxError('invalid', 'the body is not UTF-8', { cause, hint: 'encode it as UTF-8' })
  }
}

const tooLarge = (maxBytes: number) =>
  new MailboxError('over_limit', `the request has over ${maxBytes} bytes`, {
    limit: 'size',
    hint: 'write the content to a file and attach its path',
  })

/** Checks what came against its schema; what is wrong is named by its place. */
export function checkShape<S extends Schema>(schema: S, value: unknown): z.output<S> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue!.path.join('.') || 'the input'
  const unknown = issue!.code === 'unrecognized_keys' ? issue!.keys : []
  const fields = Object.keys((schema as { shape?: object }).shape ?? {})
  throw new MailboxError(
    'invalid',
    unknown.length > 0 ? `there is no field ${unknown.join(', ')}` : `${where}: ${describe(issue!)}`,
    { hint: fields.length === 0 ? 'it takes no fields' : `fields: ${fields.join(', ')}` },
  )
}

function describe(issue: { code?: string; expected?: unknown; message: string; values?: unknown[] }): string {
  if (issue.expected !== undefined) return `it is not a ${String(issue.expected)}, or it is missing`
  if (issue.values !== undefined) return `it is none of ${issue.values.join(', ')}`
  return issue.message.toLowerCase()
}
