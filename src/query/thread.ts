import { MailboxError } from '../base/errors.ts'
import {
  findSeq,
  messageBySeq,
  type PlaceRow,
  readMessage,
  type Source,
  type StoredMessage,
} from './message.ts'
import { type ListOptions, limitOf, type Page, readBefore } from './page.ts'

/** All messages of a thread, by its name or by the id of any message in it; oldest first. */
export function thread(source: Source, id: string): StoredMessage[] {
  const seq = findSeq(source, id)
  const threadId = seq === undefined ? id : messageBySeq(source, seq).threadId
  const rows = source.index
    .sql(
      `SELECT segment, offset, bytes, seq FROM message WHERE thread = ?1
       UNION SELECT segment, offset, bytes, seq FROM message WHERE id = ?1 ORDER BY 4`,
    )
    .all<PlaceRow>([threadId])
  if (rows.length > 0) return rows.map((row) => readMessage(source.journal, row))
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
  const messages = rows.slice(0, limit).map((row) => readMessage(source.journal, row))
  return { messages, next: rows.length > limit ? String(messages.at(-1)!.seq) : null }
}
