import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import {
  isoTime,
  maxLifeMs,
  monthOf,
  parseDuration,
  parseTime,
  readMoment,
  toDuration,
} from '../../src/model/time.ts'

const refusal = { code: 'invalid', hint: expect.stringMatching(/\S/) }

function refused(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(MailboxError)
    expect(error).toMatchObject(refusal)
    return
  }
  expect.unreachable('it was accepted')
}

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['0s', 0],
    ['0', 0],
    ['1500', 1_500],
    [' 5s ', 5_000],
    ['3660d', maxLifeMs],
  ])('%j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each([
    [''],
    ['s'],
    ['-5s'],
    ['+5s'],
    ['1.5h'],
    ['5 s'],
    ['5S'],
    ['5y'],
    ['1e3s'],
    ['5s5s'],
    ['3661d'],
    ['999999999w'],
    ['99999999999999999999s'],
    ['٥s'],
    ['5s\0'],
  ])('%j is refused, with a hint', (text) => {
    refused(() => parseDuration(text))
  })

  test('a duration is never absurd', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,12}(ms|s|m|h|d|w)$/)), (text) => {
        let ms: number
        try {
          ms = parseDuration(text)
        } catch {
          return
        }
        expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= maxLifeMs).toBe(true)
      }),
    )
  })
})

describe('dates', () => {
  test.each([
    ['2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['2026-11-15T09:30:00Z', '2026-11-15T09:30:00.000Z'],
    ['2026-11-15T09:30:00.250Z', '2026-11-15T09:30:00.250Z'],
    ['2026-11-15T09:30:00+02:00', '2026-11-15T07:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-11-15T09:30', new Date('2026-11-15T09:30').toISOString()],
  ])('%s', (text, iso) => {
    expect(isoTime(parseTime(text))).toBe(iso)
  })

  test.each([
    [''],
    ['yesterday'],
    ['15.11.2026'],
    ['2026-13-01'],
    ['2026-00-10'],
    ['2026-11-32'],
    ['2026-11-15T25:00:00Z'],
    ['2026-11-15T09:61:00Z'],
    ['2026-11-15T'],
    ['2026-11-15T...'],
    ['+275760-09-14'],
    ['20261115'],
    ['x2026-11-15'],
    ['2026-11-15x'],
    [' 2026-11-15'],
    ['2026-11-15 '],
    ['1763200000000'],
  ])('%j is refused, with a hint', (text) => {
    refused(() => parseTime(text))
  })

  test.each([['2026-02-30'], ['2026-02-31'], ['2026-04-31'], ['2025-02-29'], ['2026-02-31T10:00:00Z']])(
    '%s is a day that no calendar has: refused',
    (text) => {
      refused(() => parseTime(text))
    },
  )

  test('every instant we write can be read', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(parseTime(isoTime(date.getTime()))).toBe(date.getTime())
      }),
    )
  })
})

test('what is refused is repeated, as far as it is short', () => {
  const long = 'x'.repeat(100)
  expect(() => parseDuration('5y')).toThrow('"5y" is not a duration')
  expect(() => parseDuration(long)).toThrow(`"${'x'.repeat(40)}" is not a duration`)
  expect(() => parseTime('5y')).toThrow('"5y" is not a date')
  expect(() => parseTime(long)).toThrow(`"${'x'.repeat(40)}" is not a date`)
})

test('times are written the same, however many there were before', () => {
  for (let n = 0; n < 200; n++) expect(isoTime(n * 1_000)).toBe(new Date(n * 1_000).toISOString())
  for (let n = 0; n < 200; n++) expect(isoTime(n * 1_000)).toBe(new Date(n * 1_000).toISOString())
})

test('a time is in its month', () => {
  expect(monthOf('2026-11-15T09:30:00.000Z')).toBe('2026-11')
})

test('a duration is written as short as it can be', () => {
  const written = [
    0,
    1,
    1_500,
    90_000,
    60_000,
    3_600_000,
    5_400_000,
    86_400_000,
    2 * 86_400_000,
    604_800_000,
    90_061_001,
  ]
  expect(written.map(toDuration)).toEqual([
    ...['0', '1ms', '1500ms', '90s', '1m', '1h', '90m', '24h', '2d', '7d', '90061001ms'],
  ])
  for (const ms of written) expect(parseDuration(toDuration(ms))).toBe(ms)
  expect(toDuration(0.5)).toBe('0.5ms')
})

test('a moment is a date, or how long ago it was', () => {
  const now = Date.parse('2026-11-15T09:30:00Z')
  expect(readMoment('24h', now)).toBe(now - 86_400_000)
  expect(readMoment('15m', now)).toBe(now - 900_000)
  expect(readMoment('250ms', now)).toBe(now - 250)
  expect(readMoment('2w', now)).toBe(now - 14 * 86_400_000)
  expect(readMoment('2026-11-01', now)).toBe(Date.parse('2026-11-01'))
  for (const bad of ['', '15', '5y', 'x5m', '5mx', 'soon', '-5m', '5 m']) refused(() => readMoment(bad, now))
  expect(() => readMoment('x'.repeat(100), now)).toThrow(`"${'x'.repeat(40)}" is not a date`)
})
