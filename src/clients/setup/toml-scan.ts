import { parse } from 'smol-toml'

/**
 * Finds the positions of the statements in a TOML file. smol-toml has parsed the file before, so this need not check
 * the syntax, only find where one statement ends and the next begins.
 */
export interface Statement {
  kind: 'table' | 'pair'
  /** From the root: the path of the table, or of the table and the key. */
  path: string[]
  start: number
  /** Where the value of a pair starts, which ends where the pair does. */
  value: number
  end: number
}

export function scanToml(text: string): Statement[] {
  const found: Statement[] = []
  let table: string[] = []
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    const start = at
    if (text[at] === '[') {
      const key = scanKey(text, at + (text[at + 1] === '[' ? 2 : 1))
      at = text.indexOf(']', key.end) + (text[start + 1] === '[' ? 2 : 1)
      table = key.path
      found.push({ kind: 'table', path: table, start, value: at, end: at })
    } else {
      const pair = scanPair(text, at)
      at = pair.end
      found.push({ ...pair, path: [...table, ...pair.path] })
    }
  }
  return found
}

/** The members of an inline table, whose `{` is at `open`. */
export function scanInline(text: string, open: number): Statement[] {
  const found: Statement[] = []
  let at = skipBlank(text, open + 1)
  while (text[at] !== '}') {
    const pair = scanPair(text, at)
    found.push(pair)
    at = skipBlank(text, pair.end)
    if (text[at] === ',') at = skipBlank(text, at + 1)
  }
  return found
}

function scanPair(text: string, start: number): Statement {
  const key = scanKey(text, start)
  const value = skipBlank(text, text.indexOf('=', key.end) + 1)
  return { kind: 'pair', path: key.path, start, value, end: skipValue(text, value) }
}

/** `a.b."c d"`, and where it ends. */
function scanKey(text: string, start: number): { path: string[]; end: number } {
  const path: string[] = []
  let at = skipBlank(text, start)
  for (;;) {
    const end = skipValue(text, at, /[\s.=\]]/)
    const word = text.slice(at, end)
    path.push(/^["']/.test(word) ? unquoted(word) : word)
    const next = skipBlank(text, end)
    if (text[next] !== '.') return { path, end }
    at = skipBlank(text, next + 1)
  }
}

/** The text of a quoted key, with its escapes resolved. */
const unquoted = (key: string): string => Object.keys(parse(`${key} = 0`))[0]!

const quotes = ['"""', "'''", '"', "'"]

function skipValue(text: string, start: number, stop = /[\s,\]}#]/): number {
  const quote = quotes.find((each) => text.startsWith(each, start))
  if (quote !== undefined) return skipString(text, start, quote)
  if (text[start] === '[' || text[start] === '{') return skipBrackets(text, start)
  let at = start
  while (at < text.length && !stop.test(text[at]!)) at++
  // A date and its time may be separated by a space.
  const time = /^[ ]\d\d:[^\s,\]}#]*/.exec(text.slice(at, at + 40))
  return time !== null && /^\d{4}-\d\d-\d\d$/.test(text.slice(start, at)) ? at + time[0].length : at
}

function skipString(text: string, start: number, quote: string): number {
  let at = start + quote.length
  while (!text.startsWith(quote, at)) at += quote.startsWith('"') && text[at] === '\\' ? 2 : 1
  at += quote.length
  // A long string may end with up to two quotes before its closing three.
  while (quote.length === 3 && text[at] === quote[0]) at++
  return at
}

function skipBrackets(text: string, start: number): number {
  const close = text[start] === '[' ? ']' : '}'
  let at = skipBlank(text, start + 1)
  while (text[at] !== close) {
    const isMark = text[at] === ',' || text[at] === '='
    at = skipBlank(text, isMark ? at + 1 : skipValue(text, at, /[\s,\]}#=]/))
  }
  return at + 1
}

/** Skips white space, line breaks and comments. */
function skipBlank(text: string, start: number): number {
  const blank = /(?:[\s\ufeff]|#[^\n]*)*/y
  blank.lastIndex = start
  return start + blank.exec(text)![0].length
}
