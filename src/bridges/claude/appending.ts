import type { Folder } from '../folder.ts'
import { changeInbox, type InboxEntry } from './team-inbox.ts'

/** Entries of one message have times of their own. */
export const laterBy = (at: string, ms: number): string =>
  ms === 0 ? at : new Date(Date.parse(at) + ms).toISOString()

/** Entries of one sender, time and text are one entry there, so their times are made distinct. */
export function append(folder: Folder, path: string, entries: readonly InboxEntry[]): void {
  changeInbox(folder, path, (list) => {
    const there = list as InboxEntry[]
    const ids = new Set(there.map(({ msg_id }) => msg_id))
    const fresh = entries.filter(({ msg_id }) => !ids.has(msg_id))
    for (const entry of fresh)
      while (there.some((one) => keyOf(one) === keyOf(entry))) entry.timestamp = laterBy(entry.timestamp, 1)
    return fresh.length === 0 ? undefined : [...there, ...fresh]
  })
}

const keyOf = ({ from, timestamp, text }: InboxEntry): string => `${from}|${timestamp}|${text}`
