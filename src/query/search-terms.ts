import { MailboxError } from '../base/errors.ts'
import { parseTime } from '../model/time.ts'

const operators = ['from', 'to', 'tag', 'type', 'is', 'has', 'before', 'after'] as const

/** One word, phrase or operator of a search. */
export interface SearchTerm {
  negated: boolean
  operator: 'text' | (typeof operators)[number]
  value: string
}

const termPattern = /(-?)(?:([a-z]+):)?("[^"]*"|[^\s"]+"?)/g

/** Reads `from:ada -type:ack "two words" plan` into terms. An unknown prefix is text: `http://x` is no operator. */
export function parseSearch(query: string): SearchTerm[] {
  if (
    typeof query !== 'string' ||
    query.length > 1_000 ||
    /[\p{Cc}\p{Cs}]/u.test(query.replace(/\s/g, ' '))
  ) {
    invalid('the search is not a text one could type', 'give words, or from:NAME, tag:NS:VALUE, is:unread')
  }
  const terms: SearchTerm[] = []
  for (const match of query.matchAll(termPattern)) {
    const operator = operators.find((name) => name === match[2])
    const written = match[3]!.replaceAll('"', '')
    const value = operator === undefined && match[2] !== undefined ? `${match[2]}:${written}` : written
    if (value === '') continue
    const term = { negated: match[1] === '-', operator: operator ?? ('text' as const), value }
    checkTerm(term)
    terms.push(term)
  }
  if (terms.length === 0) invalid('the search is empty', 'give a word, or from:NAME, tag:NS:VALUE, is:unread')
  return terms
}

function checkTerm({ operator, value }: SearchTerm): void {
  if (operator === 'is' && value !== 'unread') invalid(`search knows no is:${value}`, 'write is:unread')
  if (operator === 'has' && value !== 'attachment')
    invalid(`search knows no has:${value}`, 'write has:attachment')
  if (operator === 'before' || operator === 'after') parseTime(value)
}

function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}

/** The words of a search in the language of FTS5. */
export interface WordQuery {
  /** Undefined when no words are wanted. */
  wanted: string | undefined
  unwanted: string | undefined
  /** A wanted term without a letter or a digit in it: no message can have it. */
  hopeless: boolean
}

/** Every word is quoted, so that none of it is taken for syntax. */
export function wordQuery(terms: readonly SearchTerm[]): WordQuery {
  const texts = terms.filter(({ operator }) => operator === 'text')
  const hasWord = ({ value }: SearchTerm) => /[\p{L}\p{N}\p{Co}]/u.test(value)
  const quoted = (negated: boolean) =>
    texts
      .filter((term) => term.negated === negated && hasWord(term))
      .map(({ value }) => (value.endsWith('*') ? `"${value.slice(0, -1)}"*` : `"${value}"`))
  const wanted = quoted(false)
  const unwanted = quoted(true)
  return {
    wanted: wanted.length === 0 ? undefined : wanted.join(' AND '),
    unwanted: unwanted.length === 0 ? undefined : unwanted.join(' OR '),
    hopeless: texts.some((term) => !term.negated && !hasWord(term)),
  }
}
