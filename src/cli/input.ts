import { createReadStream } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'

/** Beyond this no message fits, however it is escaped. */
const maxBytes = 16 * 1_048_576

let stdinTaken = false

function openInput(path: string): NodeJS.ReadableStream {
  if (path !== '-') return createReadStream(path)
  if (stdinTaken) {
    throw new MailboxError('invalid', 'standard input can be read only once', {
      hint: 'use - for one thing, a file for the other',
    })
  }
  stdinTaken = true
  if (process.stdin.isTTY)
    process.stderr.write('reading from the terminal; end with Ctrl-D on a line of its own\n')
  return process.stdin
}

/** A file's text, or standard input's for `-`. What is not UTF-8 is refused; a byte order mark is content. */
export async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(path)) {
    size += chunk.length
    if (size > maxBytes) {
      throw new MailboxError('over_limit', `${nameOf(path)} has more than ${maxBytes} bytes`, {
        hint: 'attach its path instead',
      })
    }
    chunks.push(chunk)
  }
  return createDecoder(path)(Buffer.concat(chunks), false)
}

/** A file's lines, with their numbers; empty ones are left out. */
export async function* readLines(path: string): AsyncGenerator<{ line: string; number: number }> {
  const decode = createDecoder(path)
  let number = 0
  let rest = ''
  for await (const chunk of chunksOf(path)) {
    const lines = (rest + decode(chunk, true)).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (++number && line.trim() !== '') yield { line, number }
  }
  rest += decode(Buffer.alloc(0), false)
  if (rest.trim() !== '') yield { line: rest, number: number + 1 }
}

/** JSON from the command line: as it stands, or from standard input for `-`. */
export async function readJson(text: string, what: string): Promise<unknown> {
  const json = text === '-' ? await readText('-') : text
  try {
    return parseStrictJson(json)
  } catch (error) {
    if (!(error instanceof MailboxError)) throw error
    throw new MailboxError('invalid', `${what}: ${error.message}`, {
      cause: error,
      ...(error.hint && { hint: error.hint }),
    })
  }
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of openInput(path)) yield chunk as Buffer
  } catch (error) {
    if (error instanceof MailboxError) throw error
    throw new MailboxError('invalid', `${nameOf(path)} cannot be read: ${(error as Error).message}`, {
      cause: error,
      hint: 'check the path; - is standard input',
    })
  }
}

function createDecoder(path: string): (bytes: Buffer, more: boolean) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return (bytes, more) => {
    try {
      return decoder.decode(bytes, { stream: more })
    } catch (cause) {
      throw new MailboxError('invalid', `${nameOf(path)} is not UTF-8`, {
        cause,
        hint: 'convert it (iconv -t UTF-8), or attach the file: --attach PATH',
      })
    }
  }
}

const nameOf = (path: string) => (path === '-' ? 'standard input' : path)
