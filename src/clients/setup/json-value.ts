import { readFileSync } from 'node:fs'
import { type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser'
import { MailboxError } from '../../base/errors.ts'

export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** What a settings file says. Comments and a trailing comma are allowed; whether its client agrees is its own affair. */
export function parseSettings(text: string): Json {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) {
    const lines = text.slice(0, error.offset).split('\n')
    const where = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
    throw new MailboxError('invalid', `it is not JSON: ${printParseErrorCode(error.error)} at ${where}`)
  }
  if (!isObject(value)) throw new MailboxError('invalid', 'it is not a JSON object')
  refuseDoubles(text)
  return value
}

/** Of a key that stands twice, clients take the last; an entry added to the first would have no effect. */
function refuseDoubles(text: string): void {
  const seen = new Set<unknown>()
  for (const { children } of parseTree(text, [], { allowTrailingComma: true })?.children ?? []) {
    const key: unknown = children?.[0]?.value
    if (seen.has(key)) throw new MailboxError('invalid', `${JSON.stringify(key)} stands in it twice`)
    seen.add(key)
  }
}

/** A settings file as its client would read it; undefined when there is none, or it cannot be read. */
export function readSettingsFile(path: string): Json | undefined {
  try {
    return parseSettings(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}
