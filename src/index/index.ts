import { join } from 'node:path'
import type { Cursor, Journal } from '../journal/journal.ts'
import type { Agent } from '../model/agent.ts'
import { Directory } from '../model/directory.ts'
import { priorities } from '../model/message.ts'
import type { Database } from '../sqlite.ts'
import { createApplier } from './apply.ts'
import { type Applier, Projection } from './projection.ts'
import { indexFormat, indexSchema, searchSchema } from './schema.ts'

/** The tables every query reads. */
export function openIndex(dir: string, journal: Journal): Projection {
  const path = join(dir, 'index.db')
  return new Projection({ path, journal, schema: indexSchema, format: indexFormat, applier: createApplier })
}

/** The words of all messages, for full-text search. */
export function openSearch(dir: string, journal: Journal): Projection {
  const path = join(dir, 'index-search.db')
  return new Projection({
    path,
    journal,
    schema: searchSchema,
    format: indexFormat,
    applier: createWordApplier,
  })
}

function createWordApplier(database: Database): Applier {
  const put = database.prepare('INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)')
  return {
    apply({ entry }) {
      if (entry.kind === 'message')
        put.run([entry.seq, asWords(entry.message.subject), asWords(entry.message.body)])
    },
    finish() {},
  }
}

/** Some drivers drop what follows a NUL; for a word index it is a gap like any other. */
const asWords = (text: string): string => text.replaceAll('\0', ' ').toWellFormed()

/** The directory as the index has it, and how far that is. */
export function loadDirectory(index: Projection): { directory: Directory; cursor: Cursor } {
  return index.peek((cursor) => {
    const directory = new Directory()
    directory.seq = cursor.seq
    const [first] = index.sql('SELECT min(seq) FROM message').get() ?? []
    directory.firstMessage = (first as number | null) ?? undefined
    for (const [name, json] of index.sql('SELECT name, json FROM agent').all()) {
      directory.agents.set(name as string, JSON.parse(json as string) as Agent)
    }
    for (const [box, slot, n] of index.sql('SELECT box, slot, n FROM tally').all()) {
      const tally = directory.tallies.get(box as string) ?? new Array(2 * priorities.length).fill(0)
      tally[slot as number] = n as number
      directory.tallies.set(box as string, tally)
    }
    return { directory, cursor }
  })
}
