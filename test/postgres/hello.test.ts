import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { ServerClock } from '../../src/journal/postgres/clock.ts'
import { connect } from '../../src/journal/postgres/driver.ts'
import { mustBeUsable } from '../../src/journal/postgres/hello.ts'
import { schemaVersion } from '../../src/journal/postgres/migrate.ts'
import { migrations } from '../../src/journal/postgres/schema.ts'
import { Server } from '../../src/journal/postgres/server.ts'
import { appendMessage, subjectsIn } from '../helpers/drafts.ts'
import { refusal } from '../helpers/refusal.ts'
import { until } from '../helpers/wait.ts'
import { ownDatabase, ownSpace, type Place } from './place.ts'

function serverAt(url: string): Server {
  const server = new Server(parseAddress(url), new ServerClock())
  onTestFinished(() => server.close())
  return server
}

const versions = async ({ sql }: Place) =>
  (await sql<{ version: number }>('SELECT version FROM mailbox.migrations ORDER BY version')).map(
    ({ version }) => version,
  )
const all = migrations.map((_, at) => at + 1)

describe('the tables', () => {
  it('are made once, however many come at the same time', async () => {
    const place = await ownDatabase()
    const opened = await Promise.all([place.open(), place.open(), place.open()])
    expect(await versions(place)).toEqual(all)
    expect(new Set(opened.map(({ space }) => space)).size).toBe(1)
    await appendMessage(opened[0]!, { subject: 'one' })
    expect(await subjectsIn(opened[2]!)).toEqual(['one'])
    await place.open()
    expect(await versions(place)).toEqual(all)
    expect(schemaVersion).toBe(all.length)
  })

  it('of an earlier program are upgraded, and what is in them stays', async () => {
    const place = await ownDatabase()
    await place.sql('CREATE SCHEMA mailbox')
    await place.sql(
      'CREATE TABLE mailbox.migrations (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    )
    await place.sql(migrations[0]!)
    await place.sql('INSERT INTO mailbox.migrations (version) VALUES (1)')
    await place.sql("INSERT INTO mailbox.spaces (name, id, seq, sum) VALUES ('other', 'its id', 0, '')")
    const journal = await place.open()
    await appendMessage(journal, { subject: 'one' })
    expect(await subjectsIn(await place.open())).toEqual(['one'])
    expect(await versions(place)).toEqual(all)
    expect(await place.sql("SELECT id, first_seq FROM mailbox.spaces WHERE name = 'other'")).toEqual([
      { id: 'its id', first_seq: '1' },
    ])
  })

  it('that were half made are not there: the next one makes them', async () => {
    const place = await ownDatabase()
    // What the first migration wants to make is there already.
    await place.sql('CREATE SCHEMA mailbox')
    await place.sql('CREATE TABLE mailbox.files (x int)')
    await expect(place.open()).rejects.toMatchObject({ code: 'damaged' })
    expect(await place.sql("SELECT to_regclass('mailbox.migrations') AS found")).toEqual([{ found: null }])
    await place.sql('DROP TABLE mailbox.files')
    await place.open()
    expect(await versions(place)).toEqual(all)
  })

  it('of a later program are left alone', async () => {
    const place = await ownDatabase()
    const journal = await place.open()
    await place.sql('INSERT INTO mailbox.migrations (version) VALUES ($1)', schemaVersion + 1)
    await expect(place.open()).rejects.toMatchObject({
      code: 'invalid',
      message: `the tables of this database have format ${schemaVersion + 1}; this version of agent-mailbox knows ${schemaVersion}`,
      hint: /newer agent-mailbox/,
    })
    // Who has them open goes on until a new connection is needed.
    await appendMessage(journal)
  })
})

describe('a server', () => {
  const good = {
    ...{ version: 130_000, recovery: false, readonly: 'off', encoding: 'UTF8', migration: schemaVersion },
  }
  const address = parseAddress('postgres://h/db?space=a')
  const refused = (more: Partial<typeof good>) => {
    const { code, message } = refusal(() => mustBeUsable({ ...good, ...more }, address))
    return [code, message.replace(`${address.shown}: `, '')]
  }

  it('is one that this program can work with', () => {
    mustBeUsable(good, address)
    mustBeUsable({ ...good, migration: 0 }, address)
    expect(refused({ version: 129_999 })).toEqual([
      'invalid',
      'the server is PostgreSQL 12; it takes 13 or newer',
    ])
    expect(refused({ encoding: 'LATIN1' })).toEqual([
      'invalid',
      'the database has the encoding LATIN1; it takes UTF8',
    ])
    expect(refused({ recovery: true })).toEqual([
      'unreachable',
      'the server is a standby, or still recovering',
    ])
    expect(refused({ readonly: 'on' })).toEqual(['not_permitted', 'the database is read-only'])
    expect(refused({ migration: schemaVersion + 1 })[0]).toBe('invalid')
    // A standby is always read-only too, and may become the primary.
    expect(refused({ recovery: true, readonly: 'on' })[0]).toBe('unreachable')
  })

  it('that takes no writes is refused when it is connected to', async () => {
    const place = await ownDatabase()
    await place.open()
    await place.sql(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    )
    await expect(place.open()).rejects.toMatchObject({ code: 'not_permitted', message: /is read-only/ })
    const bare = await ownDatabase()
    await bare.sql(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    )
    await expect(bare.open()).rejects.toMatchObject({ code: 'not_permitted', message: /is read-only/ })
  })

  it('with tables of which nobody knows the version is refused', async () => {
    const place = await ownDatabase()
    await place.open()
    await place.sql('DROP TABLE mailbox.migrations CASCADE')
    await expect(place.open()).rejects.toMatchObject({ code: 'damaged' })
  })
})

describe('a space in a database', () => {
  it('is created only where it is asked for, and once', async () => {
    const { url, sql } = await ownSpace()
    const asking = serverAt(url)
    expect(await asking.find({ creates: false })).toBe(false)
    expect(refusal(() => asking.number).code).toBe('not_found')
    expect(await sql('SELECT FROM mailbox.spaces WHERE space = SPACE')).toEqual([])
    const makers = Array.from({ length: 4 }, () => serverAt(url))
    expect(await Promise.all(makers.map((server) => server.find({ creates: true })))).toEqual(
      makers.map(() => true),
    )
    expect(new Set(makers.map(({ id }) => id)).size).toBe(1)
    expect(new Set(makers.map(({ number }) => number)).size).toBe(1)
    expect(makers[0]!.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(await serverAt(url).find({ creates: false })).toBe(true)
    const entries = await sql<{ line: string }>('SELECT line FROM mailbox.entries WHERE space = SPACE')
    expect(entries).toHaveLength(1)
    expect(JSON.parse(entries[0]!.line)).toMatchObject({
      seq: 1,
      kind: 'segment',
      reason: 'created',
      space: makers[0]!.id,
    })
  })

  it('answers with its end and what comes after an entry, in portions', async () => {
    const { url, open, sql } = await ownSpace()
    const journal = await open()
    for (let n = 0; n < 3; n++) await appendMessage(journal, { body: 'x'.repeat(3_000_000) })
    const server = serverAt(url)
    await server.find({ creates: false })
    const whole = await server.since(4)
    expect(whole).toMatchObject({
      id: journal.space,
      seq: 4,
      lines: [],
      first: { seq: 1, segment: 1 },
      movedTo: null,
    })
    expect(whole.sum).toBe(journal.store.copy.end().sum)
    const seqs = ({ lines }: { lines: string[] }) =>
      lines.map((line) => (JSON.parse(line) as { seq: number }).seq)
    expect(seqs(await server.since(0))).toEqual([1, 2, 3])
    expect(seqs(await server.since(3))).toEqual([4])
    // A machine that has nothing gets all of it.
    expect((await open()).store.copy.end().seq).toBe(4)
    await sql(
      "UPDATE mailbox.spaces SET moved_to = 'there', first_seq = 3, first_segment = 2, files = 7 WHERE space = SPACE",
    )
    expect(await server.since(4)).toMatchObject({ movedTo: 'there', first: { seq: 3, segment: 2 }, files: 7 })
    await sql('DELETE FROM mailbox.spaces WHERE space = SPACE')
    await expect(server.since(4)).rejects.toMatchObject({
      code: 'not_found',
      message: /there is no space at/,
    })
  })
})

describe('connections', () => {
  const backends = (place: Place) =>
    place
      .sql<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'agent-mailbox' AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid",
      )
      .then((rows) => rows.map(({ pid }) => pid))

  it('are used again, and closed with the space', async () => {
    const place = await ownDatabase()
    const server = serverAt(place.url)
    await server.find({ creates: true })
    const first = await backends(place)
    for (let n = 0; n < 3; n++) await server.since(0)
    expect([first.length, await backends(place)]).toEqual([1, first])
    await Promise.all([server.since(0), server.since(0)])
    expect((await backends(place)).length).toBe(2)
    await server.close()
    await until('they are closed', async () => (await backends(place)).length === 0)
  })
})

describe('a connection', () => {
  it('says whether it is broken, and what the server said', async () => {
    const { url, sql } = await ownSpace()
    const link = await connect(parseAddress(url))
    onTestFinished(() => link.close())
    const [{ pid }] = await link.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, $1::int AS n', [7])
    await expect(link.query('SELECT nothing')).rejects.toMatchObject({ code: 'damaged' })
    expect(link.isBroken).toBe(false)
    await sql('SELECT pg_terminate_backend($1)', pid)
    await expect(link.query('SELECT 1')).rejects.toMatchObject({ code: 'unreachable' })
    expect(link.isBroken).toBe(true)
  })

  it('to a server that is not there says which one', async () => {
    const address = (text: string) => connect(parseAddress(text))
    await expect(address('postgres://127.0.0.1:9/x?space=a')).rejects.toMatchObject({
      code: 'unreachable',
      message: /^127\.0\.0\.1:9: the database does not answer/,
    })
    await expect(
      address('postgres://h/x?space=a&sslmode=verify-full&sslrootcert=/no/such/file'),
    ).rejects.toMatchObject({
      code: 'invalid',
      message: /a file that the address names cannot be read/,
    })
  })
})
