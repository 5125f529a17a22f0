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
  /((?:key|token|secret|password|passwd|auth|credential|cookie)\w*["']?\s*[:=]\s*)(["'])(?:\\.|(?!\2).)+\2/gi

/** What changes in a settings file, to be looked at before it does. */
export function diffOf(before: string, after: string): DiffLine[] {
  const isUnreadable = before.split('\n').some((line) => line.length > longestLine) && /^\s*\{/.test(before)
  const [from, to] = isUnreadable ? [layOut(before), layOut(after)] : [before, after]
  const { hunks } = structuredPatch('', '', from, to, '', '', { context: contextLines })
  return hunks.flatMap(({ oldStart, lines }): DiffLine[] => [
    { kind: 'place', text: `line ${oldStart}` },
    ...lines.filter((line) => !line.startsWith('\\')).map(asLine),
  ])
}

/** What stands beside our entries may be read by an agent, too: not what it keeps secret. */
function asLine(line: string): DiffLine {
  const text = line.slice(1).replace(/\r$/, '').replace(secret, '$1$2…$2')
  return { kind: line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : 'context', text }
}

const layOut = (text: string): string => JSON.stringify(parseSettings(text), null, 2)
