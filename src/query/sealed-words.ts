import { asText, type Database, openDatabase, rowsIn } from '../base/sqlite.ts'
import { asWords, putWords } from '../index/open.ts'
import { wordTable } from '../index/schema.ts'
import { messageIfThere, type Source } from './message.ts'

/**
 * The words of encrypted mail, for this process: the table of words on disk has none of them. It is made by the first
 * search, as far as there are keys, and is gone with the process.
 */
export class SealedWords {
  #database: Database | undefined
  readonly #known = new Set<number>()

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** Takes in what is new, and what could not be read until now. Returns whether there was any. */
  catchUp(source: Source): boolean {
    const before = this.#known.size
    const rows = rowsIn<[number]>(
      source.index.sql(asText('SELECT seq FROM message WHERE sealed > 0 ORDER BY seq', 'seq')),
    )
    for (const [seq] of rows) {
      if (this.#known.has(seq)) continue
      const message = messageIfThere(source, seq)
      if (message === undefined || message.locked || message.unreadable !== undefined) continue
      this.#known.add(seq)
      this.#open()
        .prepare(putWords)
        .run([seq, asWords(message.subject), asWords(message.body)])
    }
    return this.#known.size > before
  }

  /** Seqs below `before` whose words match, the highest first. */
  matching(words: string, before: number, limit: number): number[] {
    if (this.#known.size === 0) return []
    const find = 'SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?'
    return this.#open()
      .prepare(find)
      .all<[number]>([words, before, limit])
      .map(([seq]) => seq)
  }

  has(words: string, seq: number): boolean {
    const find = 'SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?'
    return this.#known.has(seq) && this.#open().prepare(find).get([words, seq]) !== undefined
  }

  #open(): Database {
    if (this.#database === undefined) {
      this.#database = openDatabase(':memory:', 0)
      this.#database.exec(wordTable)
    }
    return this.#database
  }

  close(): void {
    this.#database?.close()
  }
}
