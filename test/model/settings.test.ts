import { describe, expect, test } from 'vitest'
import { defaultSettings, isSettingKey, type Settings, settings } from '../../src/model/settings.ts'

const day = 86_400_000
const year = 365 * day

/** The least and the most that each number may be. */
const ranges: Partial<Record<keyof Settings, [least: number, most: number]>> = {
  segmentBytes: [65_536, 1_073_741_824],
  pollMs: [10, 60_000],
  readClaimTtlMs: [1_000, 30 * 86_400_000],
  claimTtlMs: [1_000, 7 * day],
  maxAttempts: [1, 1_000],
  ackTimeoutMs: [0, year],
  ackRepeats: [0, 100],
  urgentAfterMs: [0, year],
  staleAfterMs: [0, year],
  silentAfterMs: [0, year],
  heartbeatMs: [0, year],
  deadLetterAfterMs: [0, year],
  answerAfterMs: [0, year],
  'roles.offerMs': [0, year],
  'limits.messageBytes': [1, 1_048_576],
  'limits.ratePerMinute': [0, 1_000_000_000],
  'limits.inbox': [0, 1_000_000_000],
  'limits.threadMessages': [0, 1_000_000],
  'retention.segmentEntries': [0, 1_000_000_000],
  'retention.gzipAfterDays': [0, 36_500],
  'retention.removeAfterDays': [0, 36_500],
}
const numbers = Object.entries(ranges) as [keyof Settings, [number, number]][]

describe('a setting', () => {
  test.each(Object.keys(settings) as (keyof Settings)[])('%s accepts its default', (key) => {
    expect(settings[key].check(defaultSettings[key])).toBe(true)
  })

  test('that is a number has its range here', () => {
    const all = Object.entries(defaultSettings).filter(([, value]) => typeof value === 'number')
    expect(all.map(([key]) => key).sort()).toEqual(numbers.map(([key]) => key).sort())
  })

  test.each(numbers)('%s is within %j', (key, [least, most]) => {
    const { check } = settings[key]
    const accepted = [least, least + 1, most - 1, most].map(check)
    expect(accepted).toEqual([true, true, true, true])
    const refused = [least - 1, most + 1, least + 0.5, String(least), null, undefined, Number.NaN].map(check)
    expect(refused.some(Boolean)).toBe(false)
  })

  test.each<[keyof Settings, unknown[], unknown[]]>([
    ['name', ['', 'x'.repeat(60), 'Ω'], ['x'.repeat(61), 'a\nb', 5, null, ['x']]],
    ['postgres.commit', ['on', 'remote_apply'], ['', 'off', true, undefined]],
    ['require', ['nothing', 'signed'], ['', 'all', undefined]],
    ['encrypt', ['nothing', 'space'], ['', 'recipients', undefined]],
    ['a2a.allow', ['', '127.0.0.1:8080'], [5, null, []]],
    ['webhook.shape', ['cloudevents', 'slack', 'discord', 'teams', 'ntfy'], ['', 'irc', null]],
    ['roles.granted', [[], ['lead']], ['lead', [''], null]],
    ['durability', ['disk', 'os'], ['', 'tape', true, undefined]],
    ['retention.rotate', ['size', 'month'], ['', 'day', undefined]],
    ['leads', [[], ['lead'], ['a', 'b']], ['lead', [''], [1], ['a', ''], null]],
    [
      'roles.assign',
      ['queue', 'least-busy', 'ci=least-busy', 'least-busy, ci=queue', 'a=queue,b=least-busy'],
      ['', 'fastest', 'ci=', '=queue', 'ci=queue,ci=queue', 'queue,queue', 'a=b=queue', 5, null, ['queue']],
    ],
    ['journal.mirror', ['', '/mnt/mirror'], ['mirror', './mirror', 5, null, ['/mnt']]],
    [
      'webhook',
      ['', 'http://localhost:8080/x', 'https://example.com'],
      ['example.com', 'ftp://example.com', 'http://', ' https://example.com', 'xhttps://a', 5, null],
    ],
    [
      'rules',
      ['open', 'hub', [], [{ from: '*', to: 'ada' }], [{ from: 'a', to: 'b', allow: false }]],
      [
        'closed',
        {},
        [{ from: 'a' }],
        [{ to: 'b' }],
        [{ from: 'a', to: 'b', allow: 'no' }],
        [{ from: 'a', to: 'b', because: 'so' }],
        [{ from: 'a', to: 'b' }, null],
        [{ from: 1, to: 'b' }],
        [{ from: 'a', to: 2 }],
      ],
    ],
  ])('%s accepts %j', (key, good, bad) => {
    expect(good.filter((value) => !settings[key].check(value))).toEqual([])
    expect(bad.filter((value) => settings[key].check(value))).toEqual([])
  })

  test('has a default that the manual states', () => {
    expect(defaultSettings).toMatchObject({
      durability: 'disk',
      segmentBytes: 16 * 1_048_576,
      claimTtlMs: 15 * 60_000,
      ackTimeoutMs: 15 * 60_000,
      urgentAfterMs: 5 * 60_000,
      staleAfterMs: 60 * 60_000,
      silentAfterMs: day,
      heartbeatMs: 5 * 60_000,
      deadLetterAfterMs: day,
      answerAfterMs: 4 * 60 * 60_000,
      hours: '',
      rules: 'open',
      'limits.messageBytes': 1_048_576,
      'retention.rotate': 'size',
      webhook: '',
    })
  })

  test('is known by its own name alone', () => {
    expect(isSettingKey('pollMs')).toBe(true)
    expect(['pollms', 'toString', '__proto__', ''].filter(isSettingKey)).toEqual([])
  })
})
