import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { systemName } from '../../base/errors.ts'
import { isObject } from '../../base/objects.ts'
import type { Folder, ReplaceOptions } from '../folder.ts'
import { LockHeld, withLock } from '../lock.ts'
import { lockManner } from './team-files.ts'

export interface InboxEntry {
  from: string
  text: string
  timestamp: string
  summary?: string
  msg_id?: string
  [more: string]: unknown
}

const isText = (value: unknown): boolean => typeof value === 'string'

export const isEntry = (value: unknown): value is InboxEntry =>
  isObject(value) &&
  ['from', 'text', 'timestamp'].every((name) => isText(value[name])) &&
  ['summary', 'msg_id'].every((name) => value[name] === undefined || isText(value[name]))

/** The entries of an inbox. */
export function readInbox(folder: Folder, path: string): InboxEntry[] {
  return (readList(folder, path) ?? []).filter((value, n): value is InboxEntry => {
    if (isEntry(value)) return true
    folder.problem(path, 'has an entry that is no message', n + 1)
    return false
  })
}

/** Nothing is in it, not even what we do not understand. */
export const isEmptyInbox = (folder: Folder, path: string): boolean => readList(folder, path)?.length === 0

/** Undefined if the file is no list: it may be half written. */
function readList(folder: Folder, path: string): unknown[] | undefined {
  if (!folder.has(path)) return []
  const file = folder.read(path)
  if (file === undefined) return undefined
  // Whoever created it was killed before it wrote the list.
  if (file.text === '') return []
  try {
    const list: unknown = JSON.parse(file.text)
    if (Array.isArray(list)) return list
    folder.problem(path, 'is not a list')
  } catch {
    if (folder.isSettled(path)) folder.problem(path, 'is not JSON')
  }
  return undefined
}

/**
 * Changes an inbox under its lock; `undefined` leaves it as it is. Entries that we do not understand stay in it, and a
 * file that is no list is left alone.
 */
export function changeInbox(
  folder: Folder,
  path: string,
  change: (entries: readonly unknown[]) => unknown[] | undefined,
  options: ReplaceOptions = {},
): void {
  createEmpty(folder.inside(path))
  withLock(folder, `${path}.lock`, lockManner, () => {
    const list = readList(folder, path)
    if (list === undefined) throw new LockHeld(path)
    const changed = change(list)
    if (changed === undefined) return
    folder.replace(path, JSON.stringify(changed, null, 2), { temporary: temporaryOf(path), ...options })
  })
}

const temporaryOf = (path: string): string => `${path}.tmp.${randomBytes(4).toString('hex')}`

/** Makes the inbox of somebody who has none yet. */
export function createEmpty(path: string): void {
  try {
    const fd = openSync(path, 'wx', 0o644)
    writeSync(fd, '[]')
    closeSync(fd)
  } catch (error) {
    if (systemName(error) !== 'EEXIST') throw error
  }
}

/** Changes a task under its own lock. */
export function changeTask(folder: Folder, path: string, change: (text: string) => string): void {
  withLock(folder, `${path}.lock`, lockManner, () => {
    const file = folder.read(path)
    if (file !== undefined) folder.replace(path, change(file.text), { temporary: temporaryOf(path) })
  })
}
