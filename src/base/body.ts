import { MailboxError } from './errors.ts'

/** The text of a request. Refuses more than `maxBytes`, and reads no more than that. */
export async function readTextBody(request: Request, maxBytes: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? '0') > maxBytes) throw tooLarge(maxBytes)
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of partsOf(request)) {
    size += part.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts, size))
  } catch (cause) {
    // Repaired silently, it would be another message.
    throw new MailboxError('invalid', 'the body is not UTF-8', { cause, hint: 'encode it as UTF-8' })
  }
}

async function* partsOf({ body }: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? []
  } catch (cause) {
    // The caller has gone. That is its right, and nothing is wrong here.
    throw new MailboxError('interrupted', 'the request ended before its body was complete', { cause })
  }
}

const tooLarge = (maxBytes: number) =>
  new MailboxError('over_limit', `the request has over ${maxBytes} bytes`, {
    limit: 'size',
    hint: 'write the content to a file and attach its path',
  })
