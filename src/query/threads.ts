import { MailboxError } from '../base/errors.ts'
import { previewOf, titleOf } from '../conversation/words.ts'
import { boxesTo, isGroupBox } from '../model/address.ts'
import type { Priority } from '../model/message.ts'
import type { Receipt } from '../model/receipt.ts'
import {
  findSeq,
  messageBySeq,
  type PlaceRow,
  readMessage,
  receiptsOf,
  type Source,
  type StoredMessage,
} from './message.ts'
import { type ListOptions, limitOf, type Page, readBefore } from './page.ts'

/** All messages of a thread, by its name or by the id of any message in it; oldest first. */
export function thread(source: Source, id: string, read = readMessage): StoredMessage[] {
  const seq = findSeq(source, id)
  const threadId = seq === undefined ? id : messageBySeq(source, seq).threadId
  const rows = source.index
    .sql(
      `SELECT segment, offset, bytes, seq FROM message WHERE thread = ?1
       UNION SELECT segment, offset, bytes, seq FROM message WHERE id = ?1 ORDER BY 4`,
    )
    .all<PlaceRow>([threadId])
  if (rows.length > 0) return rows.map((row) => read(source, row[3] as number, row))
  throw new MailboxError('not_found', `no message or thread ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}

/** What an agent has sent, newest first. */
export function sent(source: Source, agent: string, options: ListOptions): Page<StoredMessage> {
  const limit = limitOf(options.limit)
  const rows = source.index
    .sql(
      'SELECT segment, offset, bytes, seq FROM message WHERE sender = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
    )
    .all<PlaceRow>([agent, readBefore(options.after), limit + 1])
  const messages = rows.slice(0, limit).map((row) => readMessage(source, row[3] as number, row))
  return { messages, next: rows.length > limit ? String(messages.at(-1)!.seq) : null }
}

/** A thread at a glance. */
export interface ThreadSummary {
  id: string
  subject: string
  messages: number
  /** Agents who wrote in it, or were addressed by name. */
  participants: string[]
  tags: string[]
  firstAt: string
  lastAt: string
  lastFrom: string
  lastType: string
  lastSeq: number
  /** The beginning of the last message, in one line. */
  preview: string
  /** Of the last message. */
  priority: Priority
}

export interface ThreadPage {
  threads: ThreadSummary[]
  next: string | null
}

export interface ThreadsOptions extends ListOptions {
  /** Only threads with a message that has this tag or is addressed to it. */
  tag?: string
  /** Only threads in which this agent wrote or has mail. */
  agent?: string
}

const threadOf = (row: string) => `coalesce(${row}.thread, ${row}.id)`

/** The last message of each thread, newest first. */
const everyThread = `SELECT ${threadOf('m')}, m.seq FROM message m WHERE m.seq < ?1
  AND NOT EXISTS (SELECT 1 FROM message n WHERE n.thread = ${threadOf('m')} AND n.seq > m.seq)
  ORDER BY m.seq DESC LIMIT ?2`

/** The same for the threads in `found`. */
const someThreads = (found: string) => `WITH found AS (${found})
  SELECT t, last FROM (SELECT t, max(coalesce((SELECT max(seq) FROM message WHERE thread = t), 0),
    coalesce((SELECT seq FROM message WHERE id = t), 0)) AS last FROM found)
  WHERE last < ?1 ORDER BY last DESC LIMIT ?2`

const tagged = `SELECT DISTINCT ${threadOf('m')} AS t FROM label l JOIN message m ON m.seq = l.seq WHERE l.tag = ?3`
const ofAgent = `SELECT ${threadOf('m')} AS t FROM message m WHERE m.sender = ?3
  UNION SELECT ${threadOf('m')} FROM receipt r JOIN message m ON m.seq = r.seq WHERE r.box = ?3`
const ofBoth = `SELECT t FROM (${tagged}) INTERSECT SELECT t FROM (${ofAgent.replaceAll('?3', '?4')})`

/** Threads with the newest activity first. */
export function threads(source: Source, options: ThreadsOptions): ThreadPage {
  const { tag, agent } = options
  const limit = limitOf(options.limit)
  const names = [tag, agent].filter((name) => name !== undefined)
  const found = tag === undefined ? ofAgent : agent === undefined ? tagged : ofBoth
  const sql = names.length === 0 ? everyThread : someThreads(found)
  const rows = source.index
    .sql(sql)
    .all<[id: string, last: number]>([readBefore(options.after), limit + 1, ...names])
  const page = rows.slice(0, limit)
  return {
    threads: page.map(([id, last]) => summarize(source, id, last)),
    next: rows.length > limit ? String(page.at(-1)![1]) : null,
  }
}

const inThread = 'SELECT seq FROM message WHERE thread = ?1 UNION SELECT seq FROM message WHERE id = ?1'

function summarize(source: Source, id: string, lastSeq: number): ThreadSummary {
  const { index } = source
  const ends = index.sql(`SELECT min(seq), count(*) FROM (${inThread})`)
  const [firstSeq, messages] = ends.get<[number, number]>([id])!
  const last = messageBySeq(source, lastSeq)
  const first = firstSeq === lastSeq ? last : messageBySeq(source, firstSeq)
  const people = index.sql(
    `SELECT DISTINCT sender FROM message WHERE seq IN (${inThread})
     UNION SELECT owner FROM receipt WHERE seq IN (${inThread})`,
  )
  const tags = index.sql(`SELECT DISTINCT tag FROM label WHERE seq IN (${inThread}) ORDER BY tag`)
  return {
    id,
    subject: titleOf(first),
    messages,
    participants: people.all<[string]>([id]).flatMap(([name]) => (isGroupBox(name) ? [] : name)),
    tags: tags.all<[string]>([id]).map(([tag]) => tag),
    firstAt: first.createdAt,
    lastAt: last.createdAt,
    lastFrom: last.from,
    lastType: last.type,
    lastSeq,
    preview: previewOf(last),
    priority: last.priority,
  }
}

/** The state of a message for a recipient, without its history. */
export type BriefReceipt = Pick<Receipt, 'owner' | 'box' | 'state'>
export type ThreadMessage = StoredMessage & { receipts: BriefReceipt[] }

export const threadWithReceipts = (source: Source, id: string): ThreadMessage[] =>
  thread(source, id).map((message) => ({ ...message, receipts: briefReceipts(source, message) }))

/** A group's own row only says that the mail is there; once somebody has read it, the readers' rows say more. */
function briefReceipts(source: Source, { seq, to }: StoredMessage): BriefReceipt[] {
  const all = receiptsOf(source, seq).map(({ owner, box, state }) => ({ owner, box, state }))
  const read = all.some(({ owner }) => !isGroupBox(owner))
  return all.filter(({ owner }) => !isGroupBox(owner) || !read || boxesTo(to).length > 1)
}
