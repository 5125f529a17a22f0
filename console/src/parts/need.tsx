import { needs } from '../../../src/conversation/registry.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { clockTime, since } from '../lib/time.ts'

export const kindName = (kind: string): string => needs.get(kind) ?? kind

/** What of its deadline matters: that it is over, or when it is. How long it has waited is in the time of the row. */
export function Waited({ item: { until, snoozedUntil } }: { item: NeedsYouItem }) {
  if (snoozedUntil !== undefined) return <span class="number">until {clockTime(snoozedUntil)}</span>
  if (until === undefined) return null
  const isOver = Date.parse(until) < Date.now()
  return isOver ? (
    <span class="chip bad number">overdue {since(until)}</span>
  ) : (
    <span class="number">due {clockTime(until)}</span>
  )
}
