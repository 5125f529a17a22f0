import { MailboxError } from '../base/errors.ts'

/** Minutes of a week from Monday 0:00 on: from the first to before the second, which may be in the next week. */
interface Range {
  from: number
  to: number
}

interface Hours {
  ranges: readonly Range[]
  /** A name such as `Europe/Berlin`. @default the zone of this machine */
  zone: string | undefined
}

const minuteMs = 60_000
const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes
const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const example = 'write it as "mon-fri 9-18", "mon-thu 9:00-17:30, fri 9-15 Europe/Berlin"; empty = always'
const refuse = (why: string): never => {
  throw new MailboxError('invalid', `hours: ${why}`, { hint: example })
}

/** Parses the setting `hours`; undefined if it is empty. Throws what is wrong with it. */
function parseHours(text: string, readRange = parseTimes): Hours | undefined {
  if (text.trim() === '') return undefined
  const { rest, zone } = splitZone(text.trim())
  const ranges: Range[] = []
  let days: readonly number[] = dayNames.map((_, day) => day)
  for (const part of rest.split(',')) {
    const words = part.trim().toLowerCase().split(/\s+/)
    const [first = '', second] = words
    // A range without days has those of the range before.
    if (/^[a-z]/.test(first)) days = parseDays(first)
    const times = /^[a-z]/.test(first) ? second : first
    if (times === undefined || times === '') refuse(`${JSON.stringify(part.trim())} has no times`)
    if (words.length > (times === first ? 1 : 2)) refuse(`${JSON.stringify(part.trim())} has too many words`)
    const { from, to } = readRange(times!)
    for (const day of days) ranges.push({ from: day * dayMinutes + from, to: day * dayMinutes + to })
  }
  return { ranges, zone }
}

/** The zone is the last word, if that follows a time. */
function splitZone(text: string): { rest: string; zone: string | undefined } {
  const match = /^(.*\d)\s+([A-Za-z]\S*)$/s.exec(text)
  if (match === null) return { rest: text, zone: undefined }
  const [, rest, zone] = match as unknown as [string, string, string]
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    refuse(`unknown time zone ${JSON.stringify(zone)}`)
  }
  return { rest, zone }
}

function parseDays(text: string): number[] {
  const [first = -1, last = first, ...more] = text.split('-').map((name) => dayNames.indexOf(name))
  if (first < 0 || last < 0 || more.length > 0) refuse(`unknown days ${JSON.stringify(text)}`)
  // `sat-mon` goes on into the next week.
  const count = ((last - first + 7) % 7) + 1
  return Array.from({ length: count }, (_, at) => (first + at) % 7)
}

function parseTimes(text: string): Range {
  const match = /^(\d{1,2})(?::(\d\d))?-(\d{1,2})(?::(\d\d))?$/.exec(text)
  if (match === null) return refuse(`${JSON.stringify(text)} is not a range of times`)
  const [h1, m1, h2, m2] = match.slice(1).map((digits = '0') => Number(digits)) as [
    number,
    number,
    number,
    number,
  ]
  const [from, to] = [60 * h1 + m1, 60 * h2 + m2]
  if (m1 > 59 || m2 > 59 || from >= dayMinutes || to > dayMinutes || from === to)
    refuse(`${JSON.stringify(text)} is not a range of times`)
  // `22-6` ends on the next day.
  return { from, to: to > from ? to : to + dayMinutes }
}

/** One time of day, as the minute that it begins. */
function parseMinute(text: string): Range {
  const [, hour, minute = '0'] = /^(\d{1,2})(?::(\d\d))?$/.exec(text) ?? []
  const from = 60 * Number(hour) + Number(minute)
  if (Number.isNaN(from) || Number(minute) > 59 || from >= dayMinutes)
    refuse(`${JSON.stringify(text)} is not a time`)
  return { from, to: from + 1 }
}

const parsed = new Map<string, Hours | undefined>()

function hoursOf(text: string): Hours | undefined {
  if (!parsed.has(text)) parsed.set(text, parseHours(text))
  return parsed.get(text)
}

/** Whether it is a text that the setting accepts. */
export function isHours(value: unknown): value is string {
  if (typeof value !== 'string') return false
  return canParse(value, parseTimes)
}

/** Whether it is a text with times of the week, such as `18:00` or `mon-fri 17:30 Europe/Berlin`. */
export const isTimes = (value: unknown): value is string =>
  typeof value === 'string' && canParse(value, parseMinute)

function canParse(text: string, readRange: typeof parseTimes): boolean {
  try {
    parseHours(text, readRange)
    return true
  } catch {
    return false
  }
}

/** The first of such times after a time, in ms since 1970; undefined if there are none. */
export function nextTime(text: string, after: number): number | undefined {
  const times = parseHours(text, parseMinute)
  return times && startAfter(times, Math.floor(after / minuteMs) * minuteMs + minuteMs)
}

/** Whether a time, in ms since 1970, is within the hours. No hours: always. */
export function isWithinHours(text: string, now: number): boolean {
  const hours = hoursOf(text)
  return hours === undefined || minutesToStart(hours, now) === 0
}

/** The first time from `now` on that is within the hours, in ms since 1970: `now` itself if it is. */
export function nextStart(text: string, now: number): number {
  const hours = hoursOf(text)
  return hours === undefined ? now : startAfter(hours, now)
}

function startAfter(hours: Hours, now: number): number {
  for (let at = now; ; ) {
    const wait = minutesToStart(hours, at)
    if (wait === 0) return at
    const start = (Math.floor(at / minuteMs) + wait) * minuteMs
    if (offsetAt(hours.zone, start) === offsetAt(hours.zone, at)) return start
    // The clocks are changed in between: continue from there, because the same hours are then at another time.
    at = changeBetween(hours.zone, at, start)
  }
}

/** How many minutes of the wall clock it takes from a time to the next start; 0 within the hours. */
function minutesToStart({ ranges, zone }: Hours, at: number): number {
  const minute = minuteOfWeek(zone, at)
  const waits = ranges.map(({ from, to }) => {
    const isInside = [minute, minute + weekMinutes].some((one) => from <= one && one < to)
    return isInside ? 0 : (from - minute + weekMinutes) % weekMinutes
  })
  return Math.min(...waits)
}

/** The first minute after `from` at which the clocks of the zone are changed; there is one before `to`. */
function changeBetween(zone: string | undefined, from: number, to: number): number {
  const before = offsetAt(zone, from)
  let [low, high] = [Math.floor(from / minuteMs), Math.ceil(to / minuteMs)]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (offsetAt(zone, middle * minuteMs) === before) low = middle
    else high = middle
  }
  return high * minuteMs
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>()

function formatFor(zone: string | undefined): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const parts = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  } as const
  const format = new Intl.DateTimeFormat('en', {
    ...parts,
    calendar: 'gregory',
    hourCycle: 'h23',
    ...(zone === undefined ? {} : { timeZone: zone }),
  })
  formats.set(zone, format)
  return format
}

/** What the clocks of the zone show at a time, as minutes since 1970 if they were clocks of UTC. */
function wallMinutes(zone: string | undefined, at: number): number {
  const shown: Record<string, number> = {}
  for (const { type, value } of formatFor(zone).formatToParts(at)) shown[type] = Number(value)
  const { year, month, day, hour, minute } = shown as Record<
    'year' | 'month' | 'day' | 'hour' | 'minute',
    number
  >
  return Date.UTC(year, month - 1, day, hour, minute) / minuteMs
}

const offsetAt = (zone: string | undefined, at: number): number =>
  wallMinutes(zone, at) - Math.floor(at / minuteMs)

/** 1970 began on a Thursday. */
const minuteOfWeek = (zone: string | undefined, at: number): number =>
  (((wallMinutes(zone, at) + 3 * dayMinutes) % weekMinutes) + weekMinutes) % weekMinutes
