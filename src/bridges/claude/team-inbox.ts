import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { systemName } from '../../base/errors.ts'
import { isObject } from '../../base/objects.ts'
import type { Folder } from '../folder.ts'
import { withLock } from '../lock.ts'
import { lockManner } from './team-files.ts'

export interface InboxEntry {
  from: string
  text: string
  timestamp: string
  summary?: string
  msg_id?: string
  [more: string]: unknown
}

const isEntry = (value: unknown): value is InboxEntry =>
  isObject(value) &&
  typeof value['from'] === 'string' &&
  typeof value['text'] === 'string' &&
  typeof value['timestamp'] === 'string'

/** The entries of an inbox. A file that is no list counts as empty there, and so it does here. */
export function readInbox(folder: Folder, path: string): InboxEntry[] {
  return readList(folder, path).filter((value, n): value is InboxEntry => {
    if (isEntry(value)) return true
    folder.problem(path, 'has an entry without from, text and timestamp', n + 1)
    return false
  })
}

function readList(folder: Folder, path: string): unknown[] {
  const file = folder.has(path) ? folder.read(path) : undefined
  if (file === undefined) return []
  try {
    const list: unknown = JSON.parse(file.text)
    if (Array.isArray(list)) return list
    folder.problem(path, 'is not a list')
  } catch {
    if (folder.isSettled(path)) folder.problem(path, 'is not JSON')
  }
  return []
}

/** Changes an inbox under its lock; `undefined` leaves it as it is. Entries that we do not understand stay in it. */
export function changeInbox(
  folder: Folder,
  path: string,
  change: (entries: readonly unknown[]) => unknown[] | undefined,
): void {
  createEmpty(folder.inside(path))
  withLock(folder, `${path}.lock`, lockManner, () => {
    const changed = change(readList(folder, path))
    if (changed === undefined) return
    const temporary = `${path}.tmp.${randomBytes(4).toString('hex')}`
    folder.replace(path, JSON.stringify(changed, null, 2), { temporary })
  })
}

function createEmpty(path: string): void {
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
    if (file !== undefined)
      folder.replace(path, change(file.text), { temporary: `${path}.tmp.${randomBytes(4).toString('hex')}` })
  })
}
