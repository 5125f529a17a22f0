import { MailboxError } from './errors.ts'

/** Deeper JSON is refused before it is parsed: JSON.parse accepts millions of levels, stringify then throws. */
export const maxJsonDepth = 64

function refuse(why: string, hint: string, what = 'JSON'): never {
  throw new MailboxError('invalid', `${what} ${why}`, { hint })
}

/** Any value as the text of an error has it: on one line and short. Not all of them can be JSON. */
export function quote(value: unknown): string {
  try {
    return String(JSON.stringify(value)).slice(0, 60)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/**
 * Parses untrusted JSON. Unlike JSON.parse, it also refuses what two parsers may read differently: duplicate
 * keys, `__proto__`, and numbers that a double cannot represent.
 */
export function parseStrictJson(text: string, maxDepth = maxJsonDepth): unknown {
  checkStructure(text, maxDepth)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MailboxError('invalid', `not JSON: ${(cause as Error).message}`, {
      cause,
      hint: 'check the quotes and commas; the shell may have removed the quotes',
    })
  }
}

/** One pass over the text, without building anything: depth, keys and numbers. */
function checkStructure(text: string, maxDepth: number): void {
  const keys: (Set<string> | null)[] = []
  let expectKey = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        expectKey = text.charCodeAt(at) === 0x7b
        keys.push(expectKey ? new Set() : null)
        if (keys.length > maxDepth) refuse(`is nested deeper than ${maxDepth}`, flatten)
        break
      case 0x7d: // }
      case 0x5d: // ]
        keys.pop()
        expectKey = false
        break
      case 0x2c: // ,
        expectKey = keys.at(-1) instanceof Set
        break
      case 0x22: {
        const end = endOfString(text, at)
        if (expectKey) addKey(keys.at(-1) as Set<string>, text.slice(at, end + 1))
        expectKey = false
        at = end
        break
      }
      default:
        if (isNumberStart(text.charCodeAt(at))) at = checkNumber(text, at)
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) return at
  }
  refuse('has an unterminated string', 'close the quotes')
}

function addKey(seen: Set<string>, quoted: string): void {
  // An escaped spelling of a key is the same key, so keys are compared after unescaping.
  let key = quoted
  try {
    key = JSON.parse(quoted) as string
  } catch {
    refuse('has a malformed key', 'check the escapes')
  }
  if (key === '__proto__') refuse('has the key __proto__', 'rename the key')
  if (seen.has(key)) refuse(`has the key ${JSON.stringify(key)} twice`, 'keep one of them')
  seen.add(key)
}

const isNumberStart = (code: number) => code === 0x2d || (code >= 0x30 && code <= 0x39)
const numberPattern = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y

function checkNumber(text: string, at: number): number {
  numberPattern.lastIndex = at
  const literal = numberPattern.exec(text)?.[0]
  if (literal === undefined) return at
  const value = Number(literal)
  // A number that is too small becomes 0.
  const isLost = value === 0 && /^-?[0.]*[1-9]/.test(literal)
  if (isLost || !isExact(value))
    refuse(`number ${literal.slice(0, 40)} is out of range for a double`, 'write it as a string')
  return at + literal.length - 1
}

const isExact = (value: number) =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/**
 * Checks a value that a caller of the library passed: only what JSON can represent, no deeper than the limit,
 * so that it is read back unchanged.
 */
export function checkJsonValue(value: unknown, what: string, depth = 0): void {
  if (depth >= maxJsonDepth) refuse(`is nested deeper than ${maxJsonDepth}`, flatten, what)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') {
    if (!isExact(value)) refuse(`contains the number ${value}`, 'write it as a string', what)
  } else if (Array.isArray(value)) {
    for (const item of value) checkJsonValue(item, what, depth + 1)
  } else if (typeof value === 'object') {
    const prototype = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null)
      refuse(`contains a ${value.constructor?.name ?? 'non-plain object'}`, plain, what)
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__') refuse('has the key __proto__', 'rename the key', what)
      if (item !== undefined) checkJsonValue(item, what, depth + 1)
    }
  } else refuse(`contains a ${typeof value}`, plain, what)
}

const flatten = 'flatten it, or attach a file'
const plain = 'pass plain objects, arrays and scalars'
