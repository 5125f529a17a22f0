import { expect, it } from 'vitest'
import { ServerClock } from '../../src/journal/postgres/clock.ts'

const ahead = 5_000

/** What the clock is off by after these answers: each was asked and answered, and the server read its clock, at a time. */
function offBy(answers: readonly { asked: number; read: number; answered: number }[]): number {
  const clock = new ServerClock()
  for (const { asked, read, answered } of answers) clock.learn(read + ahead, asked, answered)
  return Math.abs(clock.now() - (performance.now() + ahead))
}

it('an answer that waited for a lock for seconds does not move the clock, however old the last good one is', () => {
  const good = { asked: 0, read: 1, answered: 2 }
  const late = { asked: 61_000, read: 64_000, answered: 64_001 }
  expect(offBy([good, late])).toBeLessThan(100)
})

it('a clock of the server that was set is followed', () => {
  const clock = new ServerClock()
  clock.learn(1_000_000, 0, 2)
  clock.learn(2_000_000, 1_000, 1_002)
  expect(Math.abs(clock.now() - (performance.now() + 1_999_000))).toBeLessThan(100)
})
