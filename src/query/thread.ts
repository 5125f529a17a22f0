import { MailboxError } from '../errors.ts'
import type { Page } from './inbox.ts'
import { findSeq, messageBySeq, readMessage, type Source, type StoredMessage } from './message.ts'

/** All messages of the thread that a message belongs to, or of a thread by its name; oldest first. */
export function thread(source: Source, id: string): StoredMessage[] {
  const seq = findSeq(source, id)
  const threadId = seq === undefined ? id : messageBySeq(source, seq).threadId
  const rows = source.index
    .sql(
      `SELECT segment, offset, bytes, seq FROM message WHERE thread = ?1
       UNION SELECT segment, offset, bytes, seq FROM message WHERE id = ?1 ORDER BY 4`,
    )
    .all([threadId])
  if (rows.length > 0) return rows.map((row) => readMessage(source.journal, row))
  throw new MailboxError('not_found', `there is no message or thread ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}

export interface ListOptions {
  /** @default 50 */
  limit?: number
  after?: string
}

/** What an agent has sent, newest first. */
export function sent(source: Source, agent: string, options: ListOptions): Page<StoredMessage> {
  const limit = Math.max(1, Math.min(options.limit ?? 50, 1_000))
  const before = readBefore(options.after)
  const rows = source.index
    .sql(
      'SELECT segment, offset, bytes, seq FROM message WHERE sender = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
    )
    .all([agent, before, limit + 1])
  const messages = rows.slice(0, limit).map((row) => readMessage(source.journal, row))
  return { messages, next: rows.length > limit ? String(messages.at(-1)!.seq) : null }
}

/** A cursor of a list that runs from the newest back. */
export function readBefore(after: string | undefined): number {
  if (after === undefined) return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(after)) return Number(after)
  throw new MailboxError('invalid', `${JSON.stringify(after)} is not a cursor`, {
    hint: 'pass `next` of the page before',
  })
}
