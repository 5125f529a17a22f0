import { signal } from '@preact/signals'
import { go } from '../lib/go.ts'

/** The list one can leaf through with j and k: the page sets it, the keys use it. */
interface Leaves {
  hrefs: readonly string[]
  current: number
}

export const leaves = signal<Leaves>({ hrefs: [], current: -1 })

export function leaf(step: 1 | -1): void {
  const { hrefs, current } = leaves.peek()
  const next = current < 0 ? 0 : Math.min(hrefs.length - 1, Math.max(0, current + step))
  const href = hrefs[next]
  if (href !== undefined) go(href, { replace: current >= 0, leaf: true })
}
