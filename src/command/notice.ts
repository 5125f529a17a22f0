import type { Letter, View } from '../conversation/view.ts'
import { systemAgent } from '../model/agent.ts'
import type { MessageDraft } from '../model/entry.ts'
import type { Message, Priority } from '../model/message.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'

/** How long a notice from the system lives unread. */
const noticeLifeMs = 24 * 3_600_000
const idsListed = 20
/** Older mail gets no notices: it was imported, or its space was not in use. */
const oldNewsMs = 30 * 24 * 3_600_000

/** A notice from the system, as an ordinary message. */
export function notice(
  { now, newId }: Context,
  fields: Pick<Message, 'to' | 'type' | 'subject' | 'body'> & {
    about?: Message
    priority?: Priority
    payload?: Message['payload']
  },
): MessageDraft {
  const { about, priority = 'normal', payload, to, type, subject, body } = fields
  const id = newId()
  const message: Message = {
    id,
    from: systemAgent,
    to,
    type,
    priority,
    createdAt: isoTime(now),
    threadId: about?.threadId ?? id,
    ...(about === undefined ? {} : { replyTo: about.id }),
    expiresAt: isoTime(now + noticeLifeMs),
    requiresAck: false,
    awaitingResponse: false,
    tags: [],
    attachments: [],
    subject: subject.slice(0, 500),
    ...(payload === undefined ? {} : { payload }),
    body,
  }
  return { kind: 'message', message }
}

/** A letter that cannot be delivered, and why. */
export interface Undelivered {
  letter: Letter
  reason: string
}

/** Notifies each sender once of all its undeliverable letters; the system's own are dropped. */
export function bounces(view: View, letters: readonly Undelivered[], context: Context): MessageDraft[] {
  const bySender = new Map<string, { message: Message; recipient: string; reason: string }[]>()
  for (const { letter, reason } of letters) {
    const message = view.text(letter.seq)
    if (message.from === systemAgent || context.now - Date.parse(message.createdAt) > oldNewsMs) continue
    const known = bySender.get(message.from) ?? []
    known.push({ message, recipient: letter.owner, reason })
    bySender.set(message.from, known)
  }
  return [...bySender].map(([sender, found]) => {
    const [{ message: about, recipient, reason }] = found as [(typeof found)[number]]
    const lines = found
      .slice(0, idsListed)
      .map((one) => `- ${one.message.id} to ${one.recipient}: ${one.reason}`)
    const more = found.length > idsListed ? [`- and ${found.length - idsListed} more: mailbox dead`] : []
    const id = found.length === 1 ? about.id : 'ID'
    const hint = `To send it to someone else: mailbox dead --resend ${id} --to ADDRESS`
    return notice(context, {
      to: [sender],
      type: 'error',
      subject:
        found.length === 1
          ? `Not delivered to ${recipient}: ${about.subject || '(no subject)'}`
          : `${found.length} messages were not delivered`,
      body: found.length === 1 ? `${sentence(reason)}\n\n${hint}` : [...lines, ...more, '', hint].join('\n'),
      ...(found.length === 1 ? { about } : {}),
      payload: {
        undelivered: found
          .slice(0, 500)
          .map((one) => ({ id: one.message.id, to: one.recipient, reason: one.reason })),
      },
    })
  })
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
