import { join } from 'node:path'
import { knowsLost } from '../index/holes.ts'
import type { VerifyOptions, VerifyReport } from '../journal/file/verify.ts'
import { hasMoreThanJournal } from '../query/unreadable.ts'
import type { SpaceCore } from './core.ts'
import { readSettings } from './settings.ts'

/** Checks the journal of a space that need not be open. It only reads. */
export async function verifyDir(dir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { verifyJournal } = await import('../journal/file/verify.ts')
  const { scrubState } = await import('./scrub.ts')
  const { rememberedHead } = await import('./head.ts')
  const known = scrubState(dir)?.findings.filter(({ where }) => where !== 'mirror') ?? []
  const report = await verifyJournal(join(dir, 'journal'), { known, seenIn: rememberedHead, ...options })
  if (readSettings(dir).require === 'signed')
    report.problems.push(
      ...report.unsigned.map((seq) => `entry ${seq} is not signed, and this space requires it`),
    )
  return report
}

export async function verify(
  core: SpaceCore,
  options: VerifyOptions & { deep?: boolean },
): Promise<VerifyReport> {
  core.mustBeOpen()
  await core.journal.pull()
  const report = await verifyDir(core.dir, options)
  report.problems.push(...((await core.journal.verifySource?.()) ?? []))
  return options.deep ? verifyIndex(core, report) : report
}

/** Adds to a report where the index differs from the journal. */
export async function verifyIndex(core: SpaceCore, report: VerifyReport): Promise<VerifyReport> {
  // Reading to the end meets every record that cannot be read.
  if (report.problems.length > 0) for await (const _ of core.follow({ live: false }));
  // An index that was built before the damage is not wrong because it knows more.
  if (await core.query(hasMoreThanJournal)) return report
  report.problems.push(...(await compareIndex(core, report)))
  return report
}

/**
 * Where the index differs from one that is built from the journal. One that knows of entries which the journal has
 * lost since is not wrong: to build it again would lose them once more.
 */
export async function compareIndex(core: SpaceCore, report?: VerifyReport): Promise<string[]> {
  const { compareWithRebuild } = await import('../index/rebuild.ts')
  const problems = compareWithRebuild(core.dir, core.journal, core.index)
  if (problems.length === 0) return problems
  const { damage } = report ?? (await verifyDir(core.dir))
  const lost = damage.flatMap((one) => one.lost ?? [])
  return (await core.query(({ index }) => knowsLost(index, lost))) ? [] : problems
}
