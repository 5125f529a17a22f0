import { MailboxError } from '../base/errors.ts'
import type { Program } from './programs.ts'
import type { PaneSnapshot } from './tmux.ts'

type Seen = Pick<PaneSnapshot, 'rows' | 'continued' | 'cursor'>

export type Input = 'empty' | 'half-typed' | 'busy'

/**
 * Whether a program waits for input with nothing typed. The line with the cursor tells: before the cursor it must be
 * a prompt and nothing else, and after it there must be nothing.
 */
export function inputOf(look: Seen, program: Program, prompt = program.prompt): Input {
  const { emptyInput } = program
  if (emptyInput !== undefined && look.rows.some((row) => emptyInput.test(row.trimEnd()))) return 'empty'
  const { before, behind } = lineAtCursor(look)
  if (prompt.test(before)) return behind.trim() === '' ? 'empty' : 'half-typed'
  return beginsWithPrompt(before, prompt) ? 'half-typed' : 'busy'
}

/** What a user says about the prompt. The whole line must be the prompt: anything after it is half-typed input. */
export function promptPattern(prompt: string | undefined): RegExp | undefined {
  try {
    return prompt === undefined ? undefined : new RegExp(`^(?:${prompt})$`, 'u')
  } catch (cause) {
    throw new MailboxError('invalid', `${JSON.stringify(prompt)} is not a regular expression`, {
      hint: 'describe the whole line up to the cursor while nothing is typed, for example: --prompt "myagent> "',
      cause,
    })
  }
}

/** The whole line with the cursor. It may span several rows, of which the last alone can look like a prompt. */
function lineAtCursor({ rows, continued, cursor }: Seen): { before: string; behind: string } {
  let top = cursor.y
  while (top > 0 && continued[top]) top--
  let bottom = cursor.y
  while (continued[bottom + 1]) bottom++
  const { before, behind } = cutAtCell(rows[cursor.y] ?? '', cursor.x)
  return {
    before: [...rows.slice(top, cursor.y), before].join(''),
    behind: [behind, ...rows.slice(cursor.y + 1, bottom + 1)].join(''),
  }
}

/**
 * Which rows of a screen continue a line that started above. We compare the rows with the whole lines from tmux. For
 * programs that wrap lines themselves, the row after one that is full to the edge counts.
 */
export function continuedRows(rows: readonly string[], whole: readonly string[], width: number): boolean[] {
  const bare = (text: string) => text.replace(/\s+/g, '')
  const continued: boolean[] = []
  let line = 0
  let rest = ''
  for (const [at, row] of rows.entries()) {
    const goesOn = rest !== ''
    if (!goesOn) rest = bare(whole[line++] ?? '')
    // tmux takes both captures at once, so they should match. If they do not, take the row as it is.
    rest = rest.startsWith(bare(row)) ? rest.slice(bare(row).length) : ''
    continued.push(goesOn || (at > 0 && isFull(rows[at - 1]!, width)))
  }
  return continued
}

const rule = /^[\s\u2500-\u259f_=-]*$/u
const isFull = (row: string, width: number): boolean => cellsOf(row) >= width && !rule.test(row)

function beginsWithPrompt(text: string, prompt: RegExp): boolean {
  for (let length = 1; length < text.length; length++) if (prompt.test(text.slice(0, length))) return true
  return false
}

/** What programs draw around their text: frames, prompts, line breaks. */
const drawing = /[\s\u2500-\u259f│┃|]/gu
export const squeezed = (text: string): string => text.replace(drawing, '')

/** Whether the text with this end is anywhere on the screen, or what the program shows instead. */
export const isOnScreen = ({ rows }: Seen, end: string, folded?: RegExp): boolean =>
  squeezed(rows.join('')).includes(end) || rows.some((row) => folded?.test(row))

/** Whether the cursor is right after it: it was typed, and nothing has been typed since. */
export function isBeforeCursor({ rows, cursor }: Seen, end: string, folded?: RegExp): boolean {
  const { before } = cutAtCell(rows[cursor.y] ?? '', cursor.x)
  return (
    squeezed([...rows.slice(0, cursor.y), before].join('')).endsWith(end) || folded?.test(before) === true
  )
}

/** A row, cut at a column. tmux omits trailing spaces; those before the cursor count. */
function cutAtCell(row: string, x: number): { before: string; behind: string } {
  let cells = 0
  let at = 0
  for (const char of row) {
    const width = widthOf(char)
    if (cells >= x && width > 0) break
    cells += width
    at += char.length
  }
  return { before: row.slice(0, at) + ' '.repeat(Math.max(0, x - cells)), behind: row.slice(at) }
}

const noWidth = /\p{Mn}|\p{Me}|\p{Cf}/u
const twoWide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u

const cellsOf = (text: string): number => [...text].reduce((sum, char) => sum + widthOf(char), 0)
const widthOf = (char: string): number => (noWidth.test(char) ? 0 : twoWide.test(char) ? 2 : 1)
