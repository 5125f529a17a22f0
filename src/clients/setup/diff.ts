import { structuredPatch } from 'diff'
import { parseSettings } from './json-value.ts'

export interface DiffLine {
  kind: 'added' | 'removed' | 'context' | 'place'
  text: string
}

/** A file with longer lines is shown as if it were formatted. */
const longestLine = 500
const contextLines = 2
const secret =
  /((?:key|token|secret|password|passwd|auth|credential|cookie)\w*["']?\s*[:=]\s*)(["'])(?:\\.|(?!\2).)+\2/gi

/** What would change in a settings file, for the person to review. */
export function diffOf(before: string, after: string): DiffLine[] {
  const isUnreadable = before.split('\n').some((line) => line.length > longestLine) && /^\s*\{/.test(before)
  const [from, to] = isUnreadable ? [formatted(before), formatted(after)] : [before, after]
  const { hunks } = structuredPatch('', '', from, to, '', '', { context: contextLines })
  return hunks.flatMap(({ oldStart, lines }): DiffLine[] => [
    { kind: 'place', text: `line ${oldStart}` },
    ...lines.filter((line) => !line.startsWith('\\')).map(asLine),
  ])
}

/** An agent may read this too, so secrets beside our entries are hidden. */
function asLine(line: string): DiffLine {
  const text = line.slice(1).replace(/\r$/, '').replace(secret, '$1$2…$2')
  return { kind: line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : 'context', text }
}

const formatted = (text: string): string => JSON.stringify(parseSettings(text), null, 2)
