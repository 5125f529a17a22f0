/**
 * Durations are counted in exponential buckets, sixteen per doubling, so that a percentile is off by at most
 * 5 %, however long the history is.
 */
const perDoubling = 16

export const bucketOf = (ms: number): number =>
  ms < 1 ? 0 : 1 + Math.floor(Math.log2(Math.min(ms, 1e12)) * perDoubling)

/** The middle of a bucket, in ms. */
export const middleOf = (bucket: number): number => (bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / perDoubling))

/** The smallest duration that at least this share does not exceed; null without data. */
export function percentile(counts: readonly { bucket: number; n: number }[], share: number): number | null {
  const all = counts.reduce((sum, { n }) => sum + n, 0)
  if (all === 0) return null
  let left = Math.ceil(all * share)
  for (const { bucket, n } of counts.toSorted((a, b) => a.bucket - b.bucket)) {
    left -= n
    if (left <= 0) return Math.round(middleOf(bucket))
  }
  return null
}
