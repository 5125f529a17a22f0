import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bucketOf, middleOf, percentile } from '../../src/model/latency.ts'

/** Durations as they come: most of them short, some of days. */
const durations = fc.array(
  fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 60_000 }), fc.nat({ max: 30 * 86_400_000 })),
  { minLength: 1, maxLength: 400 },
)
const share = fc.constantFrom(0.5, 0.95, 0.99, 1)

const countsOf = (values: readonly number[]) => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1)
  return [...counts].map(([bucket, n]) => ({ bucket, n }))
}

describe('percentiles from counts', () => {
  test('are off by at most 5 %, and by half a millisecond of rounding', () => {
    fc.assert(
      fc.property(durations, share, (values, part) => {
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1]!
        const found = percentile(countsOf(values), part)!
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.05 * exact + 0.5)
      }),
    )
  })

  test('do not depend on the order of the buckets', () => {
    fc.assert(
      fc.property(durations, share, (values, part) => {
        const counts = countsOf(values)
        expect(percentile(counts.toReversed(), part)).toBe(percentile(counts, part))
      }),
    )
  })

  test('rise with the share', () => {
    fc.assert(
      fc.property(durations, (values) => {
        const found = [0.5, 0.95, 0.99].map((part) => percentile(countsOf(values), part)!)
        expect(found).toEqual(found.toSorted((a, b) => a - b))
      }),
    )
  })

  test('are the same from the sum of two sets of counts as from one', () => {
    fc.assert(
      fc.property(durations, durations, share, (some, others, part) => {
        const apart = [...countsOf(some), ...countsOf(others)]
        expect(percentile(apart, part)).toBe(percentile(countsOf([...some, ...others]), part))
      }),
    )
  })

  test.each<[string, number[], number | null]>([
    ['nothing', [], null],
    ['one', [7], 7],
    ['what took no time', [0, 0, 0], 0],
    ['a clock that went back', [-5], 0],
  ])('of %s', (_, values, expected) => {
    expect(percentile(countsOf(values), 0.5)).toBe(expected)
  })
})

describe('buckets', () => {
  test('rise with what is in them, and hold it within 5 % of their middle', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 1, max: 1e12 }), (a, b) => {
        expect(Math.sign(bucketOf(a) - bucketOf(b)) * Math.sign(a - b)).toBeGreaterThanOrEqual(0)
        expect(Math.abs(middleOf(bucketOf(a)) - a) / a).toBeLessThan(0.05)
      }),
    )
  })

  test('end somewhere, however long it took', () => {
    expect(bucketOf(Number.MAX_SAFE_INTEGER)).toBe(bucketOf(1e12))
    expect(bucketOf(Number.POSITIVE_INFINITY)).toBe(bucketOf(1e12))
  })
})
