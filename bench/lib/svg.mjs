/** Plots, written by hand: they need no library, and a reader needs nothing but a browser. */
import { duration, number } from './format.mjs'

const colours = { ours: '#2563eb', limit: '#64748b', durable: '#0d9488', loose: '#d97706' }
const oursColours = ['#2563eb', '#7c3aed']
const otherColours = ['#0d9488', '#d97706', '#db2777', '#4d7c0f', '#57534e']
const ink = '#0f172a'
const faint = '#475569'
const grid = '#e2e8f0'

const escapeXml = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const round = (value) => Math.round(value * 10) / 10

function text(x, y, content, { size = 13, fill = ink, anchor = 'start', weight = 400, rotate } = {}) {
  const turn = rotate === undefined ? '' : ` transform="rotate(${rotate} ${round(x)} ${round(y)})"`
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}" font-weight="${weight}"${turn}>${escapeXml(content)}</text>`
}

const line = (x1, y1, x2, y2, stroke = grid, width = 1) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}" stroke-width="${width}"/>`

function sheet(width, height, title, subtitle, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" role="img" aria-label="${escapeXml(title)}">
<rect width="${width}" height="${height}" rx="8" fill="#ffffff" stroke="${grid}"/>
${text(24, 34, title, { size: 18, weight: 600 })}
${text(24, 55, subtitle, { size: 13, fill: faint })}
${parts.join('\n')}
</svg>
`
}

/** The powers of ten around the values. */
function decades(all) {
  const values = all.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9)
  return Array.from({ length: Math.max(1, high - low) + 1 }, (_, i) => low + i)
}

/** A scale from powers of ten to pixels. */
const logScale = (powers, from, to) => (value) =>
  from + ((Math.log10(value) - powers[0]) / (powers.at(-1) - powers[0])) * (to - from)

/**
 * @param {{ title: string, subtitle: string, groups: Record<string, string>, logarithmic?: boolean,
 *   bars: { label: string, value: number, text: string, group: string }[] }} chart
 */
export function barChart({ title, subtitle, groups, bars, logarithmic = false }) {
  const width = 860
  const rowHeight = 26
  const top = 108
  const left = 40 + Math.max(...bars.map(({ label }) => label.length)) * 6.9
  const right = width - 96
  const bottom = top + bars.length * rowHeight
  const powers = decades(bars.map(({ value }) => value))
  const largest = Math.max(...bars.map(({ value }) => value))
  const scale = logarithmic
    ? logScale([powers[0] - 0.15, powers.at(-1)], left, right)
    : (value) => left + (value / largest) * (right - left)
  const parts = [legend(legendOf(bars, groups), 24, 84)]
  if (logarithmic) {
    for (const power of powers) {
      const x = scale(10 ** power)
      parts.push(
        line(x, top - 6, x, bottom),
        text(x, bottom + 18, number(10 ** power), { size: 11, fill: faint, anchor: 'middle' }),
      )
    }
  }
  for (const [place, bar] of bars.entries()) {
    const y = top + place * rowHeight
    const end = scale(bar.value)
    const weight = bar.group === 'ours' ? 600 : 400
    parts.push(
      text(left - 10, y + 16, bar.label, { size: 12.5, anchor: 'end', weight }),
      `<rect x="${round(left)}" y="${y + 4}" width="${round(Math.max(2, end - left))}" height="${rowHeight - 9}" rx="3" fill="${colours[bar.group]}"/>`,
      text(Math.max(left + 2, end) + 7, y + 16, bar.text, { size: 12, fill: faint, weight }),
    )
  }
  parts.push(line(left, top - 6, left, bottom, faint))
  return sheet(width, bottom + (logarithmic ? 34 : 20), title, subtitle, parts)
}

const legendOf = (bars, groups) =>
  Object.entries(groups)
    .filter(([group]) => bars.some((bar) => bar.group === group))
    .map(([group, label]) => ({ label, colour: colours[group] }))

function legend(items, x, y) {
  let at = x
  return items
    .map(({ label, colour }) => {
      const part = `<rect x="${round(at)}" y="${y - 10}" width="12" height="12" rx="2" fill="${colour}"/>${text(at + 18, y, label, { size: 12, fill: faint })}`
      at += 18 + label.length * 6.6 + 24
      return part
    })
    .join('\n')
}

/** Lines with a legend below, one row for each. */
function lineChart({ title, subtitle, series, xPowers, xTick, yTick, yTicks, y, xLabel, yLabel, markers }) {
  const width = 860
  const [left, right, top, bottom] = [86, width - 36, 78, 400]
  const scaleX = logScale(xPowers, left, right)
  const scaleY = y(bottom, top)
  const parts = []
  for (const power of xPowers) {
    const x = scaleX(10 ** power)
    parts.push(
      line(x, top, x, bottom),
      text(x, bottom + 19, xTick(10 ** power), { size: 12, fill: faint, anchor: 'middle' }),
    )
  }
  for (const value of yTicks) {
    parts.push(
      line(left, scaleY(value), right, scaleY(value)),
      text(left - 9, scaleY(value) + 4, yTick(value), { size: 12, fill: faint, anchor: 'end' }),
    )
  }
  parts.push(line(left, bottom, right, bottom, faint), line(left, top, left, bottom, faint))
  parts.push(text((left + right) / 2, bottom + 42, xLabel, { size: 12.5, fill: faint, anchor: 'middle' }))
  parts.push(text(24, (top + bottom) / 2, yLabel, { size: 12.5, fill: faint, anchor: 'middle', rotate: -90 }))
  // Ours last, so that they lie on top.
  for (const { points, colour, width: stroke } of series.toReversed()) {
    const places = points.map(([px, py]) => [round(scaleX(px)), round(scaleY(py))])
    parts.push(
      `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="${stroke}" stroke-linejoin="round" stroke-linecap="round"/>`,
    )
    if (markers)
      for (const [px, py] of places)
        parts.push(
          `<circle cx="${px}" cy="${py}" r="${stroke + 1.5}" fill="${colour}" stroke="#ffffff" stroke-width="1"/>`,
        )
  }
  const rows = series.map(({ label, colour, width: stroke, last }, place) => {
    const rowY = bottom + 72 + place * 21
    const weight = stroke > 2 ? 600 : 400
    return `${line(left, rowY - 4, left + 24, rowY - 4, colour, stroke)}${text(left + 34, rowY, last === undefined ? label : `${label}: ${last}`, { size: 12.5, weight })}`
  })
  return sheet(width, bottom + 72 + series.length * 21 + 6, title, subtitle, [...parts, ...rows])
}

function dress(series) {
  let mine = 0
  let other = 0
  return series.map((one) =>
    one.ours
      ? { ...one, colour: oursColours[mine++ % oursColours.length], width: 2.8 }
      : { ...one, colour: otherColours[other++ % otherColours.length], width: 1.8 },
  )
}

/**
 * A cost against a size, both logarithmic.
 * @param {{ title: string, xLabel: string, series: { label: string, ours?: boolean, points: [number, number][] }[] }} chart
 */
export function growthChart({ title, xLabel, series }) {
  const all = series.flatMap(({ points }) => points)
  const yPowers = decades(all.map(([, value]) => value))
  return lineChart({
    title,
    subtitle: 'time of one operation, both axes logarithmic; flat is best, a steep line grows with the size',
    series: dress(series).map((one) => ({
      ...one,
      last: `${duration(one.points[0][1])} → ${duration(one.points.at(-1)[1])}`,
    })),
    xPowers: decades(all.map(([n]) => n)),
    xTick: number,
    yTicks: yPowers.map((power) => 10 ** power),
    yTick: duration,
    y: (from, to) => logScale(yPowers, from, to),
    xLabel,
    yLabel: 'mean time',
    markers: true,
  })
}

/**
 * Which share of the samples is below a time.
 * @param {{ title: string, subtitle: string, series: { label: string, points: [number, number][] }[] }} chart
 */
export function distributionChart({ title, subtitle, series }) {
  const all = series.flatMap(({ points }) => points.map(([ms]) => ms))
  const at = (points, percent) => points.find(([, share]) => share === percent)[0]
  return lineChart({
    title,
    subtitle,
    series: dress(series.map((one, place) => ({ ...one, ours: place < 2 }))).map((one) => ({
      ...one,
      last: `p50 ${duration(at(one.points, 50))}, p99 ${duration(at(one.points, 99))}`,
    })),
    xPowers: decades(all),
    xTick: duration,
    yTicks: [0, 25, 50, 75, 100],
    yTick: (value) => `${value} %`,
    y: (from, to) => (percent) => from + (percent / 100) * (to - from),
    xLabel: 'time since before the send, logarithmic',
    yLabel: 'messages',
    markers: false,
  })
}
