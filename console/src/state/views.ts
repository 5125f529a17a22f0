import { act, get } from '../data/api.ts'
import { Resource } from '../data/resource.ts'
import { perform } from './act.ts'

/** A search that the person has saved, and how many messages it finds. */
export interface SavedView {
  name: string
  query: string
  total: number
  isMore: boolean
}

/** Every view is a search, so they are counted at most every few seconds. */
export const views = new Resource<SavedView[]>({
  restMs: 5_000,
  load: async (_, signal) => (await get<{ views: SavedView[] }>('/api/views', {}, signal)).views,
  apply: (data, entries) => ({
    data,
    stale: data.length > 0 && entries.some(({ kind }) => kind === 'message'),
  }),
})

/** Saves a search under a name; without a query, removes it. */
export async function saveView(name: string, query: string | null): Promise<boolean> {
  const done = query === null ? `Removed ${name}` : `Saved as ${name}`
  const isSaved = await perform(`view ${name}`, done, () => act('save-view', { name, query }))
  if (isSaved) await views.reload()
  return isSaved
}
