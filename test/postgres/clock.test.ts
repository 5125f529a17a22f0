import { expect, it, onTestFinished } from 'vitest'
import { ServerClock } from '../../src/journal/postgres/clock.ts'

const ahead = 5_000

/** The steady clock of this process, as the test sets it. */
function steady() {
  const real = performance.now
  onTestFinished(() => void Object.assign(performance, { now: real }))
  const at = { ms: 0 }
  performance.now = () => at.ms
  return at
}

/** A clock that was told by these answers: each was asked and answered, and the server read its clock, at a time. */
function told(answers: readonly { asked: number; read: number; answered: number }[], at: { ms: number }) {
  const clock = new ServerClock()
  for (const { asked, read, answered } of answers) {
    clock.learn(read + ahead, asked, answered)
    at.ms = answered
  }
  return clock
}

it('before the first answer it is the wall clock', () => {
  const before = Date.now()
  const found = new ServerClock().now()
  expect(found).toBeGreaterThanOrEqual(before)
  expect(found).toBeLessThanOrEqual(Date.now())
})

it('it is that of the server, carried on by the clock of this process, in whole milliseconds', () => {
  const at = steady()
  const clock = told([{ asked: 0, read: 1, answered: 2 }], at)
  at.ms = 70_000.9
  expect(clock.now()).toBe(75_000)
})

it('an answer says no more than that the server read its clock between the question and the answer', () => {
  const at = steady()
  // The middle of what is possible.
  expect(told([{ asked: 0, read: 0, answered: 100 }], at).now()).toBe(5_050)
  // A second one leaves less open, whichever end of it is nearer.
  const answers = [
    { asked: 0, read: 0, answered: 100 },
    { asked: 100, read: 140, answered: 180 },
  ]
  expect(Math.abs(told(answers, at).now() - 5_160)).toBeLessThan(2)
  expect(Math.abs(told(answers.toReversed(), at).now() - 5_080)).toBeLessThan(2)
})

it('an answer that waited for a lock for seconds does not move the clock, however old the last good one is', () => {
  const at = steady()
  const good = { asked: 0, read: 1, answered: 2 }
  const late = { asked: 61_000, read: 64_000, answered: 64_001 }
  expect(Math.abs(told([good, late], at).now() - 69_001)).toBeLessThan(100)
})

it('clocks that drift apart are followed: what was known long ago counts for less', () => {
  const at = steady()
  const clock = new ServerClock()
  for (let n = 0; n < 100; n++) {
    // The clock of the server is slower by half a thousandth.
    clock.learn(ahead + n * 1_000 * 0.9995, n * 1_000 - 1, n * 1_000 + 1)
    at.ms = n * 1_000 + 1
    expect(Math.abs(clock.now() - (ahead + n * 1_000 * 0.9995))).toBeLessThan(5)
  }
})

it('a good answer counts for less the longer ago it was, by a thousandth', () => {
  const at = steady()
  /** The difference of the clocks, after answers that leave this much open. */
  const difference = (...answers: [ms: number, low: number, high: number][]) => {
    const clock = new ServerClock()
    for (const [ms, low, high] of answers) {
      clock.learn(ms + low, ms - (high - low), ms)
      at.ms = ms
    }
    return clock.now() - at.ms
  }
  expect(difference([0, 5_000, 5_000], [10_000, 4_900, 5_600])).toBe(5_000)
  expect(difference([0, 5_000, 5_000], [1_000_000, 4_900, 5_600])).toBe(5_250)
  expect(difference([0, 5_000, 5_000], [1_000_000, 5_000, 5_000], [1_000_100, 4_900, 5_600])).toBe(5_000)
  // One that was asked for before and comes later makes it no older.
  expect(difference([1_000_000, 5_000, 5_000], [500, 4_900, 5_600], [1_000_100, 4_900, 5_600]) - 5_000).toBe(
    0,
  )
})

it('a clock of the server that was set is followed, whichever way', () => {
  const at = steady()
  const clock = new ServerClock()
  clock.learn(1_000_000, 0, 2)
  clock.learn(2_000_000, 1_000, 1_002)
  at.ms = 1_002
  expect(Math.abs(clock.now() - 2_000_001)).toBeLessThan(3)
  clock.learn(1_500_000, 2_000, 2_002)
  at.ms = 2_002
  expect(Math.abs(clock.now() - 1_500_001)).toBeLessThan(3)
})

it('it does not go back by less than a jump', () => {
  const at = steady()
  const clock = new ServerClock()
  clock.learn(1_000_000, 0, 0)
  expect(clock.now()).toBe(1_000_000)
  clock.learn(999_800, 100, 100)
  at.ms = 100
  expect(clock.now()).toBe(1_000_000)
  at.ms = 299
  expect(clock.now()).toBe(1_000_000)
  at.ms = 301
  expect(clock.now()).toBe(1_000_001)
  // Exactly a jump is one.
  clock.learn(999_501, 301, 301)
  expect(clock.now()).toBe(999_501)
})

it('has no doubt of itself', () => {
  expect(new ServerClock().now.doubt?.()).toBeUndefined()
})
