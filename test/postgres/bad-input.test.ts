import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LineBuffer, noSum } from '../../src/journal/codec.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { mustBeUsable } from '../../src/journal/postgres/hello.ts'
import { schemaVersion } from '../../src/journal/postgres/migrate.ts'
import { migrations } from '../../src/journal/postgres/schema.ts'
import { journalFormat } from '../../src/model/entry.ts'
import { isoTime } from '../../src/model/time.ts'
import { fetchAgain } from '../../src/space/copy.ts'
import { openDisk, openSpace } from '../../src/space/open.ts'
import { findSpace } from '../../src/space/settings.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { appendMessage, subjectsIn } from '../helpers/drafts.ts'
import { hasPostgres, PostgresServer, psql, serverOwner, sharedServer } from '../helpers/postgres.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir, tempPostgres, testSettings } from '../helpers/temp.ts'

interface Place {
  database: string
  url: (more?: { user?: string; space?: string; password?: string; query?: string }) => string
  sql: (text: string) => string
}

/** A database of its own, for what would disturb others. */
async function ownDatabase(): Promise<Place> {
  const { port } = await sharedServer()
  const database = `d${randomUUID().slice(0, 8)}`
  psql(port, `CREATE DATABASE ${database}`)
  return {
    database,
    url: ({ user = 'tester', space = 'team', password, query = '' } = {}) =>
      `postgres://${user}${password === undefined ? '' : `:${password}`}@127.0.0.1:${port}/${database}?space=${space}${query}`,
    sql: (text) => psql(port, text, database),
  }
}

async function open(url: string, dir = tempDir()): Promise<DiskSpace> {
  const space = (await openSpace({ url, dir, settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  return space
}

/** A directory of the server on a disk of its own with room for little. */
function smallDisk(): string {
  if (process.getuid?.() !== 0) skipTest('needs root, to mount a small disk')
  const dir = tempDir()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', dir], { stdio: 'ignore' })
  } catch {
    skipTest('needs the right to mount a small disk')
  }
  onTestFinished(() => void execFileSync('umount', [dir]))
  const { uid, gid } = serverOwner()
  chownSync(dir, uid!, gid!)
  return dir
}

const refusal = (url: string) => expect(openSpace({ url, dir: tempDir() })).rejects

describe('an address', () => {
  it('that is none, or names no space, is refused with an example', () => {
    for (const bad of [
      'postgres://',
      'postgres://h/db',
      'postgres://h/db?space=',
      'postgres://h/db?space=a%20b',
    ])
      expect(() => parseAddress(bad)).toThrowError(expect.objectContaining({ code: 'invalid' }))
    expect(() => parseAddress('postgres://h/db?space=a&timeout=soon')).toThrowError(/not a number of seconds/)
  })

  it('with a password is refused as an argument, and stored nowhere', async () => {
    const { url } = await ownDatabase()
    const secret = url({ password: 'hush', query: '' })
    const env = { HOME: tempDir() }
    expect(() => findSpace({ given: secret, env, cwd: '/' })).toThrowError(/everyone on this machine can see/)
    const { dir } = findSpace({ env: { ...env, MAILBOX_SPACE: secret }, cwd: '/' })
    expect(readFileSync(join(dir, 'origin.json'), 'utf8')).not.toContain('hush')
    const space = await open(secret, dir)
    for (const name of readdirSync(dir).filter((one) => one.endsWith('.json')))
      expect(readFileSync(join(dir, name), 'utf8')).not.toContain('hush')
    expect(JSON.stringify(await space.stats())).not.toContain('hush')
  })
})

describe('a database', () => {
  it('that is not there, or takes no connection, says so', async () => {
    const { port } = await sharedServer()
    await refusal(`postgres://tester@127.0.0.1:${port}/nosuch?space=a`).toMatchObject({
      code: 'not_found',
      hint: /createdb/,
    })
    await refusal('postgres://tester@127.0.0.1:9/x?space=a&connect_timeout=1').toMatchObject({
      code: 'unreachable',
    })
    await refusal('postgres://tester@no.such.host.invalid/x?space=a&connect_timeout=1').toMatchObject({
      code: 'unreachable',
    })
  })

  it('that refuses the password names the places for it', async () => {
    const { url, sql, database } = await ownDatabase()
    sql(
      "DO $$ BEGIN CREATE ROLE secretive LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$",
    )
    await refusal(url({ user: 'secretive', password: 'wrong' })).toMatchObject({
      code: 'not_permitted',
      hint: /PGPASSWORD/,
    })
    await refusal(url({ user: 'secretive' })).toMatchObject({ code: 'not_permitted', hint: /pgpass/ })
    sql(`GRANT CREATE ON DATABASE ${database} TO secretive`)
    await open(url({ user: 'secretive', password: 'right' }))
  })

  it('in which the user may not create tables says what to grant', async () => {
    const { url, sql } = await ownDatabase()
    const user = `u${randomUUID().slice(0, 8)}`
    sql(`CREATE ROLE ${user} LOGIN`)
    await refusal(url({ user })).toMatchObject({ code: 'not_permitted', hint: /GRANT CREATE ON DATABASE/ })
    await open(url())
    await refusal(url({ user })).toMatchObject({
      code: 'not_permitted',
      hint: /GRANT USAGE ON SCHEMA mailbox/,
    })
  })

  it('that is read-only, too old, in recovery or of another encoding is refused', async () => {
    const { url, sql, database } = await ownDatabase()
    await open(url())
    sql(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
    await refusal(url()).toMatchObject({ code: 'not_permitted', message: /read-only/ })
    const address = parseAddress(url())
    const good = { version: 150_000, recovery: false, readonly: 'off', encoding: 'UTF8', migration: 1 }
    mustBeUsable(good, address)
    expect(() => mustBeUsable({ ...good, version: 120_000 }, address)).toThrowError(
      /PostgreSQL 12; it takes 13/,
    )
    expect(() => mustBeUsable({ ...good, encoding: 'LATIN1' }, address)).toThrowError(/encoding LATIN1/)
    expect(() => mustBeUsable({ ...good, recovery: true }, address)).toThrowError(/standby/)
  })

  it('that becomes read-only is told to those who use it, and they go on when it is not any more', async () => {
    const { url, sql, database } = await ownDatabase()
    const space = await open(url())
    const ada = await space.mailbox('ada')
    const endAll = () =>
      sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agent-mailbox' AND datname = current_database()",
      )
    sql(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
    endAll()
    await expect(ada.send({ to: 'ada', subject: 'refused', body: 'x' })).rejects.toMatchObject({
      code: 'not_permitted',
      message: /read-only/,
    })
    sql(`BEGIN READ WRITE; ALTER DATABASE ${database} RESET default_transaction_read_only; COMMIT`)
    endAll()
    await ada.send({ to: 'ada', subject: 'stored', body: 'x' })
    expect((await ada.inbox()).messages.map(({ subject }) => subject)).toEqual(['stored'])
  })

  it('that is a standby is refused, answered for by the copy meanwhile, and used once it is promoted', async () => {
    if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
    const primary = await PostgresServer.create(tempDir(), { settings: ['wal_level=replica'] })
    onTestFinished(() => primary.stop('SIGQUIT'))
    const proxy = await BreakingProxy.to(primary.port)
    const url = primary
      .address('team', { more: '&timeout=1' })
      .replace(`:${primary.port}/`, `:${proxy.port}/`)
    const space = await open(url)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'before', body: 'x' })
    const standby = await primary.standby(tempDir())
    onTestFinished(() => standby.stop('SIGQUIT'))
    await primary.stop('SIGQUIT')
    const refused = { code: 'unreachable', message: /standby/, hint: /primary/ }
    await refusal(standby.address('team')).toMatchObject(refused)
    await refusal(standby.address('other')).toMatchObject(refused)
    proxy.target = standby.port
    await expect(ada.send({ to: 'ada', subject: 'refused', body: 'x' })).rejects.toMatchObject(refused)
    expect((await ada.inbox()).messages.map(({ subject }) => subject)).toEqual(['before'])
    expect(space.core.journal.cutOff?.error).toMatchObject({ code: 'unreachable' })
    standby.sql('SELECT pg_promote()')
    await ada.send({ to: 'ada', subject: 'after', body: 'x' })
    expect((await ada.inbox()).messages.map(({ subject }) => subject)).toEqual(['before', 'after'])
    expect(space.core.journal.cutOff).toBeUndefined()
  })

  it('that is full says so: of connections, and of data', async () => {
    const { url, sql } = await ownDatabase()
    const user = `u${randomUUID().slice(0, 8)}`
    sql(`CREATE ROLE ${user} LOGIN CONNECTION LIMIT 0`)
    await refusal(url({ user })).toMatchObject({ code: 'over_limit', hint: /max_connections.*pgbouncer/ })
    const space = await open(url())
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'before', body: 'x' })
    const full = smallDisk()
    sql(`CREATE TABLESPACE ${user} LOCATION '${full}'`)
    onTestFinished(() => {
      sql('ALTER TABLE mailbox.entries SET TABLESPACE pg_default')
      sql(`DROP TABLESPACE ${user}`)
    })
    sql(`ALTER TABLE mailbox.entries SET TABLESPACE ${user}`)
    const stored = ['before']
    const fill = async () => {
      for (let n = 0; ; n++) {
        await ada.send({ to: 'ada', subject: `${n}`, body: randomBytes(50_000).toString('base64') })
        stored.push(`${n}`)
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'disk_full', hint: /nothing was stored/ })
    expect((await ada.inbox({ limit: 500 })).messages.map(({ subject }) => subject)).toEqual(stored)
    sql('ALTER TABLE mailbox.entries SET TABLESPACE pg_default')
    await ada.send({ to: 'ada', subject: 'after', body: 'x' })
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('whose tables a newer program made is refused by this one', async () => {
    const { url, sql } = await ownDatabase()
    const space = await open(url())
    await space.close()
    sql('INSERT INTO mailbox.migrations (version) VALUES (99)')
    await refusal(url()).toMatchObject({ code: 'invalid', message: /format 99/, hint: /newer agent-mailbox/ })
  })

  it('whose tables an older program made is upgraded, with the spaces that are in it', async () => {
    const { url, sql } = await ownDatabase()
    sql('CREATE SCHEMA mailbox; CREATE TABLE mailbox.migrations (version int, at timestamptz DEFAULT now())')
    sql(`${migrations[0]}; INSERT INTO mailbox.migrations (version) VALUES (1)`)
    const lines = new LineBuffer()
    const header = { kind: 'segment', format: journalFormat, space: 'of-old', reason: 'created' } as const
    const sum = lines.add(header, 1, isoTime(Date.now()), noSum)
    sql(`INSERT INTO mailbox.spaces (name, id, seq, sum) VALUES ('team', 'of-old', 1, '${sum}');
      INSERT INTO mailbox.entries SELECT space, 1, '${lines.bytes.toString('utf8').trimEnd()}' FROM mailbox.spaces`)
    const [here, there] = [await tempPostgres({ url: url() }), await tempPostgres({ url: url() })]
    expect(here.space).toBe('of-old')
    // Each but the first was too late once, and gets from the database what it does not have.
    for (const [n, journal] of [here, there, here].entries())
      await appendMessage(journal, { subject: `${n}` })
    await there.pull()
    expect(await subjectsIn(there)).toEqual(['0', '1', '2'])
    expect(await there.verifySource()).toEqual([])
    expect(sql('SELECT max(version) FROM mailbox.migrations')).toBe(`${schemaVersion}`)
  })

  it('that closes connections now and then disturbs nobody', async () => {
    const { url, sql } = await ownDatabase()
    const space = await open(url())
    const ada = await space.mailbox('ada')
    for (let n = 0; n < 5; n++) {
      sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agent-mailbox' AND datname = current_database()",
      )
      await ada.send({ to: 'ada', subject: `${n}`, body: 'x' })
    }
    expect((await ada.inbox()).messages).toHaveLength(5)
  })

  it('whose rows somebody changed by hand is found out', async () => {
    const { url, sql } = await ownDatabase()
    const journal = await tempPostgres({ url: url() })
    for (const subject of ['one', 'two', 'three']) await appendMessage(journal, { subject })
    sql("UPDATE mailbox.entries SET line = replace(line, 'two', 'TWO') WHERE line LIKE '%two%'")
    expect(await journal.verifySource()).toEqual([
      expect.stringMatching(/entry 3 .* is not as it was written/),
    ])
    await expect(tempPostgres({ url: url() })).rejects.toMatchObject({ code: 'damaged', message: /entry 3/ })
    sql('DELETE FROM mailbox.entries WHERE seq = 3')
    await expect(tempPostgres({ url: url() })).rejects.toMatchObject({ code: 'damaged' })
    sql('DROP FUNCTION mailbox.append')
    await expect(appendMessage(journal)).rejects.toMatchObject({
      code: 'damaged',
      message: /not as this program made them/,
    })
  })
})

describe('tables that somebody changed by hand', () => {
  const place = async () => {
    const own = await ownDatabase()
    const journal = await tempPostgres({ url: own.url() })
    for (const subject of ['one', 'two', 'three']) await appendMessage(journal, { subject })
    return { ...own, journal }
  }

  it('are found out by whoever comes next: an end that is not there', async () => {
    const { url, sql, journal } = await place()
    sql('UPDATE mailbox.spaces SET seq = seq + 1')
    await expect(journal.pull()).rejects.toMatchObject({ code: 'damaged', message: /entry 5/ })
    await expect(appendMessage(journal)).rejects.toMatchObject({ code: 'damaged', message: /entry 5/ })
    await expect(tempPostgres({ url: url() })).rejects.toMatchObject({ code: 'damaged', message: /entry 5/ })
    expect(await journal.verifySource()).toEqual([expect.stringMatching(/ends with entry 5, and entry 4/)])
  })

  it('are found out: another end of the same number', async () => {
    const { sql, journal } = await place()
    sql("UPDATE mailbox.spaces SET sum = repeat('0', 32)")
    await expect(journal.pull()).rejects.toMatchObject({ code: 'conflict', hint: /mailbox rebuild/ })
    await expect(appendMessage(journal)).rejects.toMatchObject({ code: 'conflict' })
    expect(await journal.verifySource()).toEqual([expect.stringMatching(/entry 4 is the last one there/)])
  })

  it('are found out: a line of another journal, with a checksum of its own', async () => {
    const { url, sql } = await place()
    const other = await tempPostgres({ url: url({ space: 'other' }) })
    for (const subject of ['un', 'deux', 'trois']) await appendMessage(other, { subject })
    sql(`UPDATE mailbox.entries AS e SET line = o.line FROM mailbox.entries AS o, mailbox.spaces AS a, mailbox.spaces AS b
      WHERE a.name = 'team' AND b.name = 'other' AND e.space = a.space AND o.space = b.space AND e.seq = 3 AND o.seq = 3`)
    await expect(tempPostgres({ url: url() })).rejects.toMatchObject({ code: 'damaged', message: /entry 3/ })
  })

  it('are found out: a table that is gone, and a column', async () => {
    const { url, sql, journal } = await place()
    const changed = { code: 'damaged', message: /not as this program made them/ }
    sql('ALTER TABLE mailbox.spaces RENAME COLUMN moved_to TO moved')
    await expect(appendMessage(journal)).rejects.toMatchObject(changed)
    sql('ALTER TABLE mailbox.spaces RENAME COLUMN moved TO moved_to')
    sql('DROP TABLE mailbox.entries')
    await expect(appendMessage(journal)).rejects.toMatchObject(changed)
    await expect(tempPostgres({ url: url() })).rejects.toMatchObject(changed)
  })
})

describe('a copy', () => {
  it('of a space that was removed is put aside, and the new one of that name is fetched', async () => {
    const { url, sql } = await ownDatabase()
    const dir = tempDir()
    const old = await open(url(), dir)
    await (await old.mailbox('ada')).send({ to: 'ada', subject: 'old', body: 'x' })
    sql('TRUNCATE mailbox.spaces CASCADE; TRUNCATE mailbox.entries')
    await expect(old.lastSeq()).rejects.toMatchObject({ code: 'not_found' })
    await old.close()
    const other = await open(url())
    const again = await open(url(), dir)
    expect(again.id).toBe(other.id)
    expect(again.id).not.toBe(old.id)
    expect(readdirSync(dir).filter((name) => name.startsWith('journal-'))).toHaveLength(1)
  })

  it('that is ahead of a database which was restored is not used, and kept', async () => {
    const { url, sql } = await ownDatabase()
    const dir = tempDir()
    const space = await open(url(), dir)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'one', body: 'x' })
    sql('CREATE TABLE before AS SELECT * FROM mailbox.spaces')
    await ada.send({ to: 'ada', subject: 'lost', body: 'x' })
    sql(
      'UPDATE mailbox.spaces SET seq = before.seq, sum = before.sum FROM before; DELETE FROM mailbox.entries USING before WHERE entries.seq > before.seq',
    )
    await expect(ada.inbox()).rejects.toMatchObject({
      code: 'conflict',
      message: /older state/,
      hint: /mailbox rebuild/,
    })
    await expect(ada.send({ to: 'ada', body: 'x' })).rejects.toMatchObject({ code: 'conflict' })
    await space.close()
    await expect(openDisk({ dir })).rejects.toMatchObject({ code: 'conflict' })
    // Another machine went on from there, so the numbers fit again and the entries do not.
    const other = await open(url())
    await (await other.mailbox('ada')).send({ to: 'ada', subject: 'two', body: 'x' })
    await (await other.mailbox('ada')).send({ to: 'ada', subject: 'three', body: 'x' })
    await expect(openDisk({ dir })).rejects.toMatchObject({ code: 'conflict', message: /another one/ })
    const aside = await fetchAgain(dir)
    expect(existsSync(aside!)).toBe(true)
    const again = await open(url(), dir)
    const subjects = (await (await again.mailbox('ada')).inbox()).messages.map(({ subject }) => subject)
    expect(subjects).toEqual(['one', 'two', 'three'])
  })

  it('with a part of a line at its end, or damage in it, answers rightly', async () => {
    const { url } = await ownDatabase()
    const dir = tempDir()
    const journal = await tempPostgres({ url: url(), dir })
    for (const subject of ['one', 'two']) await appendMessage(journal, { subject })
    await journal.close()
    const file = join(dir, 'journal', '00000001.jsonl')
    appendFileSync(file, '{"seq":4,"at":"2026')
    const again = await tempPostgres({ url: url(), dir })
    await appendMessage(again, { subject: 'three' })
    expect(await subjectsIn(again)).toEqual(['one', 'two', 'three'])
    await again.close()
    // The last line, as a disk may have left it.
    const bytes = readFileSync(file)
    bytes[bytes.length - 60]! ^= 1
    writeFileSync(file, bytes)
    const third = await tempPostgres({ url: url(), dir })
    expect(await subjectsIn(third)).toEqual(['one', 'two', 'three'])
    // In the middle, under a process that uses it: an error, and then the right answer.
    const middle = readFileSync(file)
    middle[middle.indexOf('one')]! ^= 1
    writeFileSync(file, middle)
    expect(() => third.read(startCursor)).toThrowError(expect.objectContaining({ code: 'damaged' }))
    expect(await subjectsIn(third)).toEqual(['one', 'two', 'three'])
  })

  it('of another space in its place is not mistaken for its own', async () => {
    const { url } = await ownDatabase()
    const [mine, theirs] = [tempDir(), tempDir()]
    const own = await open(url(), mine)
    await (await own.mailbox('ada')).send({ to: 'ada', subject: 'own', body: 'x' })
    await own.close()
    const other = await open(url({ space: 'other' }), theirs)
    await (await other.mailbox('ada')).send({ to: 'ada', subject: 'foreign', body: 'x' })
    await other.close()
    cpSync(join(theirs, 'journal'), join(mine, 'journal'), { recursive: true, force: true })
    const again = await open(url(), mine)
    expect((await (await again.mailbox('ada')).inbox()).messages.map(({ subject }) => subject)).toEqual([
      'own',
    ])
  })
})
