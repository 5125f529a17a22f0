import { join } from 'node:path'
import { isObject } from '../../base/objects.ts'
import { sleepSync } from '../../base/timers.ts'
import type { Folder } from '../folder.ts'
import { setMembers } from '../json-text.ts'
import { timeOf } from '../letters.ts'
import { pythonLine } from '../python-json.ts'

/*
 * The count of a mailbox, which has no lock: its reader sets it to 0 with the time, and whoever appends a line adds
 * one. What keeps it true:
 *
 *   - A count that somebody else has replaced while ours was being written is read again.
 *   - A line that was there when its reader last looked is not counted: `last_checked` decides.
 *   - What the count was before a line is noted first, so that the next run knows whether a killed one had counted it.
 *   - The count of an agent here is known here. It is set again once nobody has written for a moment.
 */

export const inboxIn = (box: string): string => join(box, 'inbox.jsonl')
export const countPath = (box: string): string => join(box, 'inbox_count.json')

interface Count {
  unread: number
  last_checked: unknown
}

const none: Count = { unread: 0, last_checked: '' }
const tries = 20
const pauseMs = 2
/** Whoever appends a line writes the count right after it. */
const quietMs = 300

/** When its reader last looked. */
export const lastCheckIn = (count: Count): string | undefined =>
  Number.isNaN(checkedAt(count)) ? undefined : new Date(checkedAt(count)).toISOString()

export function countIn(folder: Folder, path: string): Count | undefined {
  const text = folder.has(path) ? folder.read(path)?.text : undefined
  return text === undefined ? undefined : parsed(text)
}

function parsed(text: string): Count | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isCount =
      isObject(value) && Number.isSafeInteger(value['unread']) && (value['unread'] as number) >= 0
    return isCount ? (value as unknown as Count) : undefined
  } catch {
    return undefined
  }
}

/** A time without a fraction may be any moment of its second: the line was there before its end. */
function checkedAt({ last_checked: last }: Count): number {
  const isWhole = typeof last === 'string' && /:\d\d(?:Z|[+-]\d\d:\d\d)?$/.test(last)
  return Date.parse(timeOf(last) ?? '') + (isWhole ? 999 : 0)
}

/** Somebody else has written the count meanwhile. */
class Overtaken extends Error {}

/** Changes a count, or leaves it as it is where `next` gives nothing. */
function change(folder: Folder, box: string, next: (count: Count) => Partial<Count> | undefined): void {
  const path = countPath(box)
  const stamp = () => {
    const { ino, size, mtimeMs, ctimeMs } = folder.stat(path) ?? {}
    return [ino, size, mtimeMs, ctimeMs].join()
  }
  for (let left = tries; ; left--) {
    const before = stamp()
    const text = folder.has(path) ? folder.read(path)?.text : undefined
    const count = text === undefined ? none : parsed(text)
    if (count === undefined && left > 0) {
      // It is being written in its place.
      sleepSync(pauseMs)
      continue
    }
    const wanted = next(count ?? none)
    if (wanted === undefined) return
    const isWhole = text !== undefined && count !== undefined
    const written = isWhole ? setMembers(text, { ...wanted }) : pythonLine({ ...none, ...wanted })
    if (written === text) return
    const beforeRename = () => {
      if (left > 0 && stamp() !== before) throw new Overtaken()
    }
    try {
      folder.replace(path, written, { temporary: `${path}.tmp`, beforeRename })
      return
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
  }
}

const noteOf = (box: string): string => `counting ${box}`

/** Appends a line, and counts it unless its reader has looked since. `append` returns when others could see it. */
export function countOneMore(folder: Folder, box: string, id: string, append: () => number): void {
  const { unread, last_checked: last } = countIn(folder, countPath(box)) ?? none
  folder.memory.setNote(noteOf(box), JSON.stringify([id, unread, last]))
  const seenFrom = append()
  // The times of others may be more precise than a millisecond.
  change(folder, box, (count) => (checkedAt(count) > seenFrom ? undefined : { unread: count.unread + 1 }))
}

/** A line is there that a killed run has written, and may not have counted. */
export function finishCounting(folder: Folder, box: string, id: string): void {
  const [counted, unread, last] = JSON.parse(folder.memory.note(noteOf(box)) ?? '[]') as unknown[]
  if (counted !== id) return
  const wroteAt = folder.stat(inboxIn(box))?.mtimeMs ?? 0
  change(folder, box, (count) => {
    if (count.last_checked === last) return count.unread === unread ? { unread: count.unread + 1 } : undefined
    // Somebody has looked: before the line was there, or after that.
    return checkedAt(count) >= wroteAt ? undefined : { unread: Math.max(count.unread, 1) }
  })
}

/** An agent here has read its mail. */
export function setCount(folder: Folder, box: string, unread: number, at: string): void {
  change(folder, box, (count) => (count.unread === unread ? undefined : { unread, last_checked: at }))
}

/** The same in the place of a run that was killed: it may have come as far as the number. */
export function setCountAgain(folder: Folder, box: string, unread: number, at: string): void {
  change(folder, box, (count) =>
    count.unread === unread && checkedAt(count) >= Date.parse(at) ? undefined : { unread, last_checked: at },
  )
}

/** Puts the count of an agent here right, unless somebody may be about to write it. */
export function settleCount(folder: Folder, box: string, unread: number): void {
  const path = countPath(box)
  // Whoever writes a line by hand makes no count.
  const count = folder.has(path) ? countIn(folder, path) : none
  if (count === undefined || count.unread === unread || !folder.has(box)) return
  const wroteAt = [inboxIn(box), path].map((one) => folder.stat(one)?.mtimeMs ?? 0)
  if (Date.now() - Math.max(...wroteAt) < quietMs) folder.isUnsettled = true
  else change(folder, box, () => ({ unread }))
}
