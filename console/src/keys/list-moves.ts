import { signal } from '@preact/signals'
import { go } from '../lib/go.ts'

/** The list that j and k move in: set by the page, used by the keys. */
interface ListItems {
  hrefs: readonly string[]
  current: number
}

export const listItems = signal<ListItems>({ hrefs: [], current: -1 })

export function moveInList(step: 1 | -1): void {
  const { hrefs, current } = listItems.peek()
  const next = current < 0 ? 0 : Math.min(hrefs.length - 1, Math.max(0, current + step))
  const href = hrefs[next]
  if (href !== undefined) go(href, { replace: current >= 0, isListMove: true })
}
