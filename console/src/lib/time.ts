import { signal } from '@preact/signals'

/** The current time, precise enough for "5 min ago": updated twice a minute. */
const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 30_000)

const dayMs = 86_400_000
const hours = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const days = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const longDays = new Intl.DateTimeFormat('en', { dateStyle: 'full' })
const years = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const whole = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

const seconds = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' })

export const fullTime = (at: string): string => whole.format(Date.parse(at))
export const clockTime = (at: string): string => hours.format(Date.parse(at))

export const clockSeconds = (at: string): string => seconds.format(Date.parse(at))

/** Short enough for a list: minutes, then the time of day, then the date. */
export function shortTime(at: string, current = now.value): string {
  const time = Date.parse(at)
  const agoMs = current - time
  if (agoMs < 60_000) return '<1 min'
  if (agoMs < 3_600_000) return `${Math.floor(agoMs / 60_000)} min`
  if (new Date(time).toDateString() === new Date(current).toDateString()) return hours.format(time)
  return agoMs < 300 * dayMs ? days.format(time) : years.format(time)
}

/** The day of a message, for the line between two days. */
export function dayOf(at: string, current = now.value): string {
  const day = new Date(Date.parse(at)).toDateString()
  if (day === new Date(current).toDateString()) return 'Today'
  if (day === new Date(current - dayMs).toDateString()) return 'Yesterday'
  return longDays.format(Date.parse(at))
}

/** A duration in its largest unit. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 48 * 3_600_000) return `${(ms / 3_600_000).toFixed(ms < 36_000_000 ? 1 : 0)} h`
  return `${Math.round(ms / dayMs)} d`
}

/** The time elapsed since then. */
export function since(at: string, current = now.value): string {
  const ms = Math.max(0, current - Date.parse(at))
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s` : duration(ms)
}
