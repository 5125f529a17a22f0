import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { notice } from '../command/notice.ts'
import { WriterLock } from '../journal/file/lock.ts'
import { mirrorJournal, strangenessOf } from '../journal/file/mirror.ts'
import { LineScrub, type ScrubFinding } from '../journal/file/scrub.ts'
import {
  listArchived,
  listPlain,
  listSegments,
  openForRead,
  segmentExists,
  segmentPath,
} from '../journal/file/segment.ts'
import { PlainSegment, type SegmentBytes, unpack } from '../journal/file/segment-bytes.ts'
import { person } from '../model/agent.ts'
import { isoTime } from '../model/time.ts'
import type { SpaceCore } from './core.ts'
import { bringUpToDate } from './mirror.ts'

/** How far the files have been read, and what was found. In `SPACE/scrub.json`. */
export interface ScrubState {
  /** The last segment that was read in this pass; 0 at its beginning. */
  segment: number
  /** The sum of its last line; empty if it is not known. */
  sum: string
  /** When the last pass through all files was finished, in ms since 1970; 0: never. */
  finishedAt: number
  /** What the person was told of, and nobody has repaired yet. */
  findings: ScrubFinding[]
}

export interface ScrubOptions {
  /** Pause between two parts. @default 1_000 */
  pauseMs?: number
  /** Time from the end of one pass to the next. @default a day */
  everyMs?: number
}

const partBytes = 65_536
/** How often to look whether it is time for a pass, or for another process to do it. */
const lookMs = 10 * 60_000
const dayMs = 86_400_000
const freshState: ScrubState = { segment: 0, sum: '', finishedAt: 0, findings: [] }

const statePath = (dir: string): string => join(dir, 'scrub.json')

/** What the last readings have found. Undefined if the files were never read. */
export function scrubState(dir: string): ScrubState | undefined {
  const found = readJsonIfAny<Partial<ScrubState>>(statePath(dir))
  const isWhole = Number.isSafeInteger(found?.segment) && Array.isArray(found?.findings)
  return isWhole ? { ...freshState, ...found } : undefined
}

const saveState = (dir: string, state: ScrubState): void =>
  writeFileAtomically(statePath(dir), `${JSON.stringify(state)}\n`)

/** What a person should know about it; none if nothing was found. */
export function scrubWarnings(dir: string): string[] {
  const count = scrubState(dir)?.findings.length ?? 0
  if (count === 0) return []
  const places = count === 1 ? '1 damaged place was' : `${count} damaged places were`
  return [
    `${places} found in the journal or its copies; to see what can be repaired: mailbox repair --dry-run`,
  ]
}

/** After a repair everything is to be read again. */
export function forgetFindings(dir: string): void {
  if (scrubState(dir) !== undefined) saveState(dir, freshState)
}

/**
 * Reads old files slowly for as long as the space is open, so that damage is found while a copy still exists. One
 * process per space does it; the others look now and then whether it has ended.
 */
export async function keepScrubbing(core: SpaceCore, options: ScrubOptions = {}): Promise<void> {
  while (!core.ending.aborted) {
    const lock = new WriterLock(join(core.dir, 'scrub.lock'))
    try {
      await lock.tryWith(() => scrubOn(core, options))
    } catch {
      // The disk or the space is in a bad way, and whoever uses them says so.
    } finally {
      lock.close()
    }
    await pause(core, lookMs)
  }
}

async function scrubOn(core: SpaceCore, { pauseMs = 1_000, everyMs = dayMs }: ScrubOptions): Promise<void> {
  while (!core.ending.aborted) {
    const { finishedAt } = scrubState(core.dir) ?? freshState
    const dueMs = finishedAt + everyMs - core.now()
    if (dueMs > 0) await pause(core, Math.min(dueMs, lookMs))
    else await scrubAll(core, pauseMs)
  }
}

/** One pass through all closed segments, from where the last one was interrupted. */
export async function scrubAll(core: SpaceCore, pauseMs = 0): Promise<ScrubState> {
  const dir = join(core.dir, 'journal')
  let state = scrubState(core.dir) ?? freshState
  const mirror = usableMirror(core)
  // A mirror that cannot be written keeps nobody from reading.
  if (mirror !== undefined) await bringUpToDate(core, mirror, { signal: core.ending }).catch(() => {})
  const job: Job = { core, dir, mirror, pauseMs }
  const last = listPlain(dir).at(-1) ?? 0
  for (const segment of listSegments(dir)) {
    if (segment <= state.segment || segment >= last) continue
    const follows = segment === state.segment + 1
    const { findings, sum } = await scrubSegment(job, segment, follows ? state.sum : '')
    const current = scrubState(core.dir) ?? freshState
    // A repair has begun a new count.
    if (core.ending.aborted || current.segment !== state.segment) return current
    const at = isoTime(core.now())
    const fresh = findings
      .filter((one) => !current.findings.some((known) => isSame(known, one)))
      .map((one) => ({ ...one, at }))
    if (fresh.length > 0) await tellPerson(core, fresh)
    state = { ...current, segment, sum, findings: [...current.findings, ...fresh] }
    saveState(core.dir, state)
  }
  state = { ...state, segment: 0, sum: '', finishedAt: core.now() }
  saveState(core.dir, state)
  return state
}

const isSame = (a: ScrubFinding, b: ScrubFinding): boolean =>
  a.segment === b.segment && a.offset === b.offset && a.where === b.where

function usableMirror(core: SpaceCore): string | undefined {
  const mirror = core.settings['journal.mirror']
  return mirror === '' || strangenessOf(mirror, core.journal.space) !== undefined ? undefined : mirror
}

interface Job {
  core: SpaceCore
  dir: string
  mirror: string | undefined
  pauseMs: number
}

async function scrubSegment(
  { core, dir, mirror, pauseMs }: Job,
  segment: number,
  before: string,
): Promise<{ findings: ScrubFinding[]; sum: string }> {
  const archived = segmentExists(dir, segment) ? undefined : listArchived(dir).get(segment)
  const where = archived === undefined ? 'journal' : 'archive'
  const path = archived ?? segmentPath(dir, segment)
  using original = openSegment(path, archived !== undefined)
  // It was removed meanwhile, or cannot be unpacked.
  if (original?.bytes === undefined)
    return { findings: original === undefined ? [] : [{ segment, offset: 0, where }], sum: '' }
  using copy =
    mirror === undefined ? undefined : openSegment(segmentPath(mirrorJournal(mirror), segment), false)
  const lines = new LineScrub(before)
  const { size } = original.bytes.look()
  let differsAt = -1
  for (let offset = 0; offset < size && !core.ending.aborted; offset += partBytes) {
    const part = original.bytes.read(offset, partBytes)
    lines.take(part)
    const isSame = copy?.bytes?.read(offset, partBytes).equals(part) ?? true
    if (!isSame && differsAt < 0) differsAt = offset
    await pause(core, pauseMs)
  }
  lines.end()
  const findings = lines.wrong.map((offset): ScrubFinding => ({ segment, offset, where }))
  // If the journal is right, it is the mirror that is not.
  if (differsAt >= 0 && findings.length === 0) findings.push({ segment, offset: differsAt, where: 'mirror' })
  return { findings, sum: lines.sum }
}

/** Undefined if there is no such file; without bytes if it cannot be unpacked. */
function openSegment(path: string, packed: boolean) {
  const fd = openForRead(path)
  if (fd === undefined) return undefined
  let bytes: SegmentBytes | undefined
  try {
    bytes = packed ? unpack({ path, fd }) : new PlainSegment(fd)
  } catch {
    // The finding says so.
  }
  return { bytes, [Symbol.dispose]: () => closeSync(fd) }
}

/** Waits, unless the space is closed. */
async function pause({ ending }: SpaceCore, ms: number): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal: ending }).catch(() => {})
}

const listedAtMost = 20

/** As mail, so that it reaches the person wherever the person reads. */
async function tellPerson(core: SpaceCore, findings: readonly ScrubFinding[]): Promise<void> {
  const places = findings
    .slice(0, listedAtMost)
    .map(({ segment, offset, where }) => `- ${where}, file ${segment}, from byte ${offset} on`)
  const more = findings.length > listedAtMost ? [`- and ${findings.length - listedAtMost} more`] : []
  const isMirrorOnly = findings.every(({ where }) => where === 'mirror')
  await core.record('directory', (_, context) => [
    notice(context, {
      to: [person],
      type: 'error',
      priority: 'high',
      subject: isMirrorOnly ? 'The mirror of the journal is damaged' : 'The journal is damaged',
      body: [
        'While old files of the journal were read again, this was not as it was written:',
        ...places,
        ...more,
        '',
        'To see what can be repaired: mailbox repair --dry-run',
      ].join('\n'),
    }),
  ])
}
