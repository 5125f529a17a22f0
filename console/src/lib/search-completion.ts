import { operators } from '../../../src/query/search-terms.ts'
import type { Completion } from './completion.ts'

const abouts: Record<(typeof operators)[number], string> = {
  from: 'sender',
  to: 'recipient',
  tag: 'tag',
  type: 'type of message',
  priority: 'low to urgent',
  is: 'unread or open',
  has: 'attachment',
  before: 'older than a date or duration',
  after: 'newer than a date or duration',
}

export type SearchValues = Partial<Record<(typeof operators)[number], readonly string[]>>

const most = 8
const quoted = (word: string): string => (/\s/.test(word) ? `"${word}"` : word)

/** Completes the last word: operators, then the values of one. */
export function completionsFor(typed: string, values: SearchValues): Completion[] {
  const [, before = '', minus = '', word = ''] = /^(.*?)(-?)([^\s"]*)$/s.exec(typed) ?? []
  const colon = word.indexOf(':')
  if (colon < 0) {
    if (word === '') return []
    return operators
      .filter((name) => name.startsWith(word.toLowerCase()))
      .map((name) => ({ text: `${before}${minus}${name}:`, word: `${name}:`, about: abouts[name] }))
  }
  const operator = operators.find((name) => name === word.slice(0, colon))
  const start = word.slice(colon + 1).toLowerCase()
  const known = operator === undefined ? [] : (values[operator] ?? [])
  return known
    .filter((value) => value.toLowerCase().startsWith(start) && value.toLowerCase() !== start)
    .slice(0, most)
    .map((value) => ({
      text: `${before}${minus}${operator}:${quoted(value)} `,
      word: `${operator}:${value}`,
    }))
}

/** The last word may not be finished: it stands for every word that starts with it. */
export const asPrefix = (q: string): string => q.replace(/(?:^|\s)-?[\p{L}\p{N}]{2,}$/u, '$&*')

/** Leaves out an operator that has no value yet, so that half a word is not searched. */
export const withoutUnfinished = (typed: string): string => {
  const [, rest = '', name] = /^(.*?)\s*-?([a-z]+):$/s.exec(typed) ?? []
  return operators.some((operator) => operator === name) ? rest : typed
}
