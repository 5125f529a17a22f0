import { MailboxError } from '../errors.ts'
import type { Projection } from '../index/projection.ts'
import type { Agent } from '../model/agent.ts'
import { parseTime } from '../model/time.ts'
import type { SqlValue } from '../sqlite.ts'
import { inboxRows, type Page } from './inbox.ts'
import { readMessage, type Source, type StoredMessage } from './message.ts'
import { type ListOptions, readBefore } from './thread.ts'

/** One word, phrase or operator of a search. */
export interface SearchTerm {
  negated: boolean
  operator: 'text' | 'from' | 'to' | 'tag' | 'type' | 'is' | 'has' | 'before' | 'after'
  value: string
}

const operators = ['from', 'to', 'tag', 'type', 'is', 'has', 'before', 'after'] as const
const termPattern = /(-?)(?:([a-z]+):)?("[^"]*"|\S+)/y

/** Reads `from:ada -type:ack "two words" plan` into terms. An unknown prefix is text: `http://x` is no operator. */
export function parseSearch(query: string): SearchTerm[] {
  const terms: SearchTerm[] = []
  for (let at = 0; at < query.length; at++) {
    termPattern.lastIndex = at
    const match = termPattern.exec(query)
    if (match === null) continue
    at = termPattern.lastIndex
    const operator = operators.find((name) => name === match[2])
    const written = match[3]!.replaceAll('"', '')
    const value = operator === undefined && match[2] !== undefined ? `${match[2]}:${written}` : written
    if (value === '') continue
    const term = { negated: match[1] === '-', operator: operator ?? ('text' as const), value }
    checkTerm(term)
    terms.push(term)
  }
  if (terms.length === 0)
    throw new MailboxError('invalid', 'the search is empty', {
      hint: 'give a word, or from:NAME, tag:NS:VALUE, is:unread',
    })
  return terms
}

function checkTerm({ operator, value }: SearchTerm): void {
  if (operator === 'is' && value !== 'unread') unknown(operator, value, 'is:unread')
  if (operator === 'has' && value !== 'attachment') unknown(operator, value, 'has:attachment')
  if (operator === 'before' || operator === 'after') parseTime(value)
}

function unknown(operator: string, value: string, known: string): never {
  throw new MailboxError('invalid', `search knows no ${operator}:${value}`, { hint: `write ${known}` })
}

const portion = 500

/** Messages that fit all terms, newest first. `is:unread` asks for the unread mail of the agent that searches. */
export function search(
  source: Source,
  words: Projection,
  agent: Agent,
  query: string,
  options: ListOptions,
  now: number,
): Page<StoredMessage> {
  const limit = Math.max(1, Math.min(options.limit ?? 50, 1_000))
  const terms = parseSearch(query)
  const accepts = createFilter(source, agent, terms, now)
  const messages: StoredMessage[] = []
  let before = readBefore(options.after)
  for (;;) {
    const found = candidates(source, words, terms, before)
    for (const seq of found) {
      const row = accepts(seq)
      if (row === undefined) continue
      if (messages.length === limit) return { messages, next: String(messages.at(-1)!.seq) }
      messages.push(readMessage(source.journal, row))
    }
    if (found.length < portion) return { messages, next: null }
    before = found.at(-1)!
  }
}

/** Seqs that may fit, newest first: by their words where the search has any, else all there are. */
function candidates(
  { index }: Source,
  words: Projection,
  terms: readonly SearchTerm[],
  before: number,
): number[] {
  const match = ftsQuery(terms)
  if (match === undefined) {
    const sender = terms.find(({ operator, negated }) => operator === 'from' && !negated)
    const rows =
      sender === undefined
        ? index.sql(`SELECT seq FROM message WHERE seq < ? ORDER BY seq DESC LIMIT ${portion}`).all([before])
        : index
            .sql(`SELECT seq FROM message WHERE sender = ? AND seq < ? ORDER BY seq DESC LIMIT ${portion}`)
            .all([sender.value, before])
    return rows.map(([seq]) => seq as number)
  }
  return words.read(() =>
    words
      .sql(`SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ${portion}`)
      .all([match, before])
      .map(([seq]) => seq as number),
  )
}

/** Text terms in the language of FTS5: every word quoted, so that none of it is taken for syntax. */
function ftsQuery(terms: readonly SearchTerm[]): string | undefined {
  const quoted = (negated: boolean) =>
    terms
      .filter(
        (term) => term.operator === 'text' && term.negated === negated && /[\p{L}\p{N}]/u.test(term.value),
      )
      .map(({ value }) => (value.endsWith('*') ? `"${value.slice(0, -1)}"*` : `"${value}"`))
  const wanted = quoted(false)
  const unwanted = quoted(true)
  if (wanted.length === 0 && unwanted.length === 0) return undefined
  if (wanted.length === 0) {
    throw new MailboxError('invalid', 'a search cannot consist of unwanted words alone', {
      hint: 'add a word or an operator to look for',
    })
  }
  return wanted.join(' AND ') + unwanted.map((word) => ` NOT ${word}`).join('')
}

type Filter = (seq: number) => SqlValue[] | undefined

/** Checks one message against the operators; gives its place when all hold. */
function createFilter(source: Source, agent: Agent, terms: readonly SearchTerm[], now: number): Filter {
  const { index } = source
  const row = index.sql(
    'SELECT segment, offset, bytes, sender, type, at, attachments FROM message WHERE seq = ?',
  )
  const owner = index.sql('SELECT 1 FROM receipt WHERE seq = ? AND owner = ?')
  const tagged = index.sql('SELECT 1 FROM tag WHERE tag = ? AND seq = ?')
  let unread: Set<number> | undefined
  const isUnread = (seq: number) => {
    unread ??= new Set([...inboxRows(source, agent, { unread: true }, now, portion)].map((item) => item.seq))
    return unread.has(seq)
  }
  const holds = (
    { operator, value }: SearchTerm,
    seq: number,
    [, , , sender, type, at, attachments]: SqlValue[],
  ): boolean => {
    switch (operator) {
      case 'from':
        return sender === value
      case 'to':
        return owner.get([seq, value]) !== undefined || owner.get([seq, `role:${value}`]) !== undefined
      case 'tag':
        return tagged.get([value, seq]) !== undefined || owner.get([seq, value]) !== undefined
      case 'type':
        return type === value
      case 'is':
        return isUnread(seq)
      case 'has':
        return (attachments as number) > 0
      case 'before':
        return (at as number) < parseTime(value)
      case 'after':
        return (at as number) >= parseTime(value)
      case 'text':
        return true
    }
  }
  return (seq) => {
    const found = row.get([seq])
    if (found === undefined) return undefined
    const fits = terms.every((term) => term.operator === 'text' || holds(term, seq, found) !== term.negated)
    return fits ? found : undefined
  }
}
