import { computed } from '@preact/signals'
import { get } from '../data/api.ts'
import { Resource } from '../data/resource.ts'
import type { Entry, NeedsYouItem, Owed } from '../data/types.ts'

/** An entry that can open or close a request, or bring mail for the person. */
const moves = (entry: Entry): boolean => entry.kind === 'message' || entry.kind === 'receipt'

/** What waits for the person: what asks for something first, by what it frees, priority and age. */
export const needsYou = new Resource<NeedsYouItem[]>({
  load: async (_, signal) => (await get<{ items: NeedsYouItem[] }>('/api/needs-you', {}, signal)).items,
  apply: (data, entries) => {
    const ids = new Set(data.map(({ message }) => message.id))
    const concerns = (entry: Entry): boolean => {
      if (entry.kind === 'message') {
        const { from, to, replyTo } = entry.message
        return (
          from === 'user' ||
          to.some((one) => one === 'user' || one.includes(':') || one === 'all') ||
          ids.has(replyTo ?? '')
        )
      }
      return (
        entry.kind === 'receipt' && entry.changes.some(({ id, owner }) => owner === 'user' || ids.has(id))
      )
    }
    return { data, stale: entries.some(concerns) }
  },
})

/** Whether it asks something of the person now. */
export const isForPerson = ({ section }: NeedsYouItem): boolean =>
  section === 'blocked' || section === 'asked'

/** All open requests between agents. */
export const owed = new Resource<Owed[]>({
  load: async (_, signal) => (await get<{ owed: Owed[] }>('/api/owed', {}, signal)).owed,
  apply: (data, entries) => ({ data, stale: entries.some(moves) }),
})

export const openMatters = computed(() => {
  const found = new Map<string, Owed[]>()
  for (const one of owed.data.value ?? []) found.set(one.id, [...(found.get(one.id) ?? []), one])
  return found
})
