import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { moveSpace } from '../../src/space/move.ts'
import { openDisk, openSpace } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { freshAddress, psql, sharedServer } from '../helpers/postgres.ts'
import { rowsOf } from '../helpers/rows.ts'
import { patientSettings, tempDir, testSettings } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'

const dayMs = 86_400_000
const settings = { ...testSettings, ...patientSettings, 'retention.segmentEntries': 10 }

/** Machines of one space whose time the test sets. */
class Team {
  readonly url: string
  readonly clock = { now: Date.parse('2026-03-20T12:00:00Z') }

  private constructor(url: string) {
    this.url = url
  }

  static async create(): Promise<Team> {
    return new Team(await freshAddress())
  }

  async machine(dir = tempDir(), url = this.url): Promise<DiskSpace> {
    const space = (await openSpace({ url, dir, settings, now: () => this.clock.now })) as DiskSpace
    onTestFinished(() => space.close())
    return space
  }

  /** Mail of some days, read and done, so that it may go. */
  async live(space: DiskSpace, days: number): Promise<void> {
    const [ada, bob] = [await space.mailbox('ada'), await space.mailbox('bob')]
    for (let day = 0; day < days; day++) {
      for (let n = 0; n < 4; n++) {
        const { id } = await ada.send({ to: 'bob', subject: `${day} ${n}`, body: 'a zebra Ω' })
        await bob.done(id)
      }
      this.clock.now += dayMs
    }
  }

  async sql(text: string): Promise<string> {
    const { port } = await sharedServer()
    const space = `(SELECT space FROM mailbox.spaces WHERE name = '${new URL(this.url).searchParams.get('space')}')`
    return psql(port, text.replaceAll('SPACE', space))
  }

  rows = async () => Number(await this.sql('SELECT count(*) FROM mailbox.entries WHERE space = SPACE'))
  archive = async () =>
    (await this.sql('SELECT name FROM mailbox.archive WHERE space = SPACE ORDER BY segment'))
      .split('\n')
      .filter(Boolean)
}

const archived = (dir: string): string[] =>
  existsSync(join(dir, 'archive'))
    ? readdirSync(join(dir, 'archive'))
        .filter((name) => name.endsWith('.jsonl.gz'))
        .sort()
    : []

const gzip = { gzipAfterMs: dayMs, removeAfterMs: Number.POSITIVE_INFINITY }
const remove = { gzipAfterMs: dayMs, removeAfterMs: 3 * dayMs }

async function mustBeWhole(...spaces: DiskSpace[]): Promise<void> {
  const [first, ...others] = spaces as [DiskSpace, ...DiskSpace[]]
  const lines = await exported(first)
  const rows = rowsOf(first.dir)
  for (const space of others) {
    expect(await exported(space)).toEqual(lines)
    expect(rowsOf(space.dir)).toEqual(rows)
  }
  for (const space of spaces) expect((await space.verify({ deep: true })).problems).toEqual([])
}

describe('old entries in a database', () => {
  it('go to gzip files by month there and here, and every machine reads them as before', async () => {
    const team = await Team.create()
    const here = await team.machine()
    const there = await team.machine()
    await team.live(here, 20)
    await there.lastSeq()
    const before = await exported(here)
    const rows = await team.rows()
    const { gzipped } = await here.archiveOld(gzip)
    expect(gzipped.length).toBeGreaterThan(5)
    const names = await team.archive()
    expect(names).toEqual(archived(here.dir))
    expect(names[0]).toBe('2026-03-00000001.jsonl.gz')
    expect(names.at(-1)).toMatch(/^2026-04-/)
    expect(await team.rows()).toBeLessThan(rows / 2)
    // A machine that has them as plain lines, and one that has nothing yet.
    const fresh = await team.machine()
    expect(archived(fresh.dir)).toEqual(names)
    expect(await exported(there)).toEqual(before)
    await mustBeWhole(here, there, fresh)
    const old = (await (await fresh.mailbox('bob')).search('zebra', { limit: 1_000 })).messages
    expect(old.filter(({ subject }) => subject === '0 0')).toHaveLength(1)
    expect((await fresh.show(old.at(-1)!.id)).message.body).toContain('zebra')
    await (await fresh.mailbox('ada')).send({ to: 'bob', body: 'on' })
    // The other machine archives its copy as well, and nothing there a second time.
    await there.archiveOld(gzip)
    expect(archived(there.dir)).toEqual(names)
    expect(await team.archive()).toEqual(names)
    await mustBeWhole(here, there, fresh)
  })

  it('are found by a machine that was away meanwhile, wherever its copy ended', async () => {
    const team = await Team.create()
    const here = await team.machine()
    const away: DiskSpace[] = []
    for (let n = 0; n < 5; n++) {
      await team.live(here, 1)
      away.push(await team.machine())
    }
    for (const space of away.slice(1)) await space.close()
    await team.live(here, 10)
    await here.archiveOld(gzip)
    // One of them had the space open all the time.
    await away[0]!.lastSeq()
    const back = await Promise.all(away.slice(1).map(({ dir }) => team.machine(dir)))
    await mustBeWhole(here, away[0]!, ...back)
  })

  it('are removed when the settings say so, on every machine', async () => {
    const team = await Team.create()
    const here = await team.machine()
    const [there, away] = [await team.machine(), await team.machine()]
    await team.live(here, 3)
    await away.close()
    await team.live(here, 12)
    await there.lastSeq()
    const { removed } = await here.archiveOld(remove)
    expect(removed.length).toBeGreaterThan(3)
    expect(await team.archive()).toEqual(archived(here.dir))
    const from = Number(await team.sql('SELECT first_seq FROM mailbox.spaces WHERE space = SPACE'))
    expect(from).toBeGreaterThan(30)
    expect(
      Number(await team.sql('SELECT count(*) FROM mailbox.entries WHERE space = SPACE AND seq = 1')),
    ).toBe(0)
    // One that has nothing, one whose end was removed, and one that has it all.
    const fresh = await team.machine()
    const back = await team.machine(away.dir)
    await there.close()
    const again = await team.machine(there.dir)
    await mustBeWhole(here, fresh, back, again)
    for (const space of [here, fresh, back, again]) {
      const { messages } = await (await space.mailbox('bob')).search('zebra', { limit: 1_000 })
      expect(messages.length).toBeGreaterThan(0)
      expect(messages.filter(({ subject }) => subject === '0 0')).toEqual([])
    }
    await (await back.mailbox('ada')).send({ to: 'bob', body: 'on' })
    await mustBeWhole(here, fresh, back, again)
  })

  it('are kept while mail in them is unread or open', async () => {
    const team = await Team.create()
    const here = await team.machine()
    const ada = await here.mailbox('ada')
    await here.mailbox('bob')
    const { id } = await ada.send({ to: 'role:nobody', subject: 'open', body: 'x' })
    await team.live(here, 15)
    const { removed, kept } = await here.archiveOld(remove)
    expect(removed).toEqual([])
    expect(kept.map(({ reason }) => reason)).toContain(`message ${id} is unread or open`)
    expect((await (await team.machine()).show(id)).message.subject).toBe('open')
  })

  it('are archived once when two machines begin at the same time', async () => {
    const team = await Team.create()
    const machines = [await team.machine(), await team.machine(), await team.machine()]
    await team.live(machines[0]!, 15)
    for (const space of machines) await space.lastSeq()
    const before = await exported(machines[0]!)
    await Promise.all(machines.map((space) => space.archiveOld(gzip)))
    expect(await team.archive()).toEqual(archived(machines[1]!.dir))
    expect(await exported(await team.machine())).toEqual(before)
    await mustBeWhole(...machines)
  })

  it('are in one of the two places when the connection breaks on the way', async () => {
    const team = await Team.create()
    const { port } = await sharedServer()
    const proxy = await BreakingProxy.to(port)
    const here = await team.machine(
      tempDir(),
      `${team.url.replace(`:${port}/`, `:${proxy.port}/`)}&timeout=2&connect_timeout=2`,
    )
    await team.live(here, 12)
    const before = await exported(here)
    for (const word of ['INSERT INTO mailbox.archive', 'DELETE FROM mailbox.entries', 'COMMIT']) {
      let isCut = false
      proxy.cutsAfter = (question) => {
        if (isCut || !question.includes(word)) return false
        isCut = true
        return true
      }
      await expect(here.archiveOld(gzip)).rejects.toMatchObject({ code: 'unreachable' })
      expect(isCut).toBe(true)
      expect(await exported(await team.machine())).toEqual(before)
    }
    proxy.cutsAfter = () => false
    await here.archiveOld(gzip)
    await mustBeWhole(here, await team.machine())
  })

  it('are not archived if somebody has changed them, and a changed archive is not read', async () => {
    const team = await Team.create()
    const here = await team.machine()
    await team.live(here, 12)
    await team.sql(
      "UPDATE mailbox.entries SET line = replace(line, 'zebra', 'ZEBRA') WHERE space = SPACE AND line LIKE '%\"0 1\"%'",
    )
    await expect(here.archiveOld(gzip)).rejects.toMatchObject({ code: 'damaged', message: /entry \d+/ })
    expect(await team.archive()).toEqual([])
    await team.sql(
      "UPDATE mailbox.entries SET line = replace(line, 'ZEBRA', 'zebra') WHERE space = SPACE AND line LIKE '%\"0 1\"%'",
    )
    await here.archiveOld(gzip)
    await team.sql("UPDATE mailbox.archive SET content = '\\x1f8b' WHERE space = SPACE AND segment = 2")
    await expect(team.machine()).rejects.toMatchObject({
      code: 'damaged',
      message: /segment 2 in the table mailbox.archive/,
      hint: /archive\/2026-03-00000002.jsonl.gz/,
    })
    expect((await here.verify()).problems).toEqual(['segment 2 in the archive of the database is damaged'])
  })

  it('go along when the space is moved there and back', async () => {
    const team = await Team.create()
    const dir = tempDir()
    const open = () => openDisk({ dir, settings, now: () => team.clock.now })
    const files = await open()
    await team.live(files, 20)
    await files.archiveOld({ gzipAfterMs: dayMs, removeAfterMs: 12 * dayMs })
    const before = await exported(files)
    const names = archived(dir)
    await files.close()
    await moveSpace(dir, team.url)
    expect(await team.archive()).toEqual(names)
    const fresh = await team.machine()
    expect(await exported(fresh)).toEqual(before)
    expect(archived(fresh.dir)).toEqual(names)
    expect((await fresh.verify({ deep: true })).problems).toEqual([])
    await fresh.close()
    const back = join(tempDir(), 'back')
    await moveSpace(fresh.dir, back)
    await using home = await openDisk({ dir: back, settings, now: () => team.clock.now })
    expect(await exported(home)).toEqual(before)
    expect((await home.verify({ deep: true })).problems).toEqual([])
  })
})
