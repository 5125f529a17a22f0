import { join } from 'node:path'
import type { VerifyOptions, VerifyReport } from '../journal/file/verify.ts'
import { hasMoreThanJournal } from '../query/unreadable.ts'
import type { SpaceCore } from './core.ts'

/** How many imported messages share a sync. More would fill the memory. */
const importsAtOnce = 64

/** Checks the journal of a space that need not be open. It only reads. */
export async function verifyDir(dir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { verifyJournal } = await import('../journal/file/verify.ts')
  return verifyJournal(join(dir, 'journal'), options)
}

export async function verify(
  core: SpaceCore,
  options: VerifyOptions & { deep?: boolean },
): Promise<VerifyReport> {
  core.mustBeOpen()
  const report = await verifyDir(core.dir, options)
  return options.deep ? verifyIndex(core, report) : report
}

/** Adds to a report where the index differs from the journal. */
export async function verifyIndex(core: SpaceCore, report: VerifyReport): Promise<VerifyReport> {
  const { compareWithRebuild } = await import('../index/rebuild.ts')
  if (report.problems.length > 0) await core.findDamaged()
  // An index that was built before the damage is not wrong because it knows more.
  if (await core.query(hasMoreThanJournal)) return report
  report.problems.push(...compareWithRebuild(core.dir, core.journal, core.index))
  return report
}

export async function importMessages(
  core: SpaceCore,
  lines: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<{ imported: number; skipped: number }> {
  const { checkImport, decideImport } = await import('../command/import.ts')
  const count = { imported: 0, skipped: 0 }
  const underWay = new Set<Promise<void>>()
  for await (const line of lines) {
    const draft = checkImport(line)
    const one = core
      .record('index', (view) => decideImport(view, draft))
      .then((placed) => {
        count[placed.length > 0 ? 'imported' : 'skipped']++
        underWay.delete(one)
      })
    underWay.add(one)
    if (underWay.size >= importsAtOnce) await Promise.race(underWay)
  }
  await Promise.all(underWay)
  return count
}
