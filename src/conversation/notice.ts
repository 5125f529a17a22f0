import type { Message } from '../model/message.ts'
import { fieldsOf } from './field.ts'

/**
 * Why the system tells somebody about mail. Each is true only for a while: `unread` until the mail is read, `ack`
 * until it is acknowledged, `answer` and `deadline` until the matter is settled, `undelivered` until its recipient is
 * back and has it, `waiting` until then or until it is given up, `ended` (who read it is gone and has not settled it)
 * until it is back.
 */
export type NoticeKind = 'unread' | 'ack' | 'answer' | 'deadline' | 'undelivered' | 'waiting' | 'ended'

/** One message that a notice is about, and whose copy of it. */
export interface NoticeItem {
  id: string
  /** The address whose copy it is. */
  to: string
  kind: NoticeKind
  reason: string
}

/** The payload of a notice. One to the person can have several kinds of items. */
export interface NoticePayload {
  notice: NoticeKind | 'several'
  about: readonly NoticeItem[]
}

/** What a notice says, if the message is one. */
export function noticeOf({ payload }: Pick<Message, 'payload'>): NoticePayload | undefined {
  const { notice, about } = fieldsOf(payload)
  return typeof notice === 'string' && Array.isArray(about) ? (fieldsOf(payload) as never) : undefined
}

/** The ids of the messages that a message of the system is about. */
export const aboutOf = (message: Pick<Message, 'payload'>): string[] =>
  (noticeOf(message)?.about ?? []).flatMap(({ id }) => (typeof id === 'string' ? id : []))
