const [cellWidth, lineHeight, fontSize, margin] = [8.4, 18, 14, 14]
const colors = {
  30: '#6c7086',
  31: '#f28b82',
  32: '#8fd19e',
  33: '#e6c07b',
  34: '#8ab4f8',
  35: '#d7a8f0',
  36: '#7fd3d8',
  37: '#e8e6e1',
}
const [ink, paper] = ['#e8e6e1', '#1b1d22']

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const esc = String.fromCharCode(27)

/** The pieces of a line as a terminal has painted them. */
function piecesOf(line) {
  let style = {}
  const pieces = []
  for (const part of line.split(new RegExp(`(${esc}\\[[\\d;]*m)`))) {
    if (!part.startsWith(esc)) {
      if (part !== '') pieces.push({ text: part, ...style })
      continue
    }
    for (const code of part.slice(2, -1).split(';').map(Number)) {
      if (code === 0) style = {}
      else if (code === 1) style = { ...style, bold: true }
      else if (code === 2) style = { ...style, dim: true }
      else if (code === 22) style = { ...style, bold: false, dim: false }
      else if (code === 39) style = { ...style, color: undefined }
      else if (colors[code] !== undefined) style = { ...style, color: colors[code] }
    }
  }
  return pieces
}

/** Screens of a terminal, one after another, as a picture that plays by itself. */
export function recordingSvg(frames, { columns, rows, title }) {
  const [width, height] = [Math.ceil(columns * cellWidth) + 2 * margin, rows * lineHeight + 2 * margin + 22]
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0)
  const percent = (seconds) => `${((seconds / total) * 100).toFixed(3)}%`
  let from = 0
  const rules = []
  const groups = frames.map(({ seconds, text }, at) => {
    const to = from + seconds
    const isLast = at === frames.length - 1
    // Without motion, the last screen stays.
    rules.push(
      `@keyframes f${at}{0%,${percent(Math.max(0, from - 0.001))}{visibility:hidden}${percent(from)},${percent(to - 0.001)}{visibility:visible}${isLast ? '' : `${percent(to)},100%{visibility:hidden}`}}`,
      `.f${at}{visibility:${isLast ? 'visible' : 'hidden'};animation:f${at} ${total.toFixed(1)}s step-end infinite}`,
    )
    from = to
    const lines = text
      .split('\n')
      .slice(0, rows)
      .flatMap((line, row) => {
        const pieces = piecesOf(line.trimEnd())
        if (pieces.length === 0) return []
        const spans = pieces.map(({ text: said, color, bold, dim }) => {
          const styled = [color && `fill="${color}"`, bold && 'font-weight="600"', dim && 'opacity=".65"']
            .filter(Boolean)
            .join(' ')
          return styled === '' ? escapeXml(said) : `<tspan ${styled}>${escapeXml(said)}</tspan>`
        })
        return `<text x="${margin}" y="${margin + 22 + (row + 0.8) * lineHeight}">${spans.join('')}</text>`
      })
    return `<g class="f${at}">${lines.join('')}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>text{font:${fontSize}px ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;fill:${ink};white-space:pre}${rules.join('')}@media (prefers-reduced-motion:reduce){g[class]{animation:none}}</style>
<rect width="${width}" height="${height}" rx="8" fill="${paper}"/>
<circle cx="18" cy="17" r="5" fill="#f28b82"/><circle cx="35" cy="17" r="5" fill="#e6c07b"/><circle cx="52" cy="17" r="5" fill="#8fd19e"/>
${groups.join('\n')}
</svg>
`
}
