import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { decideRestate } from '../command/restate-roster.ts'
import { decodeLine } from '../journal/codec.ts'
import {
  archivedPath,
  packSegment,
  removeArchived,
  syncSegment,
  withArchive,
} from '../journal/file/archive.ts'
import { listArchived, listPlain, listSegments } from '../journal/file/segment.ts'
import { SegmentReader } from '../journal/file/segment-reader.ts'
import type { Entry } from '../model/entry.ts'
import { firstUnfinished } from '../query/unfinished.ts'
import type { SpaceCore } from './core.ts'
import { runDue } from './due.ts'

export interface ArchiveOptions {
  /** Say what would be done, and do nothing. @default false */
  dryRun?: boolean
  /** Age of its last entry at which a segment is gzipped. Infinity: never. @default `retention.gzipAfterDays` */
  gzipAfterMs?: number
  /** Age at which an archived segment is removed. Infinity: never. @default `retention.removeAfterDays` */
  removeAfterMs?: number
  /** When to act as if it were, in ms since 1970. @default the clock of the space */
  now?: number
  onProgress?: (progress: ArchiveProgress) => void
  signal?: AbortSignal
}

/** How far the work is: gzipping in bytes, building the index anew in entries. */
export interface ArchiveProgress {
  task: 'gzip' | 'rebuild'
  done: number
  total: number
}

export interface ArchivedSegment {
  segment: number
  /** Where it lies in the archive, below the space's directory. */
  file: string
  bytes: number
  /** Null in a dry run, if it is not gzipped yet. */
  gzippedBytes: number | null
  /** Time of its last entry. */
  lastAt: string
}

export interface ArchiveReport {
  gzipped: ArchivedSegment[]
  removed: ArchivedSegment[]
  /** Segments that were looked at and stay where they are. */
  kept: { segment: number; reason: string }[]
}

const dayMs = 86_400_000

/**
 * Gzips what is old, and removes what is older still. Both take the segments from the oldest on and end at
 * the first that has to stay, so neither the journal nor the archive ever has a gap.
 */
export async function archiveOld(core: SpaceCore, options: ArchiveOptions): Promise<ArchiveReport> {
  const job = jobOf(core, options)
  try {
    const foreseen = await foresee(job)
    const nothing = foreseen.gzipped.length === 0 && foreseen.removed.length === 0
    return options.dryRun || nothing ? foreseen : await withArchive(job.dir, () => run(job))
  } finally {
    job.reader.close()
  }
}

interface Job {
  core: SpaceCore
  options: ArchiveOptions
  dir: string
  reader: SegmentReader<Entry>
  now: number
  /** What happened last before these times, in ms, is old enough. */
  gzipBefore: number
  removeBefore: number
}

function jobOf(core: SpaceCore, options: ArchiveOptions): Job {
  const { now = core.now(), gzipAfterMs, removeAfterMs } = options
  const { 'retention.gzipAfterDays': gzipDays, 'retention.removeAfterDays': removeDays } = core.settings
  const dir = join(core.dir, 'journal')
  return {
    ...{ core, options, dir, now },
    reader: new SegmentReader(dir, decodeLine),
    gzipBefore: now - (gzipAfterMs === undefined ? daysMs(gzipDays) : checkAge(gzipAfterMs)),
    removeBefore: now - (removeAfterMs === undefined ? daysMs(removeDays) : checkAge(removeAfterMs)),
  }
}

const daysMs = (days: number): number => (days === 0 ? Number.POSITIVE_INFINITY : days * dayMs)

function checkAge(ageMs: number): number {
  if (ageMs > 0) return ageMs
  throw new MailboxError('invalid', `an age of ${ageMs} ms makes no sense`, {
    hint: 'give a positive duration such as 30d; forever leaves that step out',
  })
}

async function foresee(job: Job): Promise<ArchiveReport> {
  const gzip = dueForGzip(job)
  const removal = await dueForRemoval(
    job,
    gzip.due.map(({ segment }) => segment),
  )
  return { gzipped: gzip.due, removed: removal.due, kept: keptBy(gzip, removal) }
}

async function run(job: Job): Promise<ArchiveReport> {
  const gzip = dueForGzip(job)
  const gzipped = await gzipAll(job, gzip.due)
  const removal = await dueForRemoval(job, [])
  if (removal.due.length > 0) await removeAll(job, removal.due)
  return { gzipped, removed: removal.due, kept: keptBy(gzip, removal) }
}

interface Plan {
  due: ArchivedSegment[]
  kept: ArchiveReport['kept']
}

const keptBy = (...plans: Plan[]): Plan['kept'] =>
  plans.flatMap(({ kept }) => kept).sort((a, b) => a.segment - b.segment)

function dueForGzip(job: Job): Plan {
  if (job.gzipBefore === Number.NEGATIVE_INFINITY) return { due: [], kept: [] }
  const plain = listPlain(job.dir)
  const plan = takeWhileDue(job, plain.slice(0, -2), (facts) => staysByAge(facts, job.gzipBefore))
  const reasons = ['it is right before the one being written', 'it is being written']
  const last = plain
    .slice(-2)
    .map((segment, at, both) => ({ segment, reason: reasons.slice(-both.length)[at]! }))
  return { due: plan.due, kept: [...plan.kept, ...last] }
}

/** `gzipped` are segments that would be archived by then. Nothing behind one that is not archived can go. */
async function dueForRemoval(job: Job, gzipped: readonly number[]): Promise<Plan> {
  if (job.removeBefore === Number.NEGATIVE_INFINITY) return { due: [], kept: [] }
  const unfinished = await job.core.query((source) => firstUnfinished(source, job.now))
  const end = listPlain(job.dir).find((segment) => !gzipped.includes(segment)) ?? 0
  const archived = listSegments(job.dir).filter((segment) => segment < end)
  return takeWhileDue(job, archived, (facts) => {
    const young = staysByAge(facts, job.removeBefore)
    if (young !== undefined || unfinished === undefined || facts.segment < unfinished.segment) return young
    return `message ${unfinished.id} in it is unread or open`
  })
}

const staysByAge = ({ lastAt }: ArchivedSegment, before: number): string | undefined =>
  Date.parse(lastAt) < before ? undefined : `its last entry is of ${lastAt.slice(0, 10)}`

/** Segments up to the first that stays; with that one, everything behind it stays. */
function takeWhileDue(
  job: Job,
  segments: readonly number[],
  stays: (facts: ArchivedSegment) => string | undefined,
): Plan {
  const plan: Plan = { due: [], kept: [] }
  const archived = listArchived(job.dir)
  for (const segment of segments) {
    const facts = plan.kept.length > 0 ? 'an older one stays' : describe(job, segment, archived.get(segment))
    const reason = typeof facts === 'string' ? facts : stays(facts)
    if (reason !== undefined) plan.kept.push({ segment, reason })
    else plan.due.push(facts as ArchivedSegment)
  }
  return plan
}

/** What there is to know of a segment, or why nothing can be known. */
function describe(
  { core, dir, reader }: Job,
  segment: number,
  archived: string | undefined,
): ArchivedSegment | string {
  try {
    // Without a single entry, it was closed when the next one began.
    const lastAt = (reader.last(segment) ?? reader.head(segment + 1))?.at
    if (lastAt === undefined) return 'no entry tells how old it is'
    const path = archived ?? archivedPath(dir, segment, lastAt)
    const gzippedBytes = archived === undefined ? null : statSync(archived).size
    return { segment, file: relative(core.dir, path), bytes: reader.size(segment), gzippedBytes, lastAt }
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'damaged') return error.message
    throw error
  }
}

async function gzipAll(job: Job, due: readonly ArchivedSegment[]): Promise<ArchivedSegment[]> {
  const { signal, onProgress } = job.options
  const total = due.reduce((sum, { bytes }) => sum + bytes, 0)
  const gzipped: ArchivedSegment[] = []
  let done = 0
  for (const facts of due) {
    signal?.throwIfAborted()
    const gzippedBytes = await packSegment(job.dir, facts.segment, join(job.core.dir, facts.file), signal)
    gzipped.push({ ...facts, gzippedBytes })
    done += facts.bytes
    onProgress?.({ task: 'gzip', done, total })
  }
  return gzipped
}

/**
 * Removes segments and builds the index anew from what is left. Nothing in them is unread or open, and mail
 * that is finished stays so: what was true when they were looked at is true now.
 */
async function removeAll(job: Job, due: readonly ArchivedSegment[]): Promise<void> {
  const { core, dir, options } = job
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const segments = due.map(({ segment }) => segment)
  // Mail whose life is over still counts for whoever keeps counts, until that is written down.
  await runDue(core)
  await restateRoster(job)
  const total = await core.query(({ index }) => index.cursor.seq)
  core.dropSegments(() => removeArchived(dir, segments))
  await core.rebuild({
    onProgress: (done) => onProgress?.({ task: 'rebuild', done, total }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** Everybody must be known from what is left, also when the power fails a moment later. */
async function restateRoster({ core, dir }: Job): Promise<void> {
  const { placed } = await core.decide('directory', (view) => ({
    drafts: decideRestate(view),
    result: undefined,
  }))
  const last = placed.at(-1)
  if (last !== undefined) syncSegment(dir, last.place.segment)
}
