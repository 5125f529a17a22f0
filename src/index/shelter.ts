import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { WriterLock } from '../journal/file/lock.ts'
import type { Journal } from '../journal/journal.ts'

/** Where a projection can keep its file. */
export interface Shelter {
  dir: string
  /** Runs `work` while nobody else creates or removes the file. */
  withLock<T>(work: () => T): T
  /** Called when the projection is closed. */
  leave(): void
}

/** All there are, the best first. In a space that is only looked at, its own directory is not one of them. */
export function* shelters(dir: string, journal: Journal, onlyLook: boolean): Generator<Shelter> {
  if (!onlyLook) yield inSpace(dir, journal)
  yield* elsewhere(journal)
}

/** In the space itself, where every process shares it. */
export const inSpace = (dir: string, journal: Journal): Shelter => ({
  dir,
  withLock: (work) => journal.withLock(work),
  leave() {},
})

const lockTimeoutMs = 60_000

/**
 * Where else, when the space cannot be written to: the disk is full, it is mounted read-only, or it belongs to
 * somebody else. In the user's cache directory it is there for the next command, which then reads only what is new;
 * where that cannot be written to either, in memory or in a temporary directory, for this process alone.
 */
function* elsewhere({ space }: Journal): Generator<Shelter> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  yield* orNone(() => {
    const dir = join(cache, 'agent-mailbox', space)
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const lock = new WriterLock(join(dir, 'lock'))
    return { dir, withLock: (work) => lock.withSync(work, lockTimeoutMs), leave: () => lock.close() }
  })
  for (const parent of ['/dev/shm', tmpdir()].filter((path) => existsSync(path)))
    yield* orNone(() => {
      const dir = mkdtempSync(join(parent, 'mailbox-index-'))
      return { dir, withLock: (work) => work(), leave: () => rmSync(dir, { recursive: true, force: true }) }
    })
}

function orNone(make: () => Shelter): Shelter[] {
  try {
    return [make()]
  } catch {
    return []
  }
}
