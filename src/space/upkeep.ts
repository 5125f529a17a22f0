import { join } from 'node:path'
import type { VerifyOptions, VerifyReport } from '../journal/file/verify.ts'
import { hasMoreThanJournal } from '../query/unreadable.ts'
import type { SpaceCore } from './core.ts'

/** How many imported messages share a sync. More would fill the memory. */
const importsAtOnce = 64

export async function verify(
  core: SpaceCore,
  options: VerifyOptions & { deep?: boolean },
): Promise<VerifyReport> {
  core.mustBeOpen()
  const { verifyJournal } = await import('../journal/file/verify.ts')
  const { compareWithRebuild } = await import('../index/rebuild.ts')
  const report = await verifyJournal(join(core.dir, 'journal'), options)
  if (report.problems.length > 0) await core.findDamaged()
  // An index that was built before the damage is not wrong because it knows more.
  const isComparable = !(await core.query(hasMoreThanJournal))
  if (options.deep && isComparable)
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
