import { isJsonContentType } from '@modelcontextprotocol/server'

/** The body of a request that was read once, for everybody who looks at it; or why it was not read. */
export type Body = { json: unknown } | { refused: Response }

/** Reads no more of it than is allowed. */
export async function readBody(request: Request, maxBytes: number): Promise<Body> {
  if (request.method !== 'POST') return { json: undefined }
  if (!isJsonContentType(request.headers.get('content-type')))
    return { refused: refusal(415, -32_000, 'send it as Content-Type: application/json') }
  const tooLarge = { refused: refusal(413, -32_000, `a request has at most ${maxBytes} bytes`) }
  if (Number(request.headers.get('content-length') ?? '0') > maxBytes) return tooLarge
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of request.body ?? []) {
      size += part.length
      if (size > maxBytes) return tooLarge
      parts.push(part)
    }
    // What is no UTF-8 is refused: put right silently, it would be another message.
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts, size))) }
  } catch {
    return { refused: refusal(400, -32_700, 'this is not JSON in UTF-8') }
  }
}

export const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
