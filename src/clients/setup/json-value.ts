import { readFileSync } from 'node:fs'
import { type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser'
import { MailboxError } from '../../base/errors.ts'
import { isObject } from '../../base/objects.ts'

export type Json = Record<string, unknown>

/** Parses a settings file. Comments and trailing commas are allowed, whether or not the client accepts them. */
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
  refuseDuplicates(text)
  return value
}

/** Clients use the last of two equal keys, so an entry added to the first would have no effect. */
function refuseDuplicates(text: string): void {
  const seen = new Set<unknown>()
  for (const { children } of parseTree(text, [], { allowTrailingComma: true })?.children ?? []) {
    const key: unknown = children?.[0]?.value
    if (seen.has(key)) throw new MailboxError('invalid', `it contains ${JSON.stringify(key)} twice`)
    seen.add(key)
  }
}

/** A parsed settings file; undefined when there is none, or it cannot be parsed. */
export function readSettingsFile(
  path: string,
  parse: (text: string) => Json = parseSettings,
): Json | undefined {
  try {
    return parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}
