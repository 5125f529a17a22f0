import { isJsonContentType } from '@modelcontextprotocol/server'
import { readTextBody } from '../base/body.ts'
import { asMailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'

/** The body of a request, read once; or the answer to a request whose body is refused. */
export type Body = { json: unknown } | { refused: Response }

/** Takes the same JSON as the rest of the hub: no duplicate keys, nothing nested too deep, not too large. */
export async function readBody(request: Request, maxBytes: number): Promise<Body> {
  if (request.method !== 'POST') return { json: undefined }
  if (!isJsonContentType(request.headers.get('content-type')))
    return { refused: refusal(415, -32_000, 'send `Content-Type: application/json`') }
  try {
    return { json: parseStrictJson(await readTextBody(request, maxBytes)) }
  } catch (error) {
    const { limit, message } = asMailboxError(error)
    return { refused: limit === 'size' ? refusal(413, -32_000, message) : refusal(400, -32_700, message) }
  }
}

export const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
