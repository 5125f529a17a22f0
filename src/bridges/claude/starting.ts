import type { Folder } from '../folder.ts'
import { LockHeld } from '../lock.ts'
import { inboxPath, type Member, type Team } from './team-files.ts'
import { createEmpty, isEmptyInbox } from './team-inbox.ts'

/*
 * A lead puts a new teammate on the roster first, then gives it a place (`tmuxPaneId`), then empties its inbox, and then
 * starts it. What somebody writes to it before it was emptied is lost. So its mail waits: until its inbox, which is put
 * there for this, is another file with nothing in it, or until that must have happened long ago.
 */

/** From its place on the roster to the empty inbox it takes milliseconds. */
const startMs = 2_000

interface Start {
  /** The inbox as it was before it was emptied. */
  inode: number | undefined
  /** When it was first seen with a place. */
  placedAt?: number
}

const starts = new WeakMap<Folder, Map<string, Start>>()

/** Throws `LockHeld` while a teammate is being started. */
export function mustBeStarted(folder: Folder, team: Team, member: Member): void {
  const known = starts.get(folder) ?? new Map<string, Start>()
  starts.set(folder, known)
  const { name, agentId, joinedAt, tmuxPaneId, isActive } = member
  const key = `${agentId} ${String(joinedAt)}`
  const age = Date.now() - Number(joinedAt)
  const isNew = tmuxPaneId === '' || (age >= 0 && age < startMs)
  const path = inboxPath(team.name, name)
  let start = known.get(key)
  if (start === undefined) {
    if (!isNew) return
    createEmpty(folder.inside(path))
    start = { inode: folder.stat(path)?.ino }
    known.set(key, start)
  }
  if (tmuxPaneId !== '') start.placedAt ??= performance.now()
  const { inode, placedAt = Number.POSITIVE_INFINITY } = start
  const isEmptied = folder.stat(path)?.ino !== inode && isEmptyInbox(folder, path)
  const isLong = performance.now() - placedAt >= startMs
  if (typeof isActive === 'boolean' || isEmptied || isLong) known.delete(key)
  else throw new LockHeld(path, 'is the inbox of a teammate that is being started')
}
