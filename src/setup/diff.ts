import { structuredPatch } from 'diff'
import { parseSettings } from './json-value.ts'

export interface DiffLine {
  kind: 'added' | 'removed' | 'context' | 'place'
  text: string
}

/** Longer lines are not for reading: such a file is shown as if it were laid out. */
const longestLine = 500
const contextLines = 2
const secret =
  /((?:key|token|secret|password|passwd|auth\w*|credential\w*|cookie)\w*["']?\s*[:=]\s*)(["']).+?\2/gi

/** What changes in a settings file, to be looked at before it does. */
export function diffOf(before: string, after: string): DiffLine[] {
  const [from, to] = [before, after].map(layOut) as [string, string]
  const { hunks } = structuredPatch('', '', from, to, '', '', { context: contextLines })
  return hunks.flatMap(({ oldStart, lines }): DiffLine[] => [
    { kind: 'place', text: `line ${oldStart}` },
    ...lines.filter((line) => !line.startsWith('\\')).map(asLine),
  ])
}

function asLine(line: string): DiffLine {
  const text = line.slice(1).replace(/\r$/, '')
  if (line[0] === '+') return { kind: 'added', text }
  if (line[0] === '-') return { kind: 'removed', text }
  // Neighbours are shown to find one's way, and may be read by an agent: not what they keep secret.
  return { kind: 'context', text: text.replace(secret, '$1$2…$2') }
}

function layOut(text: string): string {
  const isLong = text.split('\n').some((line) => line.length > longestLine)
  if (!isLong || !/^\s*\{/.test(text)) return text
  return JSON.stringify(parseSettings(text), null, 2)
}
