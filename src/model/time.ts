import { MailboxError } from '../base/errors.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** The longest duration we accept: a longer one is more likely a typo. */
export const maxLifeMs = 10 * 366 * unitMs.d

/** Reads `90s`, `15m`, `24h`, `500ms`, `7d`; a number alone is in ms. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,15})(ms|s|m|h|d|w)?$/.exec(text.trim())
  const ms = match ? Number(match[1]) * unitMs[(match[2] ?? 'ms') as keyof typeof unitMs] : Number.NaN
  if (!(ms <= maxLifeMs)) {
    throw new MailboxError('invalid', `${JSON.stringify(text.slice(0, 40))} is not a duration`, {
      hint: 'use a number and a unit: 90s, 15m, 24h, 7d',
    })
  }
  return ms
}

/** The shortest way to write a duration that `parseDuration` reads: `15m`, `24h`, `1500ms`. */
export function toDuration(ms: number): string {
  const unit = (['d', 'h', 'm', 's', 'ms'] as const).find((one) => ms % unitMs[one] === 0) ?? 'ms'
  // A day is usually meant as 24 hours.
  const shown = unit === 'd' && ms === unitMs.d ? 'h' : unit
  return ms === 0 ? '0' : `${ms / unitMs[shown]}${shown}`
}

/** Reads an ISO date or time; undefined for what is none. Without a zone, a time is local and a date is UTC. */
export function readTime(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse turns 31 February into 3 March.
  const [year, month, day] = text.slice(0, 10).split('-').map(Number)
  const exists = new Date(Date.UTC(year!, month! - 1, day!)).getUTCDate() === day
  return Number.isNaN(ms) || !exists ? undefined : ms
}

/** Reads an ISO date or time, as given to `before:` and `after:` in a search. */
export function parseTime(text: string): number {
  const ms = readTime(text)
  if (ms !== undefined) return ms
  throw new MailboxError('invalid', `${JSON.stringify(text.slice(0, 40))} is not a date`, {
    hint: 'use 2026-11-15 or 2026-11-15T09:30:00Z',
  })
}

/** The same, or a duration before now: `24h`. */
export function readMoment(text: string, now: number): number {
  const ms = /^\d+(?:ms|[smhdw])$/.test(text) ? now - parseDuration(text) : readTime(text)
  if (ms !== undefined) return ms
  throw new MailboxError('invalid', `${JSON.stringify(text.slice(0, 40))} is not a date`, {
    hint: 'use 2026-11-15, 2026-11-15T09:30:00Z, or how long ago: 24h, 7d',
  })
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const clockTime = /^(?:(today|tomorrow|(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*) )?([01]?\d|2[0-3]):([0-5]\d)$/i

/**
 * Reads a time to come: a duration from now (`15m`), a time of day (`17:00`), perhaps with its day (`tomorrow 9:00`,
 * `mon 9:00`), or a date. Without a zone it is local; a time of day without a day is the next. Undefined for what is none.
 */
export function readFuture(text: string, now: number): number | undefined {
  const said = text.trim()
  if (/^\d+(?:ms|[smhdw])$/.test(said)) return now + parseDuration(said)
  const [, day, hour, minute] = clockTime.exec(said) ?? []
  if (hour === undefined) return readTime(said)
  const at = new Date(now)
  at.setHours(Number(hour), Number(minute), 0, 0)
  const isOver = () => at.getTime() <= now
  const laterBy = (days: number) => at.setDate(at.getDate() + days)
  const named = day?.toLowerCase()
  if (named === 'tomorrow') laterBy(1)
  else if (named === undefined) isOver() && laterBy(1)
  else if (named !== 'today') {
    laterBy((weekdays.indexOf(named.slice(0, 3)) - at.getDay() + 7) % 7)
    if (isOver()) laterBy(7)
  }
  return at.getTime()
}

const recent = new Map<number, string>()
const recentLimit = 64

/** Cached, because many messages sent at once share the same times. */
export function isoTime(ms: number): string {
  let iso = recent.get(ms)
  if (iso === undefined) {
    iso = new Date(ms).toISOString()
    if (recent.size === recentLimit) recent.clear()
    recent.set(ms, iso)
  }
  return iso
}

/** The month of an ISO time: `2026-11`. */
export const monthOf = (iso: string): string => iso.slice(0, 7)
