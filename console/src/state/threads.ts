import { previewOf } from '../../../src/conversation/words.ts'
import { boxOfTag, hasTag } from '../../../src/model/address.ts'
import { get } from '../data/api.ts'
import type { PagedOptions } from '../data/paged.ts'
import type { Entry, ThreadSummary } from '../data/types.ts'

export interface ThreadFilter {
  tag?: string
  agent?: string
}

const pageSize = 100

export const threadPages = (filter: ThreadFilter): PagedOptions<ThreadSummary> => ({
  page: async (after, signal) => {
    const { threads, next } = await get<{ threads: ThreadSummary[]; next: string | null }>(
      '/api/threads',
      { ...filter, after, limit: pageSize },
      signal,
    )
    return { items: threads, next }
  },
  idOf: ({ id }) => id,
  apply: (items, entries) => {
    let stale = false
    const known = new Map(items.map((thread) => [thread.id, thread]))
    const touched = new Map<string, ThreadSummary>()
    for (const entry of entries) {
      if (entry.kind !== 'message') continue
      const thread = touched.get(entry.message.threadId) ?? known.get(entry.message.threadId)
      if (thread !== undefined && isKnown(thread, entry)) continue
      if (thread !== undefined) touched.set(thread.id, grown(thread, entry))
      else if (fits(entry, filter)) {
        // A new thread starts with this message. Only the hub knows the start of an older one.
        if (entry.message.threadId === entry.message.id) touched.set(entry.message.id, begun(entry))
        else stale = true
      }
    }
    if (touched.size === 0) return { items, stale }
    const rest = items.filter(({ id }) => !touched.has(id))
    return { items: [...[...touched.values()].reverse(), ...rest], stale }
  },
})

type MessageEntry = Extract<Entry, { kind: 'message' }>

/** The list already includes this message, although the stream delivers it only now. */
const isKnown = ({ lastSeq }: ThreadSummary, { seq }: MessageEntry): boolean => seq <= lastSeq

const peopleOf = ({ message }: MessageEntry): string[] => [message.from, ...message.to]

function fits(entry: MessageEntry, { tag, agent }: ThreadFilter): boolean {
  const { tags, to } = entry.message
  if (tag !== undefined && !hasTag({ tags, to }, tag)) return false
  return agent === undefined || peopleOf(entry).includes(agent)
}

function begun(entry: MessageEntry): ThreadSummary {
  const { id, subject, tags, createdAt, from, type, priority } = entry.message
  return {
    ...{ id, subject, messages: 1, participants: peopleOf(entry), tags: tags.map(boxOfTag), priority },
    ...{ firstAt: createdAt, lastAt: createdAt, lastFrom: from, lastType: type },
    ...{ lastSeq: entry.seq, preview: previewOf(entry.message) },
  }
}

function grown(thread: ThreadSummary, entry: MessageEntry): ThreadSummary {
  const { tags, createdAt, from, type, priority } = entry.message
  return {
    ...thread,
    messages: thread.messages + 1,
    participants: [...new Set([...thread.participants, ...peopleOf(entry)])],
    tags: [...new Set([...thread.tags, ...tags.map(boxOfTag)])],
    ...{ lastAt: createdAt, lastFrom: from, lastType: type, priority },
    ...{ lastSeq: entry.seq, preview: previewOf(entry.message) },
  }
}
