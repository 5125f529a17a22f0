import type { Bucket, BucketKey } from './types.ts'

/** One bar of the sparkline: its position on the slider, its height and its time. */
export interface Bar {
  from: number
  to: number
  height: number
  at: number
}

/**
 * Places each bar where its entries are. The slider is linear in entries, so a busy hour is wide and high, and
 * a quiet night takes almost no space. All values are between 0 and 1.
 */
export function barsOf(buckets: readonly Bucket[], key: BucketKey): Bar[] {
  const counts = buckets.map((bucket) => Number(bucket[key] ?? 0))
  const sum = counts.reduce((total, count) => total + count, 0)
  const most = Math.max(0, ...counts)
  if (sum === 0) return []
  let from = 0
  return buckets.map(({ at }, index) => {
    const to = from + counts[index]! / sum
    const bar = { from, to, height: counts[index]! / most, at: Date.parse(at) }
    from = to
    return bar
  })
}

/** The approximate time of the entry at this share of the history. */
export function timeAt(share: number, bars: readonly Bar[], firstAt: number, lastAt: number): number {
  const at = bars.findIndex((bar) => share < bar.to)
  const bar = bars[at]
  if (bar === undefined) return firstAt + share * (lastAt - firstAt)
  const end = bars[at + 1]?.at ?? lastAt
  const within = (share - bar.from) / (bar.to - bar.from)
  return Math.min(lastAt, Math.max(firstAt, bar.at + within * (end - bar.at)))
}
