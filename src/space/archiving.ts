import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError, typedError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { WriterLock } from '../journal/file/lock.ts'
import type { SpaceCore } from './core.ts'
import { archiveOld, followRemoval } from './retention.ts'

/** What one run has done. Sizes are in bytes. */
export interface ArchivingRun {
  /** When it ended, in ms since 1970. */
  at: number
  /** How many files were compressed, and how large they were before and after. */
  compressed: number
  bytes: number
  compressedBytes: number
  removed: number
  /** Why it could not be finished. */
  problem?: string
}

/** In `SPACE/archiving.json`. */
export interface ArchivingState {
  /** The last run, whether there was something to do or not. */
  last: ArchivingRun
  /** The last one that did something. */
  lastDone?: ArchivingRun
}

const dayMs = 86_400_000
/** How often to look whether it is time for a run: at least, and at most. */
const lookMs = 10 * 60_000
const lookAtMostMs = 5_000

const statePath = (dir: string): string => join(dir, 'archiving.json')

/** What the last runs have done. Undefined if there was none. */
export function archivingState(dir: string): ArchivingState | undefined {
  const found = readJsonIfAny<Partial<ArchivingState>>(statePath(dir))
  return Number.isSafeInteger(found?.last?.at) ? (found as ArchivingState) : undefined
}

type Listener = (run: ArchivingRun) => void
const listeners = new WeakMap<SpaceCore, Set<Listener>>()

/** Calls the listener after each run in this process that did something, or could not. */
export function onArchived(core: SpaceCore, listener: Listener): { stop: () => void } {
  const known = listeners.get(core) ?? new Set()
  listeners.set(core, known.add(listener))
  return { stop: () => void known.delete(listener) }
}

/** Whether the settings ask for anything. By default they do not. */
export const isArchivingOn = ({ settings }: Pick<SpaceCore, 'settings'>): boolean =>
  settings['retention.gzipAfterDays'] > 0 || settings['retention.removeAfterDays'] > 0

/**
 * Archives by the settings once a day for as long as the space is open. Whichever process comes first does it; a
 * process that is killed meanwhile leaves the rest to the next.
 */
export async function keepArchiving(core: SpaceCore): Promise<void> {
  while ((isArchivingOn(core) || core.journal.isElsewhere) && !core.ending.aborted) {
    // The disk or the space is in a bad way, and whoever uses them says so.
    await archiveIfDue(core).catch(() => {})
    if (core.journal.isElsewhere) await followOthers(core).catch(() => {})
    const dueInMs = isArchivingOn(core) ? dayMs - sinceLast(core) : lookMs
    const lookInMs = Math.min(lookMs, Math.max(lookAtMostMs, dueInMs))
    await sleep(lookInMs, undefined, { ref: false, signal: core.ending }).catch(() => {})
  }
}

/** How long ago the last run was. A time in the future is that of a clock that was wrong. */
const sinceLast = ({ dir, now }: SpaceCore): number => Math.abs(now() - (archivingState(dir)?.last.at ?? 0))

/** What another machine has removed from the database goes here as well. */
async function followOthers(core: SpaceCore): Promise<void> {
  await core.journal.pull()
  if (followRemoval(core)) await core.rebuild({ signal: core.ending })
}

/** One run, unless there was one within a day or another process is at it. */
export async function archiveIfDue(core: SpaceCore): Promise<ArchivingRun | undefined> {
  const isDue = () => sinceLast(core) >= dayMs
  if (!isArchivingOn(core) || core.endsNothing || !isDue()) return undefined
  const lock = new WriterLock(join(core.dir, 'archiving.lock'))
  try {
    return (await lock.tryWith(async () => (isDue() ? run(core) : undefined)))?.value
  } finally {
    lock.close()
  }
}

async function run(core: SpaceCore): Promise<ArchivingRun> {
  const nothing = { compressed: 0, bytes: 0, compressedBytes: 0, removed: 0 }
  let done: Omit<ArchivingRun, 'at'>
  try {
    const { gzipped, removed } = await archiveOld(core, { signal: core.ending })
    const sum = (sizes: (number | null)[]) => sizes.reduce<number>((total, size) => total + (size ?? 0), 0)
    done = {
      compressed: gzipped.length,
      bytes: sum(gzipped.map(({ bytes }) => bytes)),
      compressedBytes: sum(gzipped.map(({ gzippedBytes }) => gzippedBytes)),
      removed: removed.length,
    }
  } catch (error) {
    // The space is being closed, or somebody archives by hand: the next look begins where this one was.
    const isLater = core.ending.aborted || (error instanceof MailboxError && error.code === 'conflict')
    if (isLater) throw error
    done = { ...nothing, problem: (typedError(error) as Error).message }
  }
  const ran = { at: core.now(), ...done }
  const didSomething = ran.compressed + ran.removed > 0
  const before = archivingState(core.dir)?.lastDone
  const lastDone = didSomething ? ran : before
  const state: ArchivingState = { last: ran, ...(lastDone === undefined ? {} : { lastDone }) }
  writeFileAtomically(statePath(core.dir), `${JSON.stringify(state)}\n`)
  if (didSomething || ran.problem !== undefined) for (const tell of listeners.get(core) ?? []) tell(ran)
  return ran
}

/** `3 files compressed, 48.0 MiB to 6.1 MiB, 1 removed` */
export function describeRun({ compressed, bytes, compressedBytes, removed, problem }: ArchivingRun): string {
  if (problem !== undefined) return `could not archive: ${problem}`
  const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`
  const parts = [
    ...(compressed === 0
      ? []
      : [`${files(compressed)} compressed, ${describeSize(bytes)} to ${describeSize(compressedBytes)}`]),
    ...(removed === 0 ? [] : [`${files(removed)} removed`]),
  ]
  return parts.join('; ') || 'nothing to archive'
}

export function describeSize(bytes: number): string {
  const kib = bytes / 1024
  return kib < 1024 ? `${Math.ceil(kib)} KiB` : `${(kib / 1024).toFixed(1)} MiB`
}
