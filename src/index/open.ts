import type { Database } from '../base/sqlite.ts'
import type { Cursor, Journal } from '../journal/journal.ts'
import type { Agent } from '../model/agent.ts'
import { Directory, rateWindowMs, tallySlots } from '../model/directory.ts'
import { createApplier } from './apply.ts'
import { type Applier, Projection } from './projection.ts'
import { indexSchema, searchSchema } from './schema.ts'
import type { Shelter } from './shelter.ts'

/** The tables that every query reads. */
export const openIndex = (journal: Journal, shelters: Iterable<Shelter>): Projection =>
  new Projection({ name: 'index.db', journal, schema: indexSchema, applier: createApplier, shelters })

/** The words of all messages, for full-text search. */
export const openSearch = (journal: Journal, shelters: Iterable<Shelter>): Projection =>
  new Projection({ name: 'index-search.db', journal, schema: searchSchema, applier: wordApplier, shelters })

function wordApplier(database: Database): Applier {
  const put = database.prepare(putWords)
  return {
    begin() {},
    apply({ entry }) {
      // Of what is encrypted there is nothing to put: see query/sealed-words.ts.
      if (entry.kind === 'message' && entry.message.sealed === undefined)
        put.run([entry.seq, asWords(entry.message.subject), asWords(entry.message.body)])
    },
    finish() {},
  }
}

export const putWords = 'INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)'

/** Some drivers drop what follows a NUL; to a word index it is just a separator. */
export const asWords = (text: string): string => text.replaceAll('\0', ' ').toWellFormed()

export interface DirectoryOptions {
  /** Keep the times of messages, for the rate limit. */
  countsSends: boolean
  now: number
}

/** The directory as the index has it, with the cursor of that state. */
export const loadDirectory = (index: Projection, options: DirectoryOptions) =>
  index.peek((cursor) => ({ directory: readDirectory(index, cursor, options), cursor }))

/** The same, within a query that is running. */
export function readDirectory(index: Projection, { seq }: Cursor, options: DirectoryOptions): Directory {
  const directory = new Directory({ ...options, from: seq })
  directory.firstMessage = index.sql('SELECT min(seq) FROM message').get<[number | null]>()?.[0] ?? undefined
  // As one text each: to take thousands of rows from the driver one by one takes several times as long.
  for (const agent of listed<Agent>(index, 'json', 'agent')) directory.put(agent)
  for (const [box, slot, n] of listed<[string, number, number]>(index, 'json_array(box, slot, n)', 'tally')) {
    const tally = directory.tallies.get(box) ?? new Array(tallySlots).fill(0)
    tally[slot] = n
    directory.tallies.set(box, tally)
  }
  for (const [agent, at] of listed<[string, string]>(index, 'json_array(agent, at)', 'seen'))
    directory.seen.set(agent, at)
  if (options.countsSends) loadSends(index, directory, options.now)
  return directory
}

/** What an expression that gives JSON has for every row of a table. */
function listed<T>(index: Projection, json: string, table: string): T[] {
  const [all] = index.sql(`SELECT group_concat(${json}, ',') FROM ${table}`).get<[string | null]>() ?? []
  return JSON.parse(`[${all ?? ''}]`) as T[]
}

const sendsAtOnce = 500

/** What was sent in the last minute, from the newest back. */
function loadSends(index: Projection, directory: Directory, now: number): void {
  const found: [sender: string, at: number][] = []
  const page = index.sql(
    'SELECT seq, sender, created FROM message WHERE seq < ? AND imported = 0 ORDER BY seq DESC LIMIT ?',
  )
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = page.all<[seq: number, sender: string, created: number]>([before, sendsAtOnce])
    for (const [, sender, created] of rows) if (created > now - rateWindowMs) found.push([sender, created])
    const [seq, , oldest] = rows.at(-1) ?? []
    if (seq === undefined || oldest! <= now - rateWindowMs) break
    before = seq
  }
  for (const [sender, at] of found.reverse()) directory.noteSend(sender, at)
}
