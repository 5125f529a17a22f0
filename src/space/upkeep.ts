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
  // Reading to the end meets every record that cannot be read.
  if (report.problems.length > 0) for await (const _ of core.follow({ live: false }));
  // An index that was built before the damage is not wrong because it knows more.
  if (await core.query(hasMoreThanJournal)) return report
  report.problems.push(...(await compareIndex(core)))
  return report
}

/** Where the index differs from one that is built from the journal. */
export async function compareIndex(core: SpaceCore): Promise<string[]> {
  const { compareWithRebuild } = await import('../index/rebuild.ts')
  return compareWithRebuild(core.dir, core.journal, core.index)
}

export async function importMessages(
  core: SpaceCore,
  lines: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<{ imported: number; skipped: number }> {
  const { checkImport, decideImport } = await import('../command/import.ts')
  const count = { imported: 0, skipped: 0 }
  const underWay = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined
  const record = async (draft: ReturnType<typeof checkImport>) => {
    try {
      const placed = await core.record('index', (view) => decideImport(view, draft))
      count[placed.length > 0 ? 'imported' : 'skipped']++
    } catch (error) {
      // Nobody may be waiting for this one at the moment.
      failure ??= { error }
    }
  }
  try {
    for await (const line of lines) {
      const one = record(checkImport(line)).finally(() => underWay.delete(one))
      underWay.add(one)
      if (underWay.size >= importsAtOnce) await Promise.race(underWay)
      if (failure !== undefined) break
    }
  } finally {
    await Promise.all(underWay)
  }
  if (failure !== undefined) throw failure.error
  return count
}
