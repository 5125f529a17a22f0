import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Journal } from '../journal/journal.ts'
import { openIndex } from './index.ts'
import type { CatchUpOptions, Projection } from './projection.ts'

/** Discards tables and builds them anew, giving way to other work between chunks. */
export async function rebuild(
  projections: readonly Projection[],
  options: CatchUpOptions = {},
): Promise<void> {
  for (const projection of projections) {
    projection.discard()
    while (projection.catchUp({ ...options, chunks: 1 })) await new Promise(setImmediate)
  }
}

/** Builds a second index from the same journal and names every table in which the two differ. */
export function compareWithRebuild(dir: string, journal: Journal, index: Projection): string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'mailbox-verify-'))
  const fresh = openIndex(scratch, journal)
  try {
    fresh.catchUp()
    // The last steps with nobody writing, so that both are looked at in the same state.
    const [wanted, found] = journal.withLock(() => [
      fresh.read(() => dump(fresh)),
      index.read(() => dump(index)),
    ])
    const problems: string[] = []
    for (const [table, rows] of wanted) {
      if (found.get(table) !== rows)
        problems.push(`index: table ${table} in ${dir} differs from a rebuilt one; run \`mailbox rebuild\``)
    }
    return problems
  } finally {
    fresh.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function dump(index: Projection): Map<string, string> {
  const tables = index
    .sql("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta' ORDER BY name")
    .all()
  return new Map(
    tables.map(([name]) => {
      const rows = index.sql(`SELECT * FROM ${name as string}`).all()
      return [name as string, rows.map((row) => JSON.stringify(row)).join('\n')]
    }),
  )
}
