import { isJsonContentType } from '@modelcontextprotocol/server'
import { readBoundedBody } from '../base/body.ts'

/** The body of a request that was read once, for everybody who looks at it; or why it was not read. */
export type Body = { json: unknown } | { refused: Response }

/** Reads no more of it than is allowed. */
export async function readBody(request: Request, maxBytes: number): Promise<Body> {
  if (request.method !== 'POST') return { json: undefined }
  if (!isJsonContentType(request.headers.get('content-type')))
    return { refused: refusal(415, -32_000, 'send it as Content-Type: application/json') }
  try {
    const bytes = await readBoundedBody(request, maxBytes)
    if (bytes === undefined)
      return { refused: refusal(413, -32_000, `a request has at most ${maxBytes} bytes`) }
    // What is no UTF-8 is refused: put right silently, it would be another message.
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return { refused: refusal(400, -32_700, 'this is not JSON in UTF-8') }
  }
}

export const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
