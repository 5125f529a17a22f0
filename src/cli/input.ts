import { createReadStream } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'

/** No message is larger than this, however it is escaped. */
const maxBytes = 16 * 1_048_576

let stdinTaken = false

function openInput(path: string): NodeJS.ReadableStream {
  if (path !== '-') return createReadStream(path)
  if (stdinTaken) {
    throw new MailboxError('invalid', 'standard input can be read only once', {
      hint: 'use - for one of them and a file for the other',
    })
  }
  stdinTaken = true
  if (process.stdin.isTTY)
    process.stderr.write('Reading from the terminal. Press Ctrl-D on an empty line to finish.\n')
  return process.stdin
}

/** Reads a file, or standard input for `-`. Rejects anything but UTF-8; a byte order mark is content. */
export async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(path)) {
    size += chunk.length
    if (size > maxBytes) {
      throw new MailboxError('over_limit', `${nameOf(path)} is larger than ${maxBytes} bytes`, {
        hint: 'attach the file instead: --attach PATH',
      })
    }
    chunks.push(chunk)
  }
  return createDecoder(path)(Buffer.concat(chunks), false)
}

/** A line with its number, from 1: its text, or why it has none. */
export type Line = { number: number; text: string } | { number: number; error: MailboxError }

/** Reads the lines of a file, skipping empty ones. One that is not UTF-8 or too long costs no other. */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let number = 0
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size <= maxBytes) parts.push(part)
    else parts = []
  }
  function* end(): Generator<Line> {
    const [bytes, length] = [Buffer.concat(parts), size]
    parts = []
    size = 0
    number++
    try {
      if (length > maxBytes) throw tooLong(length)
      const text = createDecoder('the line')(bytes, false)
      if (text.trim() !== '') yield { number, text }
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      yield { number, error }
    }
  }
  for await (const chunk of chunksOf(path)) {
    let start = 0
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, start)) {
      add(chunk.subarray(start, at))
      yield* end()
      start = at + 1
    }
    add(chunk.subarray(start))
  }
  yield* end()
}

const tooLong = (length: number) =>
  new MailboxError('over_limit', `the line has ${length} bytes; the limit is ${maxBytes}`, {
    hint: 'no message is that large; is this a file of lines?',
  })

/** JSON given on the command line, or on standard input for `-`. */
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
    throw new MailboxError('invalid', `cannot read ${nameOf(path)}: ${(error as Error).message}`, {
      cause: error,
      hint: 'check the path; use - for standard input',
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
        hint: 'convert it (iconv -t UTF-8) or attach the file: --attach PATH',
      })
    }
  }
}

const nameOf = (path: string) => (path === '-' ? 'standard input' : path)
