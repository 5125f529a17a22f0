import type { Saying } from '../../../src/conversation/conversation.ts'
import { parseDuration } from '../../../src/model/time.ts'
import type { StoredMessage } from '../data/types.ts'
import { parseRecipients } from '../lib/address.ts'
import type { Draft } from '../lib/drafts.ts'
import { linesOf, sayTemplate, templateOf } from '../lib/templates.ts'
import { subjectOf } from '../lib/text.ts'
import { MessageCard } from './message-card.tsx'

/** What a draft says, without what only the hub needs. */
function contentOf(draft: Draft, isReply: boolean) {
  const { subject, body, type, priority } = draft
  const template = isReply ? undefined : templateOf(draft.template)
  const to = parseRecipients(draft.to)
  const said: Partial<Saying> = template === undefined ? {} : sayTemplate(template, { ...draft, to })
  const content = { ...(!isReply && { subject, type }), body, priority, ...said }
  const attachments = [...new Set([...(content.attachments ?? []), ...linesOf(draft.attachments)])]
  return { ...content, to, attachments, tags: parseRecipients(draft.tags) }
}

/** The input of `send` or `reply`. Fails when a duration is none. */
export function inputOf(draft: Draft, replyTo: string | undefined, replyType: string | undefined): object {
  const { requiresAck, awaitingResponse, key, life, sendAt } = draft
  const { tags, attachments, ...content } = contentOf(draft, replyTo !== undefined)
  return {
    ...(replyTo !== undefined && { id: replyTo, ...(replyType && { type: replyType, payload: {} }) }),
    ...{ ...content, key },
    ...(requiresAck && { requiresAck }),
    ...(awaitingResponse && { awaitingResponse }),
    ...(tags.length > 0 && { tags }),
    ...(attachments.length > 0 && { attachments }),
    ...(sendAt !== '' && { at: new Date(sendAt).toISOString() }),
    ...(life !== '' && { ttlMs: life === 'never' ? null : parseDuration(life) }),
  }
}

export interface PreviewProps {
  draft: Draft
  replyType: string | undefined
  isReply: boolean
}

/** The message as its recipients will see it in the console. */
export function Preview({ draft, replyType, isReply }: PreviewProps) {
  const { requiresAck, awaitingResponse } = draft
  let content: ReturnType<typeof contentOf>
  try {
    content = contentOf(draft, isReply)
  } catch (error) {
    return <p class="problem">{(error as Error).message}</p>
  }
  const message = {
    ...{
      id: 'preview',
      threadId: 'preview',
      from: 'user',
      seq: 0,
      createdAt: new Date(draft.sendAt || Date.now()).toISOString(),
    },
    ...{ subject: '', type: replyType ?? 'text', requiresAck, awaitingResponse, ...content },
  } as unknown as StoredMessage
  return (
    <section class="composer-preview" aria-label="Preview" tabIndex={0}>
      {!isReply && <h3>{subjectOf(message.subject)}</h3>}
      <MessageCard message={message} receipts={[]} isPlain isPreview onReply={() => {}} />
    </section>
  )
}
