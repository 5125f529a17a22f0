import { describe, expect, it, test } from 'vitest'
import { isHours, isTimes, isWithinHours, nextStart, nextTime } from '../../src/model/hours.ts'
import { refusal } from '../helpers/refusal.ts'

/** Each time with what a clock on the wall shows then. 2026-11-16 is a Monday. */
const at = (iso: string) => Date.parse(iso)
const start = (hours: string, iso: string) => new Date(nextStart(hours, at(iso))).toISOString()

describe('the setting hours', () => {
  test.each([
    '',
    '  ',
    'mon-fri 9-18',
    'MON-Fri  9-18',
    'mon-fri 9:00-17:30 Europe/Berlin',
    'mon-thu 9-18, fri 9-15 America/New_York',
    'mon-fri 8-12, 13-17 UTC',
    '9-18',
    'sat-mon 10-12',
    'sun 0-24',
    'fri 22-6',
  ])('accepts %j', (text) => {
    expect(isHours(text)).toBe(true)
  })

  test.each([
    'always',
    'mon',
    'mon-fri',
    'mon, wed 9-18',
    'mon-wed-fri 9-18',
    'mond 9-18',
    'mon 9',
    'mon 9-9',
    'mon 24-25',
    'mon 9-25',
    'mon 9:60-10',
    'mon 9.30-10',
    'mon 9-18,',
    ',mon 9-18',
    'mon 9-12 13-18',
    'mon 9-18 Europe/Atlantis',
    'mon 9-18 UTC, tue 9-18',
    '-',
  ])('refuses %j', (text) => {
    expect(isHours(text)).toBe(false)
    expect(() => isWithinHours(text, 0)).toThrow('hours: ')
  })

  test('is a text', () => {
    expect([9, null, undefined, ['mon 9-18'], {}].filter(isHours)).toEqual([])
  })
})

describe('within the hours', () => {
  test.each<[hours: string, iso: string, within: boolean]>([
    ['', '2026-11-21T03:00:00Z', true],
    ['mon-fri 9-18 UTC', '2026-11-16T08:59:59.999Z', false],
    ['mon-fri 9-18 UTC', '2026-11-16T09:00:00Z', true],
    ['mon-fri 9-18 UTC', '2026-11-16T17:59:59.999Z', true],
    ['mon-fri 9-18 UTC', '2026-11-16T18:00:00Z', false],
    ['mon-fri 9-18 UTC', '2026-11-20T12:00:00Z', true],
    ['mon-fri 9-18 UTC', '2026-11-21T12:00:00Z', false],
    ['mon-fri 9-18 UTC', '2026-11-22T12:00:00Z', false],
    ['mon-fri 9:00-17:30 Europe/Berlin', '2026-11-16T08:00:00Z', true],
    ['mon-fri 9:00-17:30 Europe/Berlin', '2026-11-16T16:29:00Z', true],
    ['mon-fri 9:00-17:30 Europe/Berlin', '2026-11-16T16:30:00Z', false],
    // In summer an hour earlier.
    ['mon-fri 9:00-17:30 Europe/Berlin', '2026-07-06T07:00:00Z', true],
    ['mon-fri 9:00-17:30 Europe/Berlin', '2026-07-06T15:30:00Z', false],
    // It is another day there.
    ['mon 0-24 Pacific/Auckland', '2026-11-15T11:00:00Z', true],
    ['mon 0-24 Pacific/Auckland', '2026-11-16T11:00:00Z', false],
    ['9-18 Asia/Kathmandu', '2026-11-16T03:14:00Z', false],
    ['9-18 Asia/Kathmandu', '2026-11-16T03:15:00Z', true],
    // A range without days has those of the range before it.
    ['mon-fri 8-12, 13-17 UTC', '2026-11-16T12:30:00Z', false],
    ['mon-fri 8-12, 13-17 UTC', '2026-11-16T13:00:00Z', true],
    ['mon-fri 8-12, 13-17 UTC', '2026-11-21T14:00:00Z', false],
    // Past midnight, and past the end of the week.
    ['fri 22-6 UTC', '2026-11-20T22:00:00Z', true],
    ['fri 22-6 UTC', '2026-11-21T05:59:00Z', true],
    ['fri 22-6 UTC', '2026-11-21T06:00:00Z', false],
    ['fri 22-6 UTC', '2026-11-20T05:00:00Z', false],
    ['sun 22-6 UTC', '2026-11-16T05:00:00Z', true],
    ['sun 22-6 UTC', '2026-11-17T05:00:00Z', false],
    ['sat-mon 10-12 UTC', '2026-11-16T11:00:00Z', true],
    ['sat-mon 10-12 UTC', '2026-11-17T11:00:00Z', false],
    // 25 October 2026 has the hour from two to three twice in Berlin.
    ['sun 2-3 Europe/Berlin', '2026-10-25T00:00:00Z', true],
    ['sun 2-3 Europe/Berlin', '2026-10-25T01:59:00Z', true],
    ['sun 2-3 Europe/Berlin', '2026-10-25T02:00:00Z', false],
  ])('%j at %s: %j', (hours, iso, within) => {
    expect(isWithinHours(hours, at(iso))).toBe(within)
  })
})

describe('the next start', () => {
  test.each<[hours: string, iso: string, start: string]>([
    ['', '2026-11-21T03:00:00.000Z', '2026-11-21T03:00:00.000Z'],
    ['mon-fri 9-18 UTC', '2026-11-16T12:34:56.789Z', '2026-11-16T12:34:56.789Z'],
    ['mon-fri 9-18 UTC', '2026-11-16T08:59:59.999Z', '2026-11-16T09:00:00.000Z'],
    ['mon-fri 9-18 UTC', '2026-11-16T18:00:00.000Z', '2026-11-17T09:00:00.000Z'],
    ['mon-fri 9-18 UTC', '2026-11-20T18:00:00.000Z', '2026-11-23T09:00:00.000Z'],
    ['mon-fri 8-12, 13-17 UTC', '2026-11-16T12:00:01.000Z', '2026-11-16T13:00:00.000Z'],
    ['wed 9-9:01 UTC', '2026-11-18T09:01:00.000Z', '2026-11-25T09:00:00.000Z'],
    ['0-24 UTC', '2026-11-21T03:00:00.000Z', '2026-11-21T03:00:00.000Z'],
    // Clocks go back in the night before: nine o'clock is an hour later than the day before.
    ['9-18 Europe/Berlin', '2026-10-24T20:00:00.000Z', '2026-10-25T08:00:00.000Z'],
    ['mon-fri 9-18 Europe/Berlin', '2026-10-23T17:00:00.000Z', '2026-10-26T08:00:00.000Z'],
    // Clocks go forward: an hour earlier.
    ['9-18 Europe/Berlin', '2026-03-28T20:00:00.000Z', '2026-03-29T07:00:00.000Z'],
    ['9-18 America/New_York', '2026-03-07T23:30:00.000Z', '2026-03-08T13:00:00.000Z'],
    // Half past two does not exist on that day: it starts when the clocks have been changed.
    ['sun 2:30-5 Europe/Berlin', '2026-03-28T20:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    // And a range that is not there at all is skipped.
    ['sun 2-3 Europe/Berlin', '2026-03-28T20:00:00.000Z', '2026-04-05T00:00:00.000Z'],
    // The second time that it is two o'clock is a start if the first one is over.
    ['sun 2-2:30 Europe/Berlin', '2026-10-25T00:30:00.000Z', '2026-10-25T01:00:00.000Z'],
    // By half an hour.
    ['9-18 Australia/Lord_Howe', '2026-10-03T09:00:00.000Z', '2026-10-03T22:00:00.000Z'],
  ])('%j from %s: %s', (hours, iso, expected) => {
    expect(start(hours, iso)).toBe(expected)
  })

  test('is within the hours, and nothing between is', () => {
    const minute = 60_000
    for (const hours of ['mon-fri 9-18 Europe/Berlin', 'sat 2:30-3:10, 23-1 America/New_York'])
      for (let now = at('2026-10-20T00:00:30Z'); now < at('2026-11-10T00:00:00Z'); now += 11 * 60 * minute) {
        const next = nextStart(hours, now)
        expect(isWithinHours(hours, next)).toBe(true)
        expect(next === now || !isWithinHours(hours, next - 1)).toBe(true)
        for (let between = now; between < next; between += 7 * minute)
          expect(isWithinHours(hours, between)).toBe(false)
      }
  })

  test('goes by the zone of this machine unless it names one', () => {
    const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
    for (const iso of ['2026-11-16T05:00:00Z', '2026-07-04T22:00:00Z'])
      expect(start('mon-fri 9-18', iso)).toBe(start(`mon-fri 9-18 ${zone}`, iso))
  })
})

describe('a range of hours', () => {
  test.each([
    ...['', '  ', '9-18', ' mon-fri 9-18 ', 'tue 9-10', 'mon 9:59-10:59', '0-24', '23:59-24'],
    ...[
      '22-6',
      'mon 9-12, 13-17',
      'MON-FRI 9-18',
      'sat-mon 9-10 UTC',
      'sun 9-18   Europe/Berlin',
      '9-18 utc',
    ],
  ])('can be %j', (text) => {
    expect(isHours(text)).toBe(true)
  })

  test.each([
    ...['mon', 'mon-fri', 'mon-fri ,', '9-18, ', ',9-18', '9-18,,10-11', 'mon 9-18 10-12', '9-18 10-12'],
    ...[
      '9:60-10',
      '9-10:60',
      '9:99-10:99',
      '24-5',
      '24:01-5',
      '9-25',
      '9-24:01',
      '9-9',
      '9:5-10',
      '9-',
      '-9',
    ],
    ...['xmon 9-10', 'mon-xx 9-10', 'xx-mon 9-10', 'mon-tue-wed 9-10', 'mon- 9-10', '1mon 9-10', 'm9 9-10'],
    ...[
      '9-18 Nowhere/Zone',
      '9-18 UTC x',
      'x9-18',
      'mon x9-18',
      '9-18x',
      '9-18:000',
      '123-18',
      5,
      null,
      undefined,
    ],
  ])('cannot be %j', (text) => {
    expect(isHours(text)).toBe(false)
  })

  test.each([
    ['mon', '"mon"'],
    ['9-18 , tue ', '"tue"'],
    ['mon 9-18 10-12', '"mon 9-18 10-12"'],
    ['9-18 Nowhere/Zone', '"Nowhere/Zone"'],
    ['mon-xx 9-10', '"mon-xx"'],
    ['9:60-10', '"9:60-10"'],
    ['9/10', '"9/10"'],
  ])('%j is refused with the part that is wrong', (text, part) => {
    const error = refusal(() => isWithinHours(text, 0))
    expect(error.code).toBe('invalid')
    expect(error.message).toContain(part)
    expect(error.hint).toContain('mon-fri 9-18')
  })
})

describe('times of the week', () => {
  it.each([
    ['18:00 UTC', '2026-11-16T17:59:59.999Z', '2026-11-16T18:00:00.000Z'],
    ['18:00 UTC', '2026-11-16T18:00:00.000Z', '2026-11-17T18:00:00.000Z'],
    ['18 UTC', '2026-11-16T18:00:30.000Z', '2026-11-17T18:00:00.000Z'],
    ['mon-fri 17:30 UTC', '2026-11-20T17:30:00.000Z', '2026-11-23T17:30:00.000Z'],
    ['mon 9, fri 17:30 UTC', '2026-11-16T12:00:00.000Z', '2026-11-20T17:30:00.000Z'],
    // The clocks go back in the night before.
    ['18:00 Europe/Berlin', '2026-10-24T17:00:00.000Z', '2026-10-25T17:00:00.000Z'],
  ])('%s after %s is %s', (text, after, next) => {
    expect(isTimes(text)).toBe(true)
    expect(new Date(nextTime(text, Date.parse(after))!).toISOString()).toBe(next)
  })

  it.each(['24:00', '9-18', '18:60', 'now', 'mon', '18:00 Nowhere/At_All', '9 10', '-1'])(
    'refuses %s',
    (text) => {
      expect(isTimes(text)).toBe(false)
    },
  )

  it('are none where nothing is said', () => {
    expect([isTimes(''), nextTime('', 0)]).toEqual([true, undefined])
  })
})
