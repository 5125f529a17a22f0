import { act } from '../data/api.ts'
import { Resource } from '../data/resource.ts'
import type { Entry, StoredMessage } from '../data/types.ts'
import { parseRecipients } from '../lib/address.ts'
import { emptyDraft, newKey, writeDraft } from '../lib/drafts.ts'
import { perform } from './act.ts'

const moves = (entry: Entry): boolean =>
  entry.kind === 'scheduled' ||
  entry.kind === 'unscheduled' ||
  (entry.kind === 'message' && entry.scheduledAt !== undefined)

/** What the person has written to be sent later. */
export const scheduled = new Resource<StoredMessage[]>({
  load: async () => (await act<{ messages: StoredMessage[] }>('scheduled')).messages,
  apply: (data, entries) => ({ data, stale: entries.some(moves) }),
})

/** Takes a message back before it is sent. What it says goes on as a draft. */
export async function takeBack(message: StoredMessage): Promise<boolean> {
  const { id, to, subject, body, type, priority, requiresAck, awaitingResponse, tags, attachments } = message
  const isTaken = await perform(`withdraw ${id}`, 'It is a draft again', () => act('withdraw', { id }))
  if (!isTaken) return false
  const { replyTo, threadId } = message
  const place = replyTo === undefined ? `new.${newKey()}` : `thread.${threadId}`
  writeDraft(place, {
    ...{ ...emptyDraft(), to: parseRecipients(to.join(', ')).join(', '), subject, body, type, priority },
    ...{ requiresAck, awaitingResponse, tags: tags.join(', '), attachments: attachments.join('\n') },
    ...{ at: Date.now(), ...(replyTo !== undefined && { replyTo }) },
  })
  await scheduled.refresh()
  return true
}
