import { toPrintableLine } from '../../model/text.ts'
import type { Colors } from '../output.ts'

export interface Column {
  head: string
  /** May be truncated when the line is too long. @default false */
  flexible?: boolean
  /** Right-aligned, for numbers. @default false */
  right?: boolean
  /** Left out when it is empty in every row. @default false */
  optional?: boolean
  /** Colours a cell after its width was measured. */
  paint?: (text: string, row: number) => string
}

const gap = '  '
const leastWidth = 8

/**
 * Aligned lines, headings first, no wider than `width` where possible. Cells are mostly untrusted text, so
 * they are made printable here.
 */
export function table(
  all: readonly Column[],
  rows: readonly string[][],
  width: number,
  colors: Colors,
): string[] {
  const used = all.map(({ optional = false }, at) => !optional || rows.some((row) => row[at] !== ''))
  const columns = all.filter((_, at) => used[at])
  const cells = rows.map((row) => row.filter((_, at) => used[at]).map(toPrintableLine))
  const widths = columns.map(({ head }, at) =>
    Math.max(cellWidth(head), ...cells.map((row) => cellWidth(row[at] ?? ''))),
  )
  shrink(columns, widths, width)
  const line = (texts: readonly string[], paint: (text: string, at: number) => string) =>
    texts
      .map((text, at) => {
        const cut = fitTo(text, widths[at]!)
        const padding = ' '.repeat(widths[at]! - cellWidth(cut))
        const painted = cut === '' ? '' : paint(cut, at)
        return columns[at]!.right ? padding + painted : painted + padding
      })
      .join(gap)
      .trimEnd()
  return [
    line(
      columns.map(({ head }) => head),
      colors.dim,
    ),
    ...cells.map((row, place) => line(row, (text, at) => columns[at]!.paint?.(text, place) ?? text)),
  ]
}

/** Narrows the widest flexible column until the line fits. */
function shrink(columns: readonly Column[], widths: number[], width: number): void {
  const total = () => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1))
  while (total() > width) {
    const widest = widths.reduce((best, each, at) => {
      const can = columns[at]!.flexible && each > leastWidth
      return can && (best < 0 || each > widths[best]!) ? at : best
    }, -1)
    if (widest < 0) return
    widths[widest]!--
  }
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const markless = /[\p{Mn}\p{Me}\p{Cf}]/u

const charWidth = (char: string) => (char < '\u0300' ? 1 : markless.test(char) ? 0 : wide.test(char) ? 2 : 1)

/** The width of a text on a terminal. */
function cellWidth(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** What is in quotes stays in quotes. */
const fitTo = (text: string, width: number): string =>
  cellWidth(text) <= width || !/^".*"$/.test(text)
    ? truncate(text, width)
    : `${truncate(text, width - 1).replace(/\\*…$/, '…')}"`

/** As much of a text as fits, with an ellipsis if it was truncated. */
export function truncate(text: string, width: number): string {
  if (cellWidth(text) <= width) return text
  let kept = ''
  let used = 1
  for (const char of text) {
    used += charWidth(char)
    if (used > width) break
    kept += char
  }
  return `${kept}…`
}

/** Wraps at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && cellWidth(last) + 1 + cellWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(...pieces(word, width))
  }
  return lines
}

function pieces(word: string, width: number): string[] {
  const found = ['']
  for (const char of word) {
    if (cellWidth(found.at(-1)!) + charWidth(char) > width) found.push('')
    found[found.length - 1] += char
  }
  return found
}
