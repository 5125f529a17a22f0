import './plan-diff.css'
import { diffLines } from 'diff'
import { block } from '../lib/text.ts'

interface DiffRow {
  before?: string
  after?: string
  isSame: boolean
}

const linesIn = (text: string): string[] => text.replace(/\n$/, '').split('\n')

/** Two versions, line beside line. */
export function rowsOf(before: string, after: string): DiffRow[] {
  const rows: DiffRow[] = []
  let removed: string[] = []
  const flush = (added: readonly string[]) => {
    for (let n = 0; n < Math.max(removed.length, added.length); n++)
      rows.push({
        ...(removed[n] !== undefined && { before: removed[n] }),
        ...(added[n] !== undefined && { after: added[n] }),
        isSame: false,
      })
    removed = []
  }
  for (const part of diffLines(`${before}\n`, `${after}\n`)) {
    const lines = linesIn(part.value)
    if (part.removed) removed = lines
    else if (part.added) flush(lines)
    else {
      flush([])
      rows.push(...lines.map((line) => ({ before: line, after: line, isSame: true })))
    }
  }
  flush([])
  return rows
}

/** Two versions of a plan side by side; on a narrow screen, one below the other. */
export const PlanDiff = ({ before, after }: { before: string; after: string }) => (
  <div class="diff" role="region" aria-label="Changes from the previous version" tabIndex={0}>
    <table>
      <thead>
        <tr>
          <th scope="col">Previous version</th>
          <th scope="col">This version</th>
        </tr>
      </thead>
      <tbody>
        {rowsOf(before, after).map((row, n) => (
          <tr key={n}>
            <td class={row.isSame ? '' : row.before === undefined ? 'none' : 'removed'}>
              {row.before !== undefined && !row.isSame && <span class="hidden">Removed: </span>}
              {block(row.before ?? '')}
            </td>
            <td class={row.isSame ? '' : row.after === undefined ? 'none' : 'added'}>
              {row.after !== undefined && !row.isSame && <span class="hidden">Added: </span>}
              {block(row.after ?? '')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
