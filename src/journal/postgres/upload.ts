import { MailboxError } from '../../base/errors.ts'
import type { WholeLine } from '../copy/whole-lines.ts'
import { removeOn } from './archive.ts'
import type { Link } from './driver.ts'
import type { Server } from './server.ts'

/** Lines go up in portions of this many characters. */
const portionChars = 2_000_000

interface SpaceRow {
  space: string
  id: string
  seq: string
  sum: string
}

/**
 * Brings a journal into the database, in one transaction: either all of it is there afterwards, or nothing. One that is
 * there already, from a move that was interrupted or from before it was moved away, is continued.
 */
export class Upload {
  readonly #link: Link
  readonly #shown: string
  #row: SpaceRow
  #portion: string[] = []
  #chars = 0
  /** What comes next, and the sum of the line before it. */
  #last: { seq: number; sum: string }
  #first = 0

  private constructor(link: Link, shown: string, row: SpaceRow) {
    this.#link = link
    this.#shown = shown
    this.#row = row
    this.#last = { seq: Number(row.seq), sum: row.sum }
  }

  static async begin(server: Server, link: Link, id: string): Promise<Upload> {
    const { space: name, shown } = server.address
    await link.query('BEGIN')
    await link.query(
      "INSERT INTO mailbox.spaces (name, id, seq, sum) VALUES ($1, $2, 0, '') ON CONFLICT DO NOTHING",
      [name, id],
    )
    const [row] = await link.query<SpaceRow>(
      'SELECT space, id, seq, sum FROM mailbox.spaces WHERE name = $1 FOR UPDATE',
      [name],
    )
    if (row.id !== id)
      throw new MailboxError('conflict', `there is another space at ${shown}`, {
        hint: 'choose another name: ?space=NAME',
      })
    return new Upload(link, shown, row)
  }

  /** Takes the next line, or one that is there already. */
  async add({ seq, sum, text }: WholeLine): Promise<void> {
    const known = Number(this.#row.seq)
    this.#first ||= seq
    if (seq === known && sum !== this.#row.sum) throw this.#forked(seq)
    if (seq <= this.#last.seq) return
    if (this.#last.seq > 0 && seq !== this.#last.seq + 1) throw this.#forked(seq)
    this.#last = { seq, sum }
    this.#portion.push(text)
    this.#chars += text.length
    if (this.#chars > portionChars) await this.#send()
  }

  async #send(): Promise<void> {
    const { length } = this.#portion
    if (length === 0) return
    await this.#link.query(
      'INSERT INTO mailbox.entries SELECT $1, $2::bigint + n, line FROM unnest(string_to_array($3, $4)) WITH ORDINALITY AS lines (line, n)',
      // No line has a newline in it, and one string is quicker to send than an array.
      [this.#row.space, this.#last.seq - length, this.#portion.join('\n'), '\n'],
    )
    this.#portion = []
    this.#chars = 0
  }

  /** `end`: the last line that was given. `segment`: the number of the first file. */
  async finish(
    end: { seq: number; sum: string },
    segment: number,
    files: ReadonlyMap<string, string>,
  ): Promise<void> {
    await this.#send()
    // Older ones were removed here, so they are not wanted there either.
    if (this.#first > 1) await removeOn(this.#link, this.#row.space, segment, this.#first)
    if (this.#last.seq !== end.seq || this.#last.sum !== end.sum) throw this.#forked(this.#last.seq)
    for (const [name, content] of files)
      await this.#link.query(
        `INSERT INTO mailbox.files AS f (space, name, content, version) VALUES ($1, $2, $3, 1)
         ON CONFLICT (space, name) DO UPDATE SET content = $3, version = f.version + 1`,
        [this.#row.space, name, content],
      )
    await this.#link.query(
      'UPDATE mailbox.spaces SET seq = $2, sum = $3, moved_to = NULL, files = (random() * 9007199254740991)::bigint WHERE space = $1',
      [this.#row.space, end.seq, end.sum],
    )
    await this.#link.query('COMMIT')
  }

  #forked(seq: number): MailboxError {
    return new MailboxError(
      'conflict',
      `${this.#shown} has this space already, and it went on there: entry ${seq} is another one`,
      {
        hint: 'use it there, or choose another name: ?space=NAME',
      },
    )
  }
}
