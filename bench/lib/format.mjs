/** Numbers and tables as people read them. */

const digits = (value, count) =>
  value.toLocaleString('en-US', { maximumFractionDigits: count, minimumFractionDigits: 0 })

/** Three figures that count, thousands marked. */
export function number(value) {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  return digits(value, size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
}

export const rate = (value) => `${number(value >= 1_000 ? Number(value.toPrecision(3)) : value)}/s`
export const times = (value) => (Number.isFinite(value) ? `${number(value)}×` : '–')

/** A duration given in milliseconds, in the unit that suits it. */
export function duration(ms) {
  if (!Number.isFinite(ms)) return '–'
  if (ms < 0.9995) return `${number(ms * 1_000)} µs`
  return ms < 999.5 ? `${number(ms)} ms` : `${number(ms / 1_000)} s`
}

export const megabytes = (bytes) => `${digits(bytes / 1_048_576, 0)} MB`

/**
 * @param {string[]} header
 * @param {(string | number)[][]} rows
 * @param {string} align One letter a column: l or r.
 */
export function table(header, rows, align) {
  const marks = [...align].map((letter) => (letter === 'r' ? '--:' : ':--'))
  return [header, marks, ...rows]
    .map((cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}
