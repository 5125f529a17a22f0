import { fullTime } from './time.ts'

const hourMs = 3_600_000
const spans = { '15min': hourMs / 4, '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs } as const
type Span = keyof typeof spans
export const spanNames = Object.keys(spans) as Span[]

/** A part of the time: up to now, or between two times in ms. */
export type Range = { span: Span } | { from: number; to: number }

/** Reads it from a URL: `?span=1h`, or `?from=2026-11-18T12:00:00Z&to=…`. */
export function rangeOf(query: URLSearchParams): Range {
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  if (from < to) return { from, to }
  const span = query.get('span') ?? ''
  return { span: Object.hasOwn(spans, span) ? (span as Span) : '24h' }
}

export const boundsOf = (range: Range, now: number): { from: number; to: number } =>
  'span' in range ? { from: now - spans[range.span], to: now } : range

const iso = (ms: number): string => new Date(Math.round(ms)).toISOString()

export const addressOf = (range: Range): string =>
  `/stats?${'span' in range ? `span=${range.span}` : `from=${iso(range.from)}&to=${iso(range.to)}`}`

export const rangeName = ({ from, to }: { from: number; to: number }): string =>
  `${fullTime(iso(from))} – ${fullTime(iso(to))}`
