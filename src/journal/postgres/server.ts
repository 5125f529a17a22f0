import { randomUUID } from 'node:crypto'
import { MailboxError } from '../../base/errors.ts'
import { journalFormat } from '../../model/entry.ts'
import { isoTime } from '../../model/time.ts'
import { LineBuffer, noSum } from '../codec.ts'
import type { PostgresAddress } from './address.ts'
import type { ServerClock } from './clock.ts'
import { connect, type Link } from './driver.ts'
import { ensureSchema, mustBeKnown } from './migrate.ts'

/** The end of a space's journal in the database, and what the caller does not have of it. */
export interface Head {
  id: string
  seq: number
  sum: string
  /** Where the space was moved, if it was. */
  movedTo: string | null
  /** Rises with every change of a shared file. */
  files: number
  lines: string[]
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
  missing: string[] | null
}

interface Hello {
  version: number
  recovery: boolean
  readonly: string
  encoding: string
  migration: number
  space: string | null
  id: string | null
}

const oldestVersion = 130_000
/** How long a connection is kept that nobody uses: there are more processes than a server takes connections. */
const idleMs = 5_000
const portionBytes = 4 * 1_048_576
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
    const link = this.#takeIdle() ?? (await this.#open())
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
      const hello = await this.#greet(link)
      mustBeUsable(hello, this.address)
      this.#space = hello.space ?? undefined
      this.id = hello.id ?? ''
      return link
    } catch (error) {
      void link.close()
      throw error
    }
  }

  async #greet(link: Link): Promise<Hello> {
    try {
      const [hello] = await link.query<Hello>(helloText, [this.address.space])
      if (hello.migration >= 1 || hello.recovery) return hello
    } catch (error) {
      if (!isMissing(error)) throw error
      const [bare] = await link.query<Hello>(bareHelloText)
      mustBeUsable(bare, this.address)
    }
    await ensureSchema(link)
    const [hello] = await link.query<Hello>(helloText, [this.address.space])
    return hello
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
    const text = `SELECT ${headColumns},
        CASE WHEN s.seq > $2 THEN mailbox.lines_after(s.space, $2, $3) END AS missing
      FROM mailbox.spaces AS s WHERE s.space = $1`
    const asked = performance.now()
    const [row] = await this.with((link) => link.query<HeadRow>(text, [this.#number, seq, portionBytes]))
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
      'SELECT * FROM mailbox.append($1, $2, $3, $4, $5, $6)',
      [this.#number, after.seq, after.sum, lines, sum, this.address.timeoutMs],
    )
    if (row.id === null) throw noSpace(this.address.shown)
    return { ...this.#headOf(row, asked), outcome: row.outcome }
  }

  /** Waits for the right to append, in a transaction that is under way, and says where the journal ends then. */
  async turnOn(link: Link, seq: number): Promise<Head> {
    const asked = performance.now()
    const values = [this.#number, seq, this.address.timeoutMs]
    const [row] = await link.query<HeadRow>('SELECT * FROM mailbox.turn($1, $2, $3)', values)
    if (row.id === null) throw noSpace(this.address.shown)
    return this.#headOf(row, asked)
  }

  get #number(): string {
    if (this.#space === undefined) throw noSpace(this.address.shown)
    return this.#space
  }

  get number(): string {
    return this.#number
  }

  #headOf(row: HeadRow, asked: number): Head {
    this.#clock.learn(row.clock, asked, performance.now())
    const { id, sum, moved_to: movedTo, missing } = row
    return {
      id: id ?? '',
      seq: Number(row.seq),
      sum,
      movedTo,
      files: Number(row.files),
      lines: missing ?? [],
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const idle = this.#idle.splice(0)
    for (const { timer } of idle) clearTimeout(timer)
    await Promise.all(idle.map(({ link }) => link.close()))
  }
}

const about = `current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS recovery,
  current_setting('transaction_read_only') AS readonly, current_setting('server_encoding') AS encoding`
const helloText = `SELECT ${about}, (SELECT coalesce(max(version), 0) FROM mailbox.migrations) AS migration, s.space, s.id
  FROM (SELECT 1) AS one LEFT JOIN mailbox.spaces AS s ON s.name = $1`
const bareHelloText = `SELECT ${about}, 0 AS migration, NULL AS space, NULL AS id`

const isMissing = (error: unknown): boolean => {
  const { code } = ((error as MailboxError).cause ?? {}) as { code?: string }
  return code === '42P01' || code === '3F000'
}

export function mustBeUsable(
  { version, recovery, readonly, encoding, migration }: Omit<Hello, 'space' | 'id'>,
  { shown }: PostgresAddress,
): void {
  if (version < oldestVersion)
    throw new MailboxError(
      'invalid',
      `${shown}: the server is PostgreSQL ${Math.floor(version / 10_000)}; it takes 13 or newer`,
      {
        hint: 'upgrade the server, or use another one',
      },
    )
  if (encoding !== 'UTF8')
    throw new MailboxError('invalid', `${shown}: the database has the encoding ${encoding}; it takes UTF8`, {
      hint: 'create one: createdb --encoding=UTF8 --template=template0 DATABASE',
    })
  mustBeKnown(migration)
  // One that is promoted later is used then.
  if (recovery)
    throw new MailboxError('unreachable', `${shown}: the server is a standby, or still recovering`, {
      hint: 'use the address of the primary; if this server becomes it, everything goes on by itself',
    })
  if (readonly === 'on')
    throw new MailboxError('not_permitted', `${shown}: the database is read-only`, {
      hint: 'see default_transaction_read_only of the server, the database and the user',
    })
}

export const noSpace = (shown: string) =>
  new MailboxError('not_found', `there is no space at ${shown}`, {
    hint: 'check the name; to create it: mailbox join NAME, or mailbox move --to ADDRESS',
  })
