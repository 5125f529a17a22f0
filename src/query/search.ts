import { asText, rowsIn } from '../base/sqlite.ts'
import { isOfType } from '../conversation/type-names.ts'
import type { Projection } from '../index/projection.ts'
import { boxOf, hasTag } from '../model/address.ts'
import type { Agent } from '../model/agent.ts'
import { toPriority } from '../model/message.ts'
import { readMoment } from '../model/time.ts'
import { inboxRows } from './inbox.ts'
import { messageIfThere, receiptsOf, type Source, type StoredMessage } from './message.ts'
import { mattersWhere } from './owed.ts'
import { type ListOptions, limitOf, type Page, readBefore } from './page.ts'
import type { SealedWords } from './sealed-words.ts'
import { notesOn, parseSearch, type SearchTerm, type WordQuery, wordQuery } from './search-terms.ts'

const portion = 500
/** Counting ends here, and says that there is more. */
const countedAtMost = 1_000
const lookedAtForCount = 5_000

export interface SearchOptions extends ListOptions {
  /** Also say how many messages fit, up to 1,000. @default false */
  counts?: boolean
}

export interface SearchPage extends Page<StoredMessage> {
  /** How many fit in all, if asked for; `isMore`: at least that many. */
  total?: number
  isMore?: boolean
  /** What of the search may not mean what its author thought. */
  notes?: string[]
}

/** How far a search has come. */
interface Found {
  messages: StoredMessage[]
  next: string | null
  total: number
  /** How many were looked at for the count alone. */
  lookedAt: number
  /** Nobody asked for the rest, or there is too much of it. */
  isOver: boolean
}

/**
 * Messages that fit all terms, newest first. `is:unread` asks for the unread mail of the agent that searches; `ownIn`
 * leaves out what it may not read.
 *
 * The two databases are read in turn, never one inside the other: reading the words may have to build them,
 * which takes the lock, and whoever holds that may be waiting for us to stop reading the index.
 */
export function search(
  source: Source,
  words: Projection,
  agentOf: (source: Source) => Agent,
  query: string,
  options: SearchOptions,
  now: number,
  ownIn?: (source: Source) => (message: StoredMessage) => boolean,
): SearchPage {
  const limit = limitOf(options.limit)
  const terms = parseSearch(query)
  const text = wordQuery(terms)
  const notes = notesOn(terms)
  const hasWords = text.wanted !== undefined || text.unwanted !== undefined
  // Whether a message is there at all is all that is left to ask of one that its words have found.
  const isOnlyWords = ownIn === undefined && terms.every(({ operator }) => operator === 'text')
  let knowsSealed = !hasWords
  let found: Found = { messages: [], next: null, total: 0, lookedAt: 0, isOver: false }
  const page = ({ messages, next, total, isOver }: Found): SearchPage => ({
    ...{ messages, next, ...(options.counts && { total, isMore: isOver }) },
    ...(notes.length > 0 && { notes }),
  })
  if (text.hopeless) return page(found)
  for (let before = readBefore(options.after); ; ) {
    const { fitting, last } = candidates(source, words, agentOf, terms, text, before)
    // This may be done again, on another index: what was found before it stays as it was.
    const more = source.index.read(() => {
      if (!knowsSealed && source.sealedWords.catchUp(source)) return undefined
      knowsSealed = true
      const isFoundByWords = isOnlyWords && source.sealedWords.isEmpty
      const messages = [...found.messages]
      let { next, total, lookedAt } = found
      const done = (isOver: boolean): Found => ({ messages, next, total, lookedAt, isOver })
      const accepts = createFilter(source, agentOf(source), terms, now)
      const isOwn = ownIn?.(source)
      for (const seq of fitting) {
        const isFull = messages.length === limit
        if (isFull && next !== null && (total >= countedAtMost || ++lookedAt > lookedAtForCount))
          return done(true)
        if (isFull && isFoundByWords) {
          next ??= String(messages.at(-1)!.seq)
          total++
          if (!options.counts) return done(true)
          continue
        }
        const message = messageIfThere(source, seq)
        if (message === undefined || !accepts(message) || isOwn?.(message) === false) continue
        // Who cannot read it does not learn which words are in it.
        if (message.locked && hasWords) continue
        total++
        if (isFull) next ??= String(messages.at(-1)!.seq)
        else messages.push(message)
        if (isFull && !options.counts) return done(true)
      }
      return done(false)
    })
    // There are words to look for that were not known before.
    if (more === undefined) continue
    found = more
    if (found.isOver || last === undefined) return page(found)
    before = last
  }
}

/** The seqs of what an agent has sent and of what came to it. */
const ownMessages =
  'SELECT seq AS rowid FROM message WHERE sender = ?1 UNION SELECT seq FROM receipt WHERE box = ?1'

/**
 * Seqs whose words match, newest first; all of them when the search has no words. `last`: where to continue,
 * undefined at the end.
 */
function candidates(
  source: Source,
  words: Projection,
  agentOf: (source: Source) => Agent,
  terms: readonly SearchTerm[],
  { wanted, unwanted }: WordQuery,
  before: number,
): { fitting: number[]; last: number | undefined } {
  const { index, sealedWords } = source
  const asked = terms.filter(({ negated }) => !negated)
  const from = asked.find(({ operator }) => operator === 'from')?.value
  const isMine = asked.some(({ operator, value }) => operator === 'is' && value === 'mine')
  const list = (database: Projection, where: string, parameters: (string | number)[]) =>
    database.read(() => {
      const found = `SELECT rowid AS seq FROM ${where} ORDER BY rowid DESC LIMIT ${portion}`
      return rowsIn<[number]>(database.sql(asText(found, 'seq')), parameters)
    })
  const rows =
    wanted !== undefined
      ? list(words, 'words WHERE words MATCH ? AND rowid < ?', [wanted, before])
      : isMine
        ? list(index, `(${ownMessages}) WHERE rowid < ?2`, [agentOf(source).name, before])
        : from === undefined
          ? list(index, 'message WHERE seq < ?', [before])
          : list(index, 'message WHERE sender = ? AND seq < ?', [from, before])
  const sealed = wanted === undefined ? [] : sealedWords.matching(wanted, before, portion)
  const seqs = [...rows.map(([seq]) => seq), ...sealed].sort((a, b) => b - a).slice(0, portion)
  const fitting = without(seqs, words, sealedWords, unwanted)
  return { fitting, last: seqs.length < portion ? undefined : seqs.at(-1) }
}

function without(
  seqs: number[],
  words: Projection,
  sealed: SealedWords,
  unwanted: string | undefined,
): number[] {
  if (unwanted === undefined) return seqs
  return words.read(() => {
    const has = words.sql('SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?')
    return seqs.filter((seq) => has.get([unwanted, seq]) === undefined && !sealed.has(unwanted, seq))
  })
}

const readPriority = (text: string) => toPriority(/^\d$/.test(text) ? Number(text) : text)

/** Checks a message against the operators. */
function createFilter(source: Source, agent: Agent, terms: readonly SearchTerm[], now: number) {
  let unread: Set<number> | undefined
  const isUnread = (seq: number) => {
    unread ??= new Set([...inboxRows(source, agent, { unread: true }, now, portion)].map((row) => row.seq))
    return unread.has(seq)
  }
  const isMine = ({ from, seq }: StoredMessage) =>
    from === agent.name || receiptsOf(source, seq).some(({ box }) => box === agent.name)
  const isOpen = (seq: number) => mattersWhere(source, 'x.seq = ? AND x.open = 1', [seq]).length > 0
  const holds = ({ operator, value }: SearchTerm, message: StoredMessage): boolean => {
    switch (operator) {
      case 'from':
        return message.from === value
      case 'to':
        return message.to.some((to) => to === value || boxOf(to) === value || to === `role:${value}`)
      case 'tag':
        return hasTag(message, value)
      case 'type':
        return isOfType(message.type, value)
      case 'priority':
        return message.priority === readPriority(value)
      case 'is':
        if (value === 'mine') return isMine(message)
        return value === 'open' ? isOpen(message.seq) : isUnread(message.seq)
      case 'has':
        return message.attachments.length > 0
      case 'before':
        return Date.parse(message.createdAt) < readMoment(value, now)
      case 'after':
        return Date.parse(message.createdAt) >= readMoment(value, now)
      case 'text':
        return true
    }
  }
  return (message: StoredMessage): boolean =>
    terms.every((term) => term.operator === 'text' || holds(term, message) !== term.negated)
}
