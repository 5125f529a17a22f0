import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createIdSource } from '../../src/model/id.ts'

const v7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** An id source whose clock gives these times one after the other, and then the last for ever. */
function sourceAt(times: readonly number[]): () => string {
  let at = 0
  return createIdSource(() => times[Math.min(at++, times.length - 1)]!)
}

function isRising(ids: readonly string[]): boolean {
  return ids.every((id, at) => at === 0 || ids[at - 1]! < id)
}

describe('ids', () => {
  test('are UUIDs of version 7', () => {
    const newId = createIdSource(Date.now)
    for (let n = 0; n < 1_000; n++) expect(newId()).toMatch(v7)
  })

  test('begin with their time', () => {
    const ms = Date.parse('2026-11-15T09:30:00.123Z')
    expect(timeOf(createIdSource(() => ms)())).toBe(ms)
  })

  test('rise within one millisecond, however many there are', () => {
    const newId = createIdSource(() => 1_700_000_000_000)
    const ids = Array.from({ length: 20_000 }, newId)
    expect(isRising(ids)).toBe(true)
    expect(ids.every((id) => v7.test(id))).toBe(true)
  })

  test('rise when the clock steps back', () => {
    const day = 86_400_000
    const ids = Array.from({ length: 4 }, sourceAt([10 * day, 9 * day, 0, 10 * day + 1]))
    expect(isRising(ids)).toBe(true)
  })

  test('rise whatever the clock does', () => {
    const clock = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 200 })
    fc.assert(
      fc.property(clock, (offsets) => {
        const newId = sourceAt(offsets.map((offset) => 1_700_000_000_000 + offset))
        const ids = offsets.map(newId)
        expect(isRising(ids)).toBe(true)
        expect(ids.every((id) => v7.test(id))).toBe(true)
      }),
    )
  })

  test('count on within a millisecond, and borrow the next one when the counter is full', () => {
    let fills = 0
    const newId = createIdSource(
      () => 5_000,
      (pool) => {
        fills++
        pool.fill(0)
      },
    )
    const ids = Array.from({ length: 4_098 }, newId)
    const placeOf = (id: string) => [timeOf(id), Number.parseInt(id.slice(15, 18), 16)]
    expect([0, 1, 4_094, 4_095, 4_096, 4_097].map((at) => placeOf(ids[at]!))).toEqual([
      ...[
        [5_000, 0],
        [5_000, 1],
        [5_000, 4_094],
        [5_000, 4_095],
        [5_001, 0],
        [5_001, 1],
      ],
    ])
    // Randomness is drawn for 128 ids at a time.
    expect(fills).toBe(33)
  })

  test('of two processes at the same instant differ', () => {
    const [one, other] = [createIdSource(() => 5_000), createIdSource(() => 5_000)]
    const ids = Array.from({ length: 1_000 }, () => [one(), other()]).flat()
    expect(new Set(ids).size).toBe(ids.length)
  })
})
