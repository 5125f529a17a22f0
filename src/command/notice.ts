import { escalationType } from '../conversation/escalation.ts'
import { type NoticeItem, type NoticeKind, type NoticePayload, noticeOf } from '../conversation/notice.ts'
import type { Letter, View } from '../conversation/view.ts'
import { person, systemAgent } from '../model/agent.ts'
import { type MessageDraft, type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import type { Message, Priority } from '../model/message.ts'
import { escalation } from '../model/receipt.ts'
import type { Encrypted } from '../model/sealed.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'
import { isTrue } from './notice-truth.ts'

const idsListed = 20
const aboutAtMost = 500
/** Older mail gets no notices: its space was not in use. */
const oldNewsMs = 30 * 24 * 3_600_000

interface NoticeFields extends Pick<Message, 'to' | 'type' | 'subject' | 'body'> {
  from?: string
  about?: (Pick<Message, 'id' | 'threadId'> & Encrypted) | undefined
  priority?: Priority
  payload?: Message['payload']
}

/** A message that a decision sends by itself: from the system, unless it speaks for an agent. It lives until it is read. */
export function notice({ now, newId }: Context, fields: NoticeFields): MessageDraft {
  const { from = systemAgent, about, priority = 'normal', payload, to, type, subject, body } = fields
  const id = newId()
  const message: Message = {
    id,
    from,
    to,
    type,
    priority,
    createdAt: isoTime(now),
    threadId: about?.threadId ?? id,
    ...(about === undefined ? {} : { replyTo: about.id }),
    requiresAck: false,
    awaitingResponse: false,
    tags: [],
    attachments: [],
    subject: subject.slice(0, 500),
    ...(payload === undefined ? {} : { payload }),
    body,
  }
  // What an agent says of a message, by itself or not, is as secret as the message.
  const isSecret = from !== systemAgent && about?.encrypted === 'recipients'
  return { kind: 'message', message, ...(isSecret ? { encrypt: true } : {}) }
}

/** A letter that somebody is told of: whom, why, and in the words of the reason. */
export interface Told {
  to: string
  kind: NoticeKind
  letter: Letter
  reason: string
}

/**
 * The notices about letters, without a word of their senders: only names and ids, because whoever reads them takes
 * them for ours. One addressee gets one notice for all that it is told at the same time for the same reason about
 * the same recipient, and the person one for everything. A notice that nobody has read yet is replaced.
 */
export function notices(
  view: View,
  told: readonly Told[],
  context: Context,
  /** Whether the same decision changes a notice in another way. */
  isChanged: (letter: Letter) => boolean = () => false,
): (MessageDraft | ReceiptDraft)[] {
  const groups = new Map<string, Told[]>()
  for (const one of told) {
    const { from, createdAt } = view.text(one.letter.seq)
    const isImported = one.letter.level === escalation.silent
    const isOld = isImported || context.now - Date.parse(createdAt) > oldNewsMs
    if (one.to === systemAgent || isOld || (one.kind === 'undelivered' && from === systemAgent)) continue
    const isOneNotice = one.to === person || one.kind === 'undelivered'
    const key = isOneNotice ? one.to : `${one.to} ${one.kind} ${one.letter.owner}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()].flatMap((group) => noticeAbout(view, group, context, isChanged))
}

function noticeAbout(
  view: View,
  group: readonly Told[],
  context: Context,
  isChanged: (letter: Letter) => boolean,
): (MessageDraft | ReceiptDraft)[] {
  const { to } = group[0]!
  const added = group.map(
    ({ letter: { id, owner }, kind, reason }): NoticeItem => ({ id, to: owner, kind, reason }),
  )
  const earlier =
    isAlike(added) && added[0]!.kind === 'unread' ? findReplaced(view, to, added[0]!, isChanged) : undefined
  const kept = (earlier?.about ?? []).filter(
    (item) => isTrue(view, item) && !added.some(({ id }) => id === item.id),
  )
  const about = [...kept, ...added].slice(0, aboutAtMost)
  const draft = sayNotice(view, to, about, context)
  const replaced = earlier === undefined ? [] : withdrawn([earlier.letter], `replaced by ${draft.message.id}`)
  return [draft, ...replaced]
}

/** The unread notice that tells the same addressee of unread mail of the same recipient. */
function findReplaced(view: View, to: string, like: NoticeItem, isChanged: (letter: Letter) => boolean) {
  for (const letter of view.liveNotices()) {
    if (letter.owner !== to || isChanged(letter)) continue
    const said = noticeOf(view.text(letter.seq))
    if (said !== undefined && isAlike([like, ...said.about])) return { letter, about: said.about }
  }
  return undefined
}

/** For the same reason, and about the same recipient. */
const isAlike = ([first, ...rest]: readonly NoticeItem[]): boolean =>
  rest.every(({ kind, to }) => kind === first?.kind && to === first.to)

const words: Record<
  NoticePayload['notice'],
  { type: string; priority: Priority; one: Say; many: Say; next: Say }
> = {
  unread: {
    ...{ type: escalationType, priority: 'urgent' },
    one: ({ to, from }) => `${to} has not read an urgent message from ${from}`,
    many: ({ to, count }) => `${to} has ${count} unread urgent messages`,
    next: ({ id }) => `See it: mailbox show ${id}`,
  },
  ack: {
    ...{ type: escalationType, priority: 'high' },
    one: ({ to, from }) => `${to} has not acknowledged a message from ${from}`,
    many: ({ to, count }) => `${to} has not acknowledged ${count} messages`,
    next: ({ id }) => `See it: mailbox show ${id}`,
  },
  answer: {
    ...{ type: escalationType, priority: 'high' },
    one: ({ to, from, reason }) => `${from} is waiting for ${to}: ${reason}`,
    many: ({ to, count }) => `${count} messages are waiting for an answer from ${to}`,
    next: ({ id }) => `See it: mailbox show ${id}`,
  },
  deadline: {
    ...{ type: 'notification', priority: 'high' },
    one: ({ to, reason }) => `${to}: ${reason}`,
    many: ({ to, count }) => `${to} has missed ${count} deadlines`,
    next: ({ id }) => `Ask again, or ask somebody else. See it: mailbox show ${id}`,
  },
  undelivered: {
    ...{ type: 'error', priority: 'normal' },
    one: ({ to }) => `Not delivered to ${to}`,
    many: ({ count }) => `${count} messages were not delivered`,
    next: ({ id }) => `To send it to someone else: mailbox dead --resend ${id} --to ADDRESS`,
  },
  waiting: {
    ...{ type: 'notification', priority: 'normal' },
    one: ({ to }) => `Your message is waiting for ${to}, which is not running`,
    many: ({ to, count }) => `${count} of your messages are waiting for ${to}, which is not running`,
    next: ({ id }) => `It is delivered when the agent is back. To follow it: mailbox show ${id}`,
  },
  ended: {
    ...{ type: 'notification', priority: 'normal' },
    one: ({ to }) => `${to} has stopped before it settled your message`,
    many: ({ to, count }) => `${to} has stopped before it settled ${count} of your messages`,
    next: ({ id }) => `See it: mailbox show ${id}`,
  },
  several: {
    ...{ type: escalationType, priority: 'high' },
    one: ({ reason }) => reason,
    many: ({ count }) => `${count} messages need attention`,
    next: ({ id }) => `See one: mailbox show ${id}`,
  },
}

type Say = (about: { to: string; from: string; count: number; reason: string; id: string }) => string

function sayNotice(view: View, to: string, about: readonly NoticeItem[], context: Context): MessageDraft {
  const [first] = about as [NoticeItem]
  const isUniform = about.every(({ kind }) => kind === 'undelivered') || isAlike(about)
  const kind = isUniform ? first.kind : 'several'
  const message = view.text(view.message(first.id)!.seq)
  const { type, priority, one, many, next } = words[kind]
  const undelivered = about.filter((item) => item.kind === 'undelivered').map((item) => ({ ...item }))
  const isOne = about.length === 1
  const facts = { to: first.to, from: message.from, count: about.length, reason: first.reason }
  const lines = about.slice(0, idsListed).map((item) => `- ${item.id} to ${item.to}: ${item.reason}`)
  const more = about.length > idsListed ? [`- and ${about.length - idsListed} more`] : []
  const hint = next({ ...facts, id: isOne ? first.id : 'ID' })
  return notice(context, {
    ...{ to: [to], type, priority },
    subject: (isOne ? one : many)({ ...facts, id: first.id }),
    body: isOne ? `${sayOne(message, first, context)}\n\n${hint}` : [...lines, ...more, '', hint].join('\n'),
    ...(isOne ? { about: message } : {}),
    payload: {
      notice: kind,
      about: about.map((item) => ({ ...item })),
      ...(isOne ? { id: first.id, recipient: first.to, reason: first.reason } : {}),
      ...(type === escalationType ? { level: to === person ? escalation.person : escalation.lead } : {}),
      ...(undelivered.length > 0 ? { undelivered } : {}),
    },
  })
}

function sayOne({ from, createdAt }: Message, { id, to, reason }: NoticeItem, { now }: Context): string {
  const minutes = Math.max(1, Math.round((now - Date.parse(createdAt)) / 60_000))
  return `Message ${id} from ${from} to ${to} was sent ${minutes} min ago: ${reason}.`
}

/** Takes back notices that nobody has read. */
export const withdrawn = (letters: readonly Letter[], note: string): ReceiptDraft[] =>
  receiptDrafts(
    'withdrawn',
    systemAgent,
    letters.map(({ id, seq, rank, owner, box, state }) => ({
      ...{ id, seq, rank, owner, box, was: state },
      state: 'withdrawn' as const,
    })),
    note,
  )
