import { statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { decideRestate } from '../command/roster.ts'
import { decodeLine } from '../journal/codec.ts'
import {
  archivedPath,
  packSegment,
  removeArchived,
  removePlain,
  syncSegment,
  withArchive,
} from '../journal/file/archive.ts'
import { markFirst } from '../journal/file/first-mark.ts'
import { removeMirrored } from '../journal/file/mirror-upkeep.ts'
import { listArchived, listPlain, listSegments } from '../journal/file/segment.ts'
import { Archive, unpack } from '../journal/file/segment-bytes.ts'
import { SegmentReader } from '../journal/file/segment-reader.ts'
import { person } from '../model/agent.ts'
import type { ShareDraft, ShareEntry } from '../model/entry.ts'
import { sharesOf } from '../query/shares.ts'
import { firstUnfinished } from '../query/unfinished.ts'
import type { SpaceCore } from './core.ts'
import { runDue } from './due.ts'

export interface ArchiveOptions {
  /** Report what would be done without doing it. @default false */
  dryRun?: boolean
  /** Age of its last entry at which a segment is gzipped. Infinity: never. @default `retention.gzipAfterDays` */
  gzipAfterMs?: number
  /** Age at which an archived segment is removed. Infinity: never. @default `retention.removeAfterDays` */
  removeAfterMs?: number
  /** The time to go by, in ms since 1970. @default the clock of the space */
  now?: number
  onProgress?: (progress: ArchiveProgress) => void
  signal?: AbortSignal
}

/** Progress: in bytes while gzipping, in entries while rebuilding the index. */
export interface ArchiveProgress {
  task: 'gzip' | 'rebuild'
  done: number
  total: number
}

export interface ArchivedSegment {
  segment: number
  /** Its path in the archive, relative to the space's directory. */
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
  /** Segments that were considered and kept. */
  kept: { segment: number; reason: string }[]
}

const dayMs = 86_400_000

/**
 * Gzips old segments, and removes older ones. Both start at the oldest segment and stop at the first one
 * that must be kept, so neither the journal nor the archive ever has a gap.
 */
export async function archiveOld(core: SpaceCore, options: ArchiveOptions): Promise<ArchiveReport> {
  if (followRemoval(core)) await core.rebuild({ signal: options.signal })
  const job = jobOf(core, options)
  try {
    const planned = await run(job, true)
    const nothing = planned.gzipped.length === 0 && planned.removed.length === 0
    return options.dryRun || nothing ? planned : await withArchive(job.dir, () => run(job, false))
  } finally {
    job.reader.close()
  }
}

type Job = ReturnType<typeof jobOf>

function jobOf(core: SpaceCore, options: ArchiveOptions) {
  const { now = core.now(), gzipAfterMs, removeAfterMs } = options
  const { 'retention.gzipAfterDays': gzipDays, 'retention.removeAfterDays': removeDays } = core.settings
  const dir = join(core.dir, 'journal')
  return {
    ...{ core, options, dir, now },
    // What cannot be unpacked whole is not judged by what is left of it.
    reader: new SegmentReader(dir, decodeLine, { archive: new Archive(dir, unpack) }),
    // Segments whose last entry is from before these times, in ms, are old enough.
    gzipBefore: now - (gzipAfterMs === undefined ? daysMs(gzipDays) : checkAge(gzipAfterMs)),
    removeBefore: now - (removeAfterMs === undefined ? daysMs(removeDays) : checkAge(removeAfterMs)),
  }
}

const daysMs = (days: number): number => (days === 0 ? Number.POSITIVE_INFINITY : days * dayMs)

function checkAge(ageMs: number): number {
  if (ageMs > 0) return ageMs
  throw new MailboxError('invalid', `an age must be above 0, not ${ageMs} ms`, {
    hint: 'use a duration such as 30d, or forever to skip that step',
  })
}

async function run(job: Job, dryRun: boolean): Promise<ArchiveReport> {
  const gzip = dueForGzip(job)
  const gzipped = dryRun ? gzip.due : await gzipAll(job, gzip.due)
  const removal = await dueForRemoval(job, gzipped)
  if (!dryRun && removal.due.length > 0) await removeAll(job, removal.due)
  const kept = [...gzip.kept, ...removal.kept].sort((a, b) => a.segment - b.segment)
  return { gzipped, removed: removal.due, kept }
}

interface Plan {
  due: ArchivedSegment[]
  kept: ArchiveReport['kept']
}

function dueForGzip(job: Job): Plan {
  if (job.gzipBefore === Number.NEGATIVE_INFINITY) return { due: [], kept: [] }
  const plain = listPlain(job.dir)
  const plan = takeWhileDue(job, plain.slice(0, -2), (facts) => staysByAge(facts, job.gzipBefore))
  const reasons = ['it is right before the file being written', 'it is being written']
  const last = plain
    .slice(-2)
    .map((segment, at, both) => ({ segment, reason: reasons.slice(-both.length)[at]! }))
  return { due: plan.due, kept: [...plan.kept, ...last] }
}

/** `gzipped` are segments that are archived by then, or would be. Segments after an unarchived one must be kept. */
async function dueForRemoval(job: Job, gzipped: readonly ArchivedSegment[]): Promise<Plan> {
  if (job.removeBefore === Number.NEGATIVE_INFINITY) return { due: [], kept: [] }
  const unfinished = await job.core.query((source) => firstUnfinished(source, job.now))
  const isPlain = (segment: number) => gzipped.every((one) => one.segment !== segment)
  const end = listPlain(job.dir).find(isPlain) ?? 0
  const archived = listSegments(job.dir).filter((segment) => segment < end)
  return takeWhileDue(job, archived, (facts) => {
    const young = staysByAge(facts, job.removeBefore)
    if (young !== undefined || unfinished === undefined || facts.segment < unfinished.segment) return young
    return `message ${unfinished.id} is ${unfinished.is}`
  })
}

const staysByAge = ({ lastAt }: ArchivedSegment, before: number): string | undefined =>
  Date.parse(lastAt) < before ? undefined : `its last entry is from ${lastAt.slice(0, 10)}`

/** Segments up to the first one that must be kept; all later ones are kept with it. */
function takeWhileDue(
  job: Job,
  segments: readonly number[],
  reasonToKeep: (facts: ArchivedSegment) => string | undefined,
): Plan {
  const plan: Plan = { due: [], kept: [] }
  const archived = listArchived(job.dir)
  for (const segment of segments) {
    const facts =
      plan.kept.length > 0 ? 'an older one is kept' : describe(job, segment, archived.get(segment))
    const reason = typeof facts === 'string' ? facts : reasonToKeep(facts)
    if (reason !== undefined) plan.kept.push({ segment, reason })
    else plan.due.push(facts as ArchivedSegment)
  }
  return plan
}

/** A segment's facts, or why they cannot be determined. */
function describe(
  { core, dir, reader }: Job,
  segment: number,
  archived: string | undefined,
): ArchivedSegment | string {
  try {
    // An empty segment was closed when the next one began.
    const lastAt = (reader.last(segment) ?? reader.head(segment + 1))?.at
    if (lastAt === undefined) return 'its age is unknown because it has no entries'
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
    await packAtSource(job, facts)
    const gzippedBytes = await packSegment(job.dir, facts.segment, join(job.core.dir, facts.file), signal)
    gzipped.push({ ...facts, gzippedBytes })
    done += facts.bytes
    onProgress?.({ task: 'gzip', done, total })
  }
  return gzipped
}

/** In a database, a segment is archived for all machines before this one archives its copy. */
async function packAtSource({ core, reader }: Job, { segment, file }: ArchivedSegment): Promise<void> {
  const source = core.journal.sourceArchive
  const [first, next] = [reader.head(segment)?.seq, reader.head(segment + 1)?.seq]
  if (source === undefined || first === undefined || next === undefined) return
  await source.pack(segment, basename(file), first, next - 1)
}

/**
 * Removes from the copy of this machine what another machine has removed from the database. Returns whether there was
 * something.
 */
export function followRemoval(core: SpaceCore): boolean {
  const dir = join(core.dir, 'journal')
  const first = core.journal.sourceArchive?.first
  const isGone = (segment: number) => segment < first!.segment
  if (first === undefined || !listSegments(dir).some(isGone)) return false
  core.changeSegments(() => {
    markFirst(dir, core.journal.space, first)
    const archived = [...listArchived(dir).keys()].filter(isGone).sort((a, b) => a - b)
    if (archived.length > 0) removeArchived(dir, archived)
    removePlain(dir, listPlain(dir).filter(isGone))
  })
  return true
}

/**
 * Removes segments and rebuilds the index from the rest. Nothing in them is unread or open, and finished mail
 * stays finished, so what held when they were checked still holds.
 */
async function removeAll(job: Job, due: readonly ArchivedSegment[]): Promise<void> {
  const { core, dir } = job
  const { signal, onProgress } = job.options
  signal?.throwIfAborted()
  const segments = due.map(({ segment }) => segment)
  // Expired mail still counts as unread until its expiry has been recorded.
  await runDue(core)
  // Restates every agent and every key of the space in the remaining segments, synced to disk in case of a power loss right after.
  const keys = await core.query(sharesOf)
  const restated = await core.record('directory', (view) => [
    ...decideRestate(view),
    ...keys.map((entry) => restateShare(core, entry)),
  ])
  const last = restated.at(-1)
  if (last !== undefined) syncSegment(dir, last.place.segment)
  const total = await core.query(({ index }) => index.cursor.seq)
  const next = Math.max(...segments) + 1
  const seq = job.reader.head(next)?.seq
  if (seq !== undefined) await core.journal.sourceArchive?.removeBefore(next, seq)
  core.changeSegments(() => {
    if (seq !== undefined) markFirst(dir, core.journal.space, { segment: next, seq })
    removeArchived(dir, segments)
  })
  removeMirrored(core.settings['journal.mirror'], core.journal.space, next - 1)
  await core.rebuild({ onProgress: (done) => onProgress?.({ task: 'rebuild', done, total }), signal })
}

/** A key that was shared, once more: what it opens may be in segments that stay. */
function restateShare(core: SpaceCore, entry: ShareEntry): ShareDraft {
  const { seq: _, at: __, ...draft } = entry
  // With a key of today: those that were in use then may not be known any more.
  return draft.originalAt === undefined ? core.vault.signed({ ...draft, by: person }) : draft
}
