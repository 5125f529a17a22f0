const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** `3 min ago`, `in 2 h`, `just now`. */
export function relative(time: string | number, now: number): string {
  const ms = now - (typeof time === 'number' ? time : Date.parse(time))
  const [unit, size] = units.find(([, each]) => Math.abs(ms) >= each) ?? ['s', 1_000]
  const amount = Math.floor(Math.abs(ms) / size)
  if (amount === 0) return 'just now'
  return ms > 0 ? `${amount} ${unit} ago` : `in ${amount} ${unit}`
}

/** How long ago something was, as short as it can be said: `20m`, `3h`. */
export function age(time: string | number, now: number): string {
  const [amount = '0', unit = 's'] = relative(time, now).split(' ')
  return amount === 'just' ? 'now' : `${amount}${unit === 'min' ? 'm' : unit}`
}

/** A duration in its largest unit, rounded: `15 min`. */
export function span(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each - each / 120) ?? ['s', 1_000]
  return `${Math.round(ms / size)} ${unit}`
}

const two = (n: number) => String(n).padStart(2, '0')

/** The local date: `2026-11-15`. */
export function day(time: string): string {
  const date = new Date(time)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The local time of day: `09:30:00`. */
export function clock(time: string): string {
  const date = new Date(time)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

export const absolute = (time: string): string => `${day(time)} ${clock(time)}`

/** The local UTC offset: `UTC`, `+01:00`. */
export function zone(time: string): string {
  const minutes = -new Date(time).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const ahead = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
}
