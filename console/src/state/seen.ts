import { effect, signal } from '@preact/signals'
import type { ThreadSummary } from '../data/types.ts'
import { overview } from './overview.ts'

/**
 * What the person has looked at in this browser. It is not in the journal: looking is not reading, and answers nothing.
 * `base`: everything up to this entry was there before, and counts as seen.
 */
interface Seen {
  base: number
  threads: Record<string, number>
}

const most = 2_000
const seen = signal<Seen | null>(null)
let key = ''

function read(text: string | null): Seen | null {
  try {
    return text === null ? null : (JSON.parse(text) as Seen)
  } catch {
    return null
  }
}

function write(next: Seen): void {
  seen.value = next
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    // Storage is full or blocked: it holds until the page is closed.
  }
}

// Several spaces may have been served at this address.
effect(() => {
  const { space, seq } = overview.data.value ?? {}
  if (space === undefined || seq === undefined || key === `mailbox.seen.${space.id}`) return
  key = `mailbox.seen.${space.id}`
  const known = read(localStorage.getItem(key))
  if (known === null) write({ base: seq, threads: {} })
  else seen.value = known
})

/** The last entry of a thread that was looked at; undefined before the first overview. */
export function seenIn(thread: string): number | undefined {
  const now = seen.value
  return now === null ? undefined : Math.max(now.base, now.threads[thread] ?? 0)
}

export const isNew = ({ id, lastSeq, lastFrom }: ThreadSummary): boolean =>
  lastFrom !== 'user' && lastSeq > (seenIn(id) ?? Number.POSITIVE_INFINITY)

/** Returns what takes it back. */
export function markSeen(threads: Readonly<Record<string, number>>): () => void {
  const now = seen.peek()
  if (now === null || Object.entries(threads).every(([id, seq]) => (seenIn(id) ?? 0) >= seq)) return () => {}
  const all = Object.entries({ ...now.threads, ...threads }).sort((a, b) => b[1] - a[1])
  // Beyond that the oldest are forgotten, with everything before them.
  write({ base: Math.max(now.base, all[most]?.[1] ?? 0), threads: Object.fromEntries(all.slice(0, most)) })
  return () => write(now)
}
