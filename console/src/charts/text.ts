/** Formats numbers and times for the charts. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Short enough for a cell: 950, 1.2k, 34k. */
export function compact(value: number): string {
  if (Math.abs(value) < 1_000) return String(Math.round(value * 10) / 10)
  const thousands = value / 1_000
  if (Math.abs(thousands) < 1_000) return `${trim(thousands)}k`
  return `${trim(thousands / 1_000)}M`
}

const trim = (value: number): string =>
  (Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)).replace(/\.0$/, '')

/** A duration in ms as text. */
export function duration(ms: number): string {
  if (ms === 0) return '0'
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms < 60_000) return `${trim(ms / 1_000)} s`
  if (ms < 3_600_000) return `${trim(ms / 60_000)} min`
  return `${trim(ms / 3_600_000)} h`
}

const two = (value: number): string => String(value).padStart(2, '0')

export function clock(at: string | number, seconds = true): string {
  const time = new Date(at)
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`
  return seconds ? `${minutes}:${two(time.getSeconds())}` : minutes
}

export function day(at: string | number): string {
  const time = new Date(at)
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
}

/** The time of day, with the date if the range spans several days. */
export const moment = (at: string | number, spansDays: boolean): string =>
  spansDays ? `${day(at)} ${clock(at)}` : clock(at)

export const spansDays = (from: string | number, to: string | number): boolean => day(from) !== day(to)
