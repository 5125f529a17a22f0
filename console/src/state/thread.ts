import { get } from '../data/api.ts'
import type { ResourceOptions } from '../data/resource.ts'
import type { Entry, ShownMessage, ThreadMessage } from '../data/types.ts'
import { boxOf } from '../lib/address.ts'
import { segment } from '../lib/route.ts'

export type ThreadData = ThreadMessage[]

export const threadOptions = (id: string): ResourceOptions<ThreadData> => ({
  load: async (_, signal) =>
    (await get<{ messages: ThreadMessage[] }>(`/api/threads/${segment(id)}`, {}, signal)).messages,
  apply: (messages, entries) => {
    const threadId = messages[0]?.threadId ?? id
    return {
      data: entries.reduce((data, entry) => applyToThread(data, threadId, entry), messages),
      stale: false,
    }
  },
})

function applyToThread(messages: ThreadData, threadId: string, entry: Entry): ThreadData {
  if (entry.kind === 'message') {
    const { message, seq } = entry
    if (message.threadId !== threadId || messages.some(({ id }) => id === message.id)) return messages
    const receipts = [...new Set(message.to.map(boxOf))].map((box) => ({
      owner: box,
      box,
      state: 'stored' as const,
    }))
    return [...messages, { ...message, seq, receipts }]
  }
  if (entry.kind !== 'receipt') return messages
  const changes = entry.changes.filter((change) => messages.some(({ id }) => id === change.id))
  if (changes.length === 0) return messages
  return messages.map((message) => {
    const own = changes.filter(({ id }) => id === message.id)
    if (own.length === 0) return message
    const moved = new Map(own.map(({ owner, box, state }) => [owner, { owner, box, state }]))
    const rest = message.receipts.filter(({ owner }) => !moved.has(owner))
    return { ...message, receipts: [...rest, ...moved.values()] }
  })
}

/** One message with the full delivery history of each recipient. */
export const messageOptions = (id: string): ResourceOptions<ShownMessage> => ({
  load: (_, signal) => get<ShownMessage>(`/api/messages/${segment(id)}`, {}, signal),
  apply: (data, entries) => ({
    data,
    stale: entries.some(
      (entry) => entry.kind === 'receipt' && entry.changes.some((change) => change.id === data.message.id),
    ),
  }),
})
