import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { writeFileAtomically } from '../base/files.ts'
import { identityPath, Mirror, mirrorJournal, readIdentity } from '../journal/file/mirror.ts'
import { type CopyOptions, copyClosed, type MirrorState, mirrorState } from '../journal/file/mirror-upkeep.ts'
import { listPlain } from '../journal/file/segment.ts'
import type { SpaceCore } from './core.ts'
import { ensureSpaceDir, writeSetting } from './settings.ts'

const journalOf = (core: SpaceCore) => join(core.dir, 'journal')

/** How the mirror stands to the journal; undefined if the space has none. */
export function stateOfMirror(core: SpaceCore): MirrorState | undefined {
  const mirror = core.settings['journal.mirror']
  return mirror === '' ? undefined : mirrorState(journalOf(core), mirror, core.journal.space)
}

export interface Mirrored {
  /** How much was copied. */
  bytes: number
}

/**
 * Makes a directory the mirror of the space and copies everything there is, before the setting says so. An empty
 * name ends mirroring; the copy stays as it is.
 */
export async function setMirror(core: SpaceCore, mirror: string, options: CopyOptions): Promise<Mirrored> {
  if (mirror !== '') prepare(core, mirror)
  const copied = mirror === '' ? { bytes: 0 } : await bringUpToDate(core, mirror, options)
  writeSetting(core.dir, 'journal.mirror', mirror)
  return copied
}

function prepare(core: SpaceCore, mirror: string): void {
  const { space } = core.journal
  if (!isOutside(core.dir, mirror) || !isOutside(mirror, core.dir)) {
    throw new MailboxError('invalid', `${mirror} overlaps the space in ${core.dir}`, {
      hint: 'choose a directory outside the space, best on another disk',
    })
  }
  // It holds all mail, so it must be as private as the space.
  ensureSpaceDir(mirror)
  const identity = readIdentity(mirror)
  if (identity !== undefined && identity.space !== space) {
    throw new MailboxError('conflict', `${mirror} is the mirror of another space`, {
      hint: 'choose an empty directory',
    })
  }
  if (identity === undefined && readdirSync(mirror).length > 0) {
    throw new MailboxError('conflict', `${mirror} is not empty`, { hint: 'choose an empty directory' })
  }
  if (!existsSync(mirrorJournal(mirror))) mkdirSync(mirrorJournal(mirror), { mode: 0o700 })
  if (identity === undefined) writeFileAtomically(identityPath(mirror), `${JSON.stringify({ space })}\n`)
}

const isOutside = (dir: string, other: string): boolean =>
  relative(realOf(dir), realOf(other)).startsWith('..')

/** Where a path leads, even if it does not exist yet. */
const realOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realOf(dirname(path)), basename(path))

/** Copies what a mirror lacks: closed segments first, then, while nobody writes, the one that is being written. */
export async function bringUpToDate(
  core: SpaceCore,
  mirror: string,
  options: CopyOptions,
): Promise<Mirrored> {
  const dir = journalOf(core)
  const { missingBytes } = mirrorState(dir, mirror, core.journal.space)
  await copyClosed(dir, mirror, options)
  const copy = new Mirror(dir, mirror, core.journal.space, core.settings.durability)
  try {
    for (let left: number | undefined = 1; left !== 0; ) {
      left = core.exclusively(() => copy.follow(listPlain(dir).at(-1)!))
      if (left === undefined) throw copy.fault
    }
    copy.syncNow()
  } finally {
    copy.close()
  }
  return { bytes: missingBytes }
}
