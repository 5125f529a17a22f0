/** A time as Python writes one without a zone: local, to the microsecond if it has a fraction of a second. */
export function localTime(iso: string, microseconds = 0): string {
  const at = new Date(iso)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  const ms = at.getMilliseconds()
  const fraction = String(ms).padStart(3, '0') + String(microseconds).padStart(3, '0')
  return `${day}T${time}${fraction === '000000' ? '' : `.${fraction}`}`
}
