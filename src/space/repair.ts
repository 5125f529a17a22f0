import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { withArchive } from '../journal/file/archive.ts'
import { applyRepair, isCurrent, type RepairedSegment } from '../journal/repair/apply.ts'
import { type Copy, copyAt, copyIn } from '../journal/repair/copies.ts'
import { exportedMessages } from '../journal/repair/exports.ts'
import { differingCopies, setCopiesAside } from '../journal/repair/mirror.ts'
import { type PlannedSegment, planRepair, type RepairPlan } from '../journal/repair/plan.ts'
import type { Range } from '../journal/repair/pool.ts'
import type { RepairDraft } from '../model/entry.ts'
import type { SpaceCore } from './core.ts'
import { bringUpToDate } from './mirror.ts'
import { forgetFindings } from './scrub.ts'

export interface RepairOptions {
  /** Say what would be done without doing it. @default false */
  dryRun?: boolean
  /** More places to take lost records from: copied journals, copied spaces, files of `mailbox export`. */
  from?: readonly string[]
  /** Asked with the plan before anything is changed. @default yes */
  confirm?: (report: RepairReport) => Promise<boolean>
  onProgress?: (done: number, total: number) => void
}

/** A file of the journal that was repaired, or would be. */
export interface RepairedFile {
  segment: number
  /** Relative to the space's directory. */
  file: string
  /** Whether there was no such file. */
  created: boolean
  /** Records that could be read, but did not stand on a line of their own in their place. */
  reformatted: number
  /** Records in which one bit had flipped. */
  corrected: number
  /** Records that came from a copy, by the name of the copy. */
  restored: Record<string, number>
  /** Where the damaged file is kept, relative to the space's directory. */
  kept?: string
}

export interface RepairReport {
  /** Whether something was changed. */
  applied: boolean
  files: RepairedFile[]
  /** Records that are lost: no copy has them. */
  lost: Range[]
  /** Segments whose copy in the mirror was damaged, and is copied again. */
  mirror: number[]
}

/** Repairs what can be repaired in the journal, from what can be read of it and of its copies. */
export async function repair(core: SpaceCore, options: RepairOptions): Promise<RepairReport> {
  core.mustBeOpen()
  const job = jobOf(core, options)
  const plan = job.plan(options.onProgress)
  const planned = job.report(plan, plan.segments, false)
  const isIdle = planned.files.length === 0 && planned.mirror.length === 0
  if (options.dryRun || isIdle || (await options.confirm?.(planned)) === false) return planned
  return withArchive(job.dir, async () => {
    const done = replace(core, job, plan)
    await core.rebuild({})
    forgetFindings(core.dir)
    // In a new segment: whoever has the last one open goes on to it, and an older format may not have the kind.
    if (done.segments.length > 0) await core.journal.append(() => [draftOf(done)], { begin: 'repaired' })
    if (job.mirror !== '') {
      setCopiesAside(job.mirror, planned.mirror)
      await bringUpToDate(core, job.mirror, {})
    }
    return { ...job.report(done, done.segments, true), mirror: planned.mirror }
  })
}

type Job = ReturnType<typeof jobOf>

function jobOf(core: SpaceCore, { from = [] }: RepairOptions) {
  const dir = join(core.dir, 'journal')
  const { 'journal.mirror': mirror, 'retention.removeAfterDays': removeAfterDays } = core.settings
  const { copies, exported } = sourcesOf(from)
  const all = mirror === '' ? copies : [copyIn(mirror, 'mirror'), ...copies]
  const { space } = core.journal
  return {
    ...{ dir, mirror },
    plan: (onSegment?: (done: number, total: number) => void): RepairPlan =>
      planRepair(dir, {
        // A space that removes old mail has fewer segments than its copies.
        ...{ space, copies: all, exported, older: removeAfterDays === 0 },
        ...(onSegment === undefined ? {} : { onSegment }),
      }),
    report: (
      plan: RepairPlan,
      segments: readonly (PlannedSegment & { kept?: string })[],
      applied: boolean,
    ) => ({
      applied,
      files: segments.map((one) => describe(core, one)),
      lost: plan.lost,
      mirror: mirror === '' ? [] : differingCopies(dir, mirror, plan.segments),
    }),
  }
}

function describe(core: SpaceCore, one: PlannedSegment & { kept?: string }): RepairedFile {
  const { segment, path, exists, reformatted, corrected, restored, kept } = one
  return {
    ...{ segment, file: relative(core.dir, path), created: !exists, reformatted, corrected, restored },
    ...(kept === undefined ? {} : { kept: join('journal', 'damaged', kept) }),
  }
}

function sourcesOf(from: readonly string[]) {
  const copies: Copy[] = []
  const exported: Record<string, ReturnType<typeof exportedMessages>> = {}
  for (const path of from) {
    const copy = copyAt(path)
    const messages = statSync(path).isDirectory() ? [] : exportedMessages(path)
    if (messages.length > 0) exported[path] = messages
    else if (copy.files.length > 0) copies.push(copy)
    else {
      throw new MailboxError('invalid', `${path} has neither journal files nor exported messages`, {
        hint: 'name a copy of a space or of its journal directory, or a file that `mailbox export` wrote',
      })
    }
  }
  return { copies, exported }
}

const draftOf = ({ segments, lost }: { segments: RepairedSegment[]; lost: Range[] }): RepairDraft => ({
  kind: 'repair',
  files: segments.map(({ segment, reformatted, corrected, restored, kept }) => ({
    ...{
      segment,
      reformatted,
      corrected,
      restored: Object.values(restored).reduce((sum, one) => sum + one, 0),
    },
    ...(kept === undefined ? {} : { kept }),
  })),
  lost,
})

/** Replaces the files while nobody writes. What was planned before is planned again if somebody has written since. */
function replace(
  core: SpaceCore,
  job: Job,
  plan: RepairPlan,
): { segments: RepairedSegment[]; lost: Range[] } {
  let done: { segments: RepairedSegment[]; lost: Range[] } | undefined
  core.changeSegments(() => {
    const current = isCurrent(plan) ? plan : job.plan()
    done = { segments: applyRepair(job.dir, current, core.now()), lost: current.lost }
  })
  return done!
}
