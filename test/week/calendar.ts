export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute

/** The hours of the person, as the setting `hours` says them, and as this calendar reckons. */
export const hoursOfThePerson = 'mon-fri 9-18'

/** So many days and hours after the midnight in which the week begins: a Monday, by the local clock. */
export const timeAt = (days: number, hours: number): number =>
  new Date(2026, 10, 2 + days, 0, 0, 0, Math.round(hours * hour)).getTime()

export const isWorkday = (ms: number): boolean => ![0, 6].includes(new Date(ms).getDay())

/** Whether the person is there to be told something. */
export function isInHours(ms: number): boolean {
  const hours = new Date(ms).getHours()
  return isWorkday(ms) && hours >= 9 && hours < 18
}

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** `Tue 14:05:09`; the Monday after the week is `Mon2`. */
export function timeText(ms: number): string {
  const date = new Date(ms)
  const two = (n: number) => String(n).padStart(2, '0')
  const again = ms >= timeAt(7, 0) ? '2' : ''
  return `${names[date.getDay()]!}${again} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
