import type { DataKey } from '../base/sealing.ts'
import type { Journal } from '../journal/journal.ts'
import type { Entry, MessageEntry, ReceiptEntry, ScheduledEntry } from '../model/entry.ts'
import { audienceOf, lockedMessage, lockedNote, openMessage, openNote, parseSealed } from '../model/sealed.ts'
import type { ReadableJournal } from '../query/message.ts'

/** The key for what is sealed. `readers`: who can have it, if that is not everybody in the space. */
type FindKey = (sealed: string, readers: () => readonly string[]) => DataKey | undefined
/** Who can read an encrypted message, by its seq; undefined if that is not known. */
type ReadersOf = (seq: number) => readonly string[] | undefined

/** An entry with its text, or with a sentence in its place if there is no key. Most are returned as they are. */
export function openedEntry(entry: Entry, space: string, find: FindKey, readersOf: ReadersOf): Entry {
  if ((entry.kind === 'message' || entry.kind === 'scheduled') && entry.message.sealed !== undefined)
    return opened(entry, space, find)
  return entry.kind === 'receipt' && entry.sealed !== undefined
    ? withNote(entry, space, find, readersOf)
    : entry
}

function opened(entry: MessageEntry | ScheduledEntry, space: string, find: FindKey): Entry {
  const { message } = entry
  const sealed = message.sealed!
  const found = parseSealed(sealed)
  const key = find(sealed, () => [message.from, ...message.to])
  const text = key && openMessage(message, key, space)
  const encrypted = found === undefined ? 'recipients' : audienceOf(found)
  return text === undefined
    ? { ...entry, message: { ...lockedMessage(message), encrypted, locked: true } }
    : { ...entry, message: { ...text, encrypted } }
}

/** `sealed` stays: it tells one note from another for whoever has no key. */
function withNote(entry: ReceiptEntry, space: string, find: FindKey, readersOf: ReadersOf): Entry {
  const key = find(entry.sealed!, () => [
    entry.by,
    ...entry.changes.flatMap(({ seq }) => readersOf(seq) ?? []),
  ])
  return { ...entry, note: (key && openNote(entry, key, space)) ?? lockedNote }
}

/**
 * The journal as queries read it. This is the one place where text is decrypted for readers: the index, checks and
 * repairs read the journal as it is stored.
 */
export const openedJournal = (journal: Journal, open: (entry: Entry) => Entry): ReadableJournal => ({
  space: journal.space,
  open,
  at(place) {
    const entry = journal.at(place)
    return entry && open(entry)
  },
  read(cursor, maxBytes) {
    const read = journal.read(cursor, maxBytes)
    return { ...read, entries: read.entries.map(({ entry, place }) => ({ entry: open(entry), place })) }
  },
  damageAt: (place) => journal.damageAt(place),
  locate: (seq) => journal.locate(seq),
})
