import { escalationType } from '../conversation/escalation.ts'
import { wordIn } from '../conversation/field.ts'
import { type NoticeItem, noticeOf } from '../conversation/notice.ts'
import { systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { messageBySeq, receiptsOf, type Source, type StoredMessage } from './message.ts'

/** That somebody was told about a message because it needs attention. */
export interface Escalation {
  /** The message that says so. */
  id: string
  /** Who was told, by whom (`system`: it happened by itself), when and why. */
  to: string[]
  by: string
  at: string
  reason: string
}

/** A thread that is longer than this is not searched to its end. */
const atMost = 1_000

/** The escalations of a message, by the system or by an agent, the oldest first. Those that were taken back are not among them. */
export function escalationsOf(source: Source, message: StoredMessage): Escalation[] {
  const { index } = source
  const notices = index.sql('SELECT seq FROM notice WHERE about = ? ORDER BY seq').all<[number]>([message.id])
  const replies = index
    .sql('SELECT seq FROM message WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?')
    .all<[number]>([message.threadId, message.seq, atMost])
  const seqs = new Set([...notices, ...replies].map(([seq]) => seq))
  return [...seqs]
    .sort((a, b) => a - b)
    .map((seq) => messageBySeq(source, seq))
    .filter((one) => one.type === escalationType && isAbout(one, message.id) && !isTakenBack(source, one.seq))
    .map((one) => ({
      ...{ id: one.id, to: one.to, by: one.from, at: one.createdAt },
      reason: reasonOf(one, message.id),
    }))
}

const isAbout = (escalation: Message, id: string): boolean =>
  escalation.replyTo === id || itemAbout(escalation, id) !== undefined

/** What a notice says of a message. Only the system sends notices; in the payloads of others is what they like. */
const itemAbout = (escalation: Message, id: string): NoticeItem | undefined =>
  escalation.from === systemAgent ? noticeOf(escalation)?.about.find((item) => item.id === id) : undefined

const isTakenBack = (source: Source, seq: number): boolean =>
  receiptsOf(source, seq).every(({ state }) => state === 'withdrawn')

const reasonOf = (escalation: Message, id: string): string =>
  (itemAbout(escalation, id)?.reason ?? wordIn(escalation.payload, 'reason') ?? escalation.subject).slice(
    0,
    500,
  )
