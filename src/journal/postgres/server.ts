import { randomUUID } from 'node:crypto'
import { MailboxError } from '../../base/errors.ts'
import { journalFormat } from '../../model/entry.ts'
import { isoTime } from '../../model/time.ts'
import { LineBuffer, noSum } from '../codec.ts'
import { isLost } from '../unreachable.ts'
import type { PostgresAddress } from './address.ts'
import type { ServerClock } from './clock.ts'
import { connect, type Link } from './driver.ts'
import { greet, mustBeUsable } from './hello.ts'

/** The end of a space's journal in the database, and what the caller does not have of it. */
export interface Head {
  id: string
  seq: number
  sum: string
  /** Where the space was moved, if it was. */
  movedTo: string | null
  /** Another number after every change of a shared file. */
  files: number
  lines: string[]
  /** Where the journal begins. Only a question says it, not an append. */
  first?: First
}

export interface First {
  segment: number
  seq: number
}

export interface Appended extends Head {
  outcome: 'appended' | 'lost' | 'gone'
}

interface HeadRow {
  id: string | null
  seq: string
  sum: string
  moved_to: string | null
  files: string
  clock: number
  /** Lines, with a newline between them: to take an array apart takes much longer. */
  missing: string | null
  first_seq?: string
  first_segment?: number
}

/** How long a connection is kept that nobody uses: there are more processes than a server takes connections. */
const idleMs = 5_000
const portionBytes = 4 * 1_048_576
const answerColumns = "id, seq, sum, moved_to, files, clock, array_to_string(missing, E'\\n') AS missing"
const headColumns = 's.id, s.seq, s.sum, s.moved_to, s.files, mailbox.clock() AS clock'

/** A space in its database, over a few connections that are opened when they are needed. */
export class Server {
  readonly address: PostgresAddress
  readonly #clock: ServerClock
  readonly #idle: { link: Link; timer: NodeJS.Timeout }[] = []
  #space: string | undefined
  /** The identity of the space; empty until it has been asked for. */
  id = ''
  #closed = false

  constructor(address: PostgresAddress, clock: ServerClock) {
    this.address = address
    this.#clock = clock
  }

  /** Runs work on a connection of its own. One that breaks is thrown away. */
  async with<T>(work: (link: Link) => Promise<T>): Promise<T> {
    return this.#on(this.#takeIdle() ?? (await this.#open()), work)
  }

  /**
   * The same for a question that can be asked twice. That a connection which nobody used has broken meanwhile says
   * nothing about the server: it may have been restarted, or have ended connections that were idle.
   */
  async asking<T>(ask: (link: Link) => Promise<T>): Promise<T> {
    const idle = this.#takeIdle()
    const asked = performance.now()
    if (idle !== undefined)
      try {
        return await this.#on(idle, ask)
      } catch (error) {
        if (!isLost(error) || performance.now() - asked > this.address.connectMs) throw error
      }
    return this.#on(await this.#open(), ask)
  }

  async #on<T>(link: Link, work: (link: Link) => Promise<T>): Promise<T> {
    try {
      return await work(link)
    } finally {
      this.#giveBack(link)
    }
  }

  #takeIdle(): Link | undefined {
    for (;;) {
      const found = this.#idle.pop()
      if (found === undefined) return undefined
      clearTimeout(found.timer)
      found.link.rest(false)
      if (!found.link.isBroken) return found.link
      void found.link.close()
    }
  }

  #giveBack(link: Link): void {
    if (link.isBroken || this.#closed) {
      void link.close()
      return
    }
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((one) => one.link === link),
        1,
      )
      void link.close()
    }, idleMs).unref()
    link.rest(true)
    this.#idle.push({ link, timer })
  }

  /** A new connection, to a server that this program can work with: it may be another one than before. */
  async #open(): Promise<Link> {
    const link = await connect(this.address)
    try {
      const hello = await greet(link, this.address)
      mustBeUsable(hello, this.address)
      this.#space = hello.space ?? undefined
      this.id = hello.id ?? ''
      return link
    } catch (error) {
      void link.close()
      throw error
    }
  }

  /** Whether there is such a space; creates it if it is to be created. */
  async find({ creates }: { creates: boolean }): Promise<boolean> {
    return this.with(async (link) => {
      if (this.#space === undefined && creates) await this.#create(link)
      return this.#space !== undefined
    })
  }

  async #create(link: Link): Promise<void> {
    const id = randomUUID()
    const buffer = new LineBuffer()
    const header = { kind: 'segment', format: journalFormat, space: id, reason: 'created' } as const
    const sum = buffer.add(header, 1, isoTime(Date.now()), noSum)
    await this.createWith(link, id, 1, sum, [buffer.bytes.toString('utf8').trimEnd()])
    const [{ space, id: found }] = await link.query<{ space: string; id: string }>(
      'SELECT space, id FROM mailbox.spaces WHERE name = $1',
      [this.address.space],
    )
    this.#space = space
    this.id = found
  }

  /** Creates the space with its first lines. False if one of its name is there already. */
  async createWith(
    link: Link,
    id: string,
    seq: number,
    sum: string,
    lines: readonly string[],
  ): Promise<boolean> {
    const rows = await link.query<{ space: string }>(
      `WITH made AS (
         INSERT INTO mailbox.spaces (name, id, seq, sum) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING space
       ), filled AS (
         INSERT INTO mailbox.entries SELECT made.space, $3 - cardinality($5::text[]) + n, line
         FROM made, unnest($5::text[]) WITH ORDINALITY AS lines (line, n)
       ) SELECT space FROM made`,
      [this.address.space, id, seq, sum, lines],
    )
    return rows.length > 0
  }

  /** The end of the journal, and the lines after `seq`, as many as fit into one answer. */
  async since(seq: number): Promise<Head> {
    const text = `SELECT ${headColumns}, s.first_seq, s.first_segment,
        CASE WHEN s.seq > $2 THEN array_to_string(mailbox.lines_after(s.space, $2, $3), E'\\n') END AS missing
      FROM mailbox.spaces AS s WHERE s.space = $1`
    const asked = performance.now()
    const [row] = await this.asking((link) => link.query<HeadRow>(text, [this.number, seq, portionBytes]))
    if (row === undefined) throw noSpace(this.address.shown)
    return this.#headOf(row, asked)
  }

  /** Appends lines if the journal still ends with entry `seq`. Safe to call again with the same lines. */
  async appendOn(
    link: Link,
    after: { seq: number; sum: string },
    lines: readonly string[],
    sum: string,
  ): Promise<Appended> {
    const asked = performance.now()
    const [row] = await link.query<HeadRow & { outcome: Appended['outcome'] }>(
      `SELECT outcome, ${answerColumns} FROM mailbox.append($1, $2, $3, string_to_array($4, E'\\n'), $5, $6)`,
      // No line has a newline in it, and one string is quicker to send than an array.
      [this.number, after.seq, after.sum, lines.join('\n'), sum, this.address.timeoutMs],
    )
    if (row.id === null) throw noSpace(this.address.shown)
    return { ...this.#headOf(row, asked), outcome: row.outcome }
  }

  /** Waits for the right to append, in a transaction that is under way, and says where the journal ends then. */
  async turnOn(link: Link, seq: number): Promise<Head> {
    const asked = performance.now()
    const values = [this.number, seq, this.address.timeoutMs]
    const [row] = await link.query<HeadRow>(`SELECT ${answerColumns} FROM mailbox.turn($1, $2, $3)`, values)
    if (row.id === null) throw noSpace(this.address.shown)
    return this.#headOf(row, asked)
  }

  /** The space, as its tables have it. */
  get number(): string {
    if (this.#space === undefined) throw noSpace(this.address.shown)
    return this.#space
  }

  #headOf(row: HeadRow, asked: number): Head {
    this.#clock.learn(row.clock, asked, performance.now())
    const { id, sum, moved_to: movedTo, missing, first_seq: first, first_segment: segment } = row
    return {
      ...(first === undefined || segment === undefined ? {} : { first: { seq: Number(first), segment } }),
      id: id ?? '',
      seq: Number(row.seq),
      sum,
      movedTo,
      files: Number(row.files),
      lines: missing ? missing.split('\n') : [],
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const idle = this.#idle.splice(0)
    for (const { timer } of idle) clearTimeout(timer)
    await Promise.all(idle.map(({ link }) => link.close()))
  }
}

export const noSpace = (shown: string) =>
  new MailboxError('not_found', `there is no space at ${shown}`, {
    hint: 'check the name; to create it: mailbox join NAME, or mailbox move --to ADDRESS',
  })
