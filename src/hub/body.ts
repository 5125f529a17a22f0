import { readTextBody } from '../base/body.ts'
import type { MailboxError } from '../base/errors.ts'
import { maxJsonDepth, parseStrictJson } from '../base/json.ts'
import { HttpRefusal } from './errors.ts'

/** The JSON object that a request carries; an empty body is an empty object. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (type !== null && !/^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(type)) {
    throw new HttpRefusal(415, 'type', 'the body is not JSON', {
      hint: 'send `Content-Type: application/json`',
    })
  }
  const text = await readTextBody(request, maxBytes).catch((error: MailboxError) => {
    const { message, hint = '' } = error
    throw error.limit === 'size' ? new HttpRefusal(413, 'size', message, { hint }) : error
  })
  // A payload of the greatest depth is a field of the input.
  return text.trim() === '' ? {} : parseStrictJson(text, maxJsonDepth + 1)
}
