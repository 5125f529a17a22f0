import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import { priorityHint, toPriority } from '../model/message.ts'
import { readMoment } from '../model/time.ts'

export const operators = [
  ...(['from', 'to', 'tag', 'type', 'priority'] as const),
  ...(['is', 'has', 'before', 'after'] as const),
] as const

/** One word, phrase or operator of a search. */
export interface SearchTerm {
  negated: boolean
  operator: 'text' | (typeof operators)[number]
  value: string
  /** A prefix that is no operator, so the term is text. */
  unknown?: string
}

const termPattern = /(-?)(?:([a-z]+):)?("[^"]*"|[^\s"]+"?)/g

/** Reads `from:ada -type:ack "two words" plan` into terms. An unknown prefix is text: `http://x` is not an operator. */
export function parseSearch(query: string): SearchTerm[] {
  if (typeof query !== 'string' || query.length > 1_000 || /[\p{Cc}\p{Cs}]/u.test(query.replace(/\s/g, ' ')))
    invalid('the search has characters that cannot be typed', 'use words, from:NAME, tag:NS:VALUE, is:unread')
  const terms: SearchTerm[] = []
  for (const match of query.matchAll(termPattern)) {
    const [, minus, prefix] = match
    const operator = operators.find((name) => name === prefix)
    const written = match[3]!.replaceAll('"', '')
    const value = operator === undefined && prefix !== undefined ? `${prefix}:${written}` : written
    if (value === '') continue
    const isUnknown = operator === undefined && prefix !== undefined && !written.startsWith('/')
    const term: SearchTerm = {
      ...{ negated: minus === '-', operator: operator ?? ('text' as const), value },
      ...(isUnknown && { unknown: prefix }),
    }
    checkTerm(term)
    terms.push(term)
  }
  if (terms.length === 0) invalid('the search is empty', 'use words, from:NAME, tag:NS:VALUE, is:unread')
  return terms
}

const isValues = ['unread', 'mine', 'open']

function checkTerm({ operator, value }: SearchTerm): void {
  if (operator === 'is' && !isValues.includes(value))
    invalid(`unknown search term is:${value}`, `use ${isValues.map((one) => `is:${one}`).join(', ')}`)
  if (operator === 'has' && value !== 'attachment')
    invalid(`unknown search term has:${value}`, 'use has:attachment')
  if (operator === 'priority' && toPriority(/^\d$/.test(value) ? Number(value) : value) === undefined)
    invalid(`unknown search term priority:${value}`, priorityHint)
  if (operator === 'before' || operator === 'after') readMoment(value, 0)
}

/** Names prefixes that look like operators and are none. */
export const notesOn = (terms: readonly SearchTerm[]): string[] =>
  [...new Set(terms.flatMap(({ unknown }) => unknown ?? []))].map((prefix) => {
    const [close] = nearest(prefix, operators)
    const advice =
      close === undefined
        ? `operators: ${operators.map((one) => `${one}:`).join(' ')}`
        : `did you mean ${close}:?`
    return `${prefix}: is not an operator; ${advice}`
  })

function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}

/** The words of a search in FTS5 syntax. */
export interface WordQuery {
  /** Undefined when the search has no words. */
  wanted: string | undefined
  unwanted: string | undefined
  /** A term without a letter or digit, which no message can match. */
  hopeless: boolean
}

/** Quotes every word, so that none is taken for syntax. */
export function wordQuery(terms: readonly SearchTerm[]): WordQuery {
  const texts = terms.filter(({ operator }) => operator === 'text')
  const hasWord = ({ value }: SearchTerm) => /[\p{L}\p{N}\p{Co}]/u.test(value)
  const quoted = (negated: boolean) =>
    texts
      .filter((term) => term.negated === negated && hasWord(term))
      .map(({ value }) => (value.endsWith('*') ? `"${value.slice(0, -1)}"*` : `"${value}"`))
  return {
    wanted: quoted(false).join(' AND ') || undefined,
    unwanted: quoted(true).join(' OR ') || undefined,
    hopeless: texts.some((term) => !term.negated && !hasWord(term)),
  }
}
