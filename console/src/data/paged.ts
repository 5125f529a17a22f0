import type { ResourceOptions } from './resource.ts'
import type { Entry } from './types.ts'

/** A list that is loaded page by page, newest first. */
export interface Paged<T> {
  items: T[]
  next: string | null
  /** The list was cut off at the limit. */
  isFull: boolean
}

/** More rows than anybody scrolls through; beyond that the page only uses more memory. */
const mostRows = 20_000

export interface PagedOptions<T> {
  page: (after: string | undefined, signal?: AbortSignal) => Promise<{ items: T[]; next: string | null }>
  idOf: (item: T) => string
  apply?: (items: T[], entries: readonly Entry[]) => { items: T[]; stale: boolean }
}

/** A refresh loads only the first page and keeps the rows after it. */
export function pagedOptions<T>({ page, idOf, apply }: PagedOptions<T>): ResourceOptions<Paged<T>> {
  return {
    load: async (known, signal) => {
      const first = await page(undefined, signal)
      if (known === undefined || first.next === null) return { ...first, isFull: false }
      const fresh = new Set(first.items.map(idOf))
      const behind = known.items.filter((item) => !fresh.has(idOf(item)))
      // Without any overlap there may be a gap between the two: start over.
      if (behind.length === known.items.length) return { ...first, isFull: false }
      return { items: [...first.items, ...behind], next: known.next, isFull: known.isFull }
    },
    ...(apply && {
      apply: (data, entries) => {
        const { items, stale } = apply(data.items, entries)
        return { data: items === data.items ? data : { ...data, items }, stale }
      },
    }),
  }
}

export async function nextPage<T>(data: Paged<T>, { page, idOf }: PagedOptions<T>): Promise<Paged<T>> {
  if (data.next === null || data.isFull) return data
  const more = await page(data.next)
  const known = new Set(data.items.map(idOf))
  const items = [...data.items, ...more.items.filter((item) => !known.has(idOf(item)))]
  return { items, next: more.next, isFull: items.length >= mostRows && more.next !== null }
}
