import { expect, test } from 'vitest'
import { RecentIds } from '../../src/model/recent-ids.ts'

test('the last ids are known, however many there were and whenever somebody asks', () => {
  for (const every of [1, 3, 7, 100]) {
    const ids = new RecentIds(5)
    for (let n = 0; n < 60; n++) {
      ids.add(`${n}`)
      if (n % every !== 0) continue
      for (let last = n; last > n - 5 && last >= 0; last--) expect(ids.has(`${last}`)).toBe(true)
    }
    expect(ids.has('59')).toBe(true)
    expect(ids.has('55')).toBe(true)
    expect(ids.has('x')).toBe(false)
  }
})

test('old ids are forgotten, and so are those that nobody asked for', () => {
  const ids = new RecentIds(5)
  for (let n = 0; n < 60; n++) ids.add(`${n}`)
  expect([ids.has('0'), ids.has('40'), ids.has('49')]).toEqual([false, false, false])
  const asked = new RecentIds(5)
  for (let n = 0; n < 60; n++) {
    asked.add(`${n}`)
    asked.has('x')
  }
  expect([asked.has('0'), asked.has('49')]).toEqual([false, false])
})
