import { createHash } from 'node:crypto'
import type { Folder } from '../folder.ts'
import { changeInbox, type InboxEntry, isEntry } from './team-inbox.ts'

/** Entries of one message have times of their own. */
export const laterBy = (at: string, ms: number): string =>
  ms === 0 ? at : new Date(Date.parse(at) + ms).toISOString()

/**
 * Entries of one sender, time and text are one entry there, so their times are made distinct. Readers take entries
 * out, so one that is not there may have been: what is about to be renamed into place is noted first. If the temporary
 * file of a killed run is gone, it was.
 */
export function append(folder: Folder, path: string, entries: readonly InboxEntry[]): void {
  const { memory } = folder
  const id = entries[0]?.msg_id ?? ''
  const note = `appending ${path}`
  const temporary = `${path}.tmp.${createHash('sha256').update(id).digest('hex').slice(0, 8)}`
  if (memory.note(note) === id && !folder.has(temporary)) return
  const change = (list: readonly unknown[]) => {
    const there = list.filter(isEntry)
    const ids = new Set(there.map(({ msg_id }) => msg_id))
    const fresh = entries.filter(({ msg_id }) => !ids.has(msg_id))
    for (const entry of fresh)
      while (there.some((one) => keyOf(one) === keyOf(entry))) entry.timestamp = laterBy(entry.timestamp, 1)
    return fresh.length === 0 ? undefined : [...list, ...fresh]
  }
  try {
    changeInbox(folder, path, change, { temporary, beforeRename: () => memory.setNote(note, id) })
  } catch (error) {
    memory.forgetNote(note)
    throw error
  }
}

const keyOf = ({ from, timestamp, text }: InboxEntry): string => `${from}|${timestamp}|${text}`
