const special = /[.*+?^${}()|[\]\\]/g

/** The words and phrases of a search that are text: not its operators, and not what it excludes. */
export function wordsOfSearch(query: string, operators: readonly string[]): string[] {
  const found: string[] = []
  for (const [, minus, prefix, value = ''] of query.matchAll(/(-?)(?:([a-z]+):)?("[^"]*"|[^\s"]+"?)/g)) {
    if (minus === '-' || (prefix !== undefined && operators.includes(prefix))) continue
    const word = (prefix === undefined ? value : `${prefix}:${value}`).replaceAll('"', '').replace(/\*$/, '')
    if (word !== '') found.push(word)
  }
  return found
}

export interface TextPart {
  text: string
  isMatch: boolean
}

/** Cuts a text where words begin that start with one of these. */
export function partsOf(text: string, words: readonly string[]): TextPart[] {
  if (words.length === 0) return [{ text, isMatch: false }]
  const any = words.map((word) => word.replace(special, '\\$&').replace(/\s+/g, '\\s+')).join('|')
  const pieces = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${any})`, 'giu'))
  return pieces.flatMap((piece, n) => (piece === '' ? [] : { text: piece, isMatch: n % 2 === 1 }))
}

const around = 60

/** The part of a long text in which the first word stands. */
export function snippet(text: string, words: readonly string[]): string {
  const [before, match] = partsOf(text, words)
  if (match === undefined || before!.isMatch || before!.text.length <= around)
    return text.slice(0, 3 * around)
  const start = before!.text.lastIndexOf(' ', before!.text.length - around) + 1
  return `…${text.slice(start, start + 4 * around)}`
}
