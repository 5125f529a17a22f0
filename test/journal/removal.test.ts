import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startCursor } from '../../src/journal/journal.ts'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { archivedFiles, day } from '../helpers/archive.ts'
import { readAll, upTo } from '../helpers/drafts.ts'
import { startScript } from '../helpers/processes.ts'
import { rowsOf } from '../helpers/rows.ts'
import { segmentFile, segmentFiles } from '../helpers/segments.ts'
import { patientSettings, tempJournal, tempSpace } from '../helpers/temp.ts'

const ages = { gzipAfterMs: 30 * day, removeAfterMs: 90 * day }
const hour = 3_600_000

/** A space with a clock, small segments, and four agents in all states. */
async function setUp() {
  const clock = { now: Date.parse('2026-01-10T12:00:00.000Z') }
  const open = (dir?: string) =>
    tempSpace({
      ...(dir === undefined ? {} : { dir }),
      now: () => clock.now,
      settings: { ...patientSettings, 'retention.segmentEntries': 8 },
    })
  const space = await open()
  await space.join('ada', { roles: ['architect'], tags: ['project:x'], note: 'the first' })
  await space.join('bob', { roles: ['tester'] })
  for (const name of ['cy', 'eve']) await space.join(name)
  await space.leave('cy')
  await space.leave('eve', { frozen: true })
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  return { clock, open, space, ada, bob }
}

/** Sends until so many new segments have begun; all of it is read and done at once. */
async function fill({ space, ada, bob }: Awaited<ReturnType<typeof setUp>>, segments: number): Promise<void> {
  for (const target = last(space) + segments; last(space) < target; ) {
    const { id } = await ada.send({ to: 'bob', subject: 'work', body: 'some words' })
    await bob.done(id)
  }
}

/** Mail to every kind of address, taken, finished, failed, given back and left lying. */
async function allSorts(boxes: Mailbox[], clock: { now: number }, month: number): Promise<void> {
  const addresses = ['ada', 'bob', 'role:architect', 'role:tester', 'project:x', 'all', ['ada', 'bob', 'all']]
  for (const n of upTo(40)) {
    clock.now += 10 * 60_000
    const mailbox = boxes[n % 2]!
    const ttl = n % 3 === 0 ? { ttlMs: hour } : {}
    await mailbox.send({ to: addresses[(n + month) % addresses.length]!, subject: `${month}-${n}`, ...ttl })
    const taken = n % 4 === 0 ? (await mailbox.check({ budgetTokens: 100 })).messages : []
    for (const [at, { id }] of taken.entries()) {
      if (at % 3 === 0) await mailbox.done(id)
      else if (at % 3 === 1) await mailbox.fail(id, { reason: 'could not' })
      else await mailbox.release(id)
    }
  }
}

const last = (space: DiskSpace): number => Number(segmentFiles(space.dir).at(-1)!.slice(0, 8))
const numbers = (list: { segment: number }[]): number[] => list.map(({ segment }) => segment)

/** What agents are told, apart from what was removed. */
async function standing(space: DiskSpace) {
  const agents = await space.agents()
  const counts = []
  const unread = []
  for (const { name } of agents) {
    const mailbox = await space.mailbox(name, { join: false })
    counts.push(await mailbox.count())
    unread.push((await mailbox.inbox({ limit: 500 })).messages)
  }
  return { agents, counts, unread }
}

describe('removal', () => {
  it('takes what is older still and finished, and everybody is known from what is left', async () => {
    const scene = await setUp()
    const { space, clock, open } = scene
    await fill(scene, 5)
    clock.now += 100 * day
    await fill(scene, 3)
    const before = await standing(space)
    const other = await open(space.dir)
    const plain = segmentFiles(space.dir).length

    const { gzipped, removed, kept } = await space.archiveOld({ ...ages, now: clock.now })
    expect(numbers(gzipped)).toEqual(upTo(numbers(gzipped).length))
    // The last of the old ones goes on into the new time.
    expect(numbers(removed)).toEqual(upTo(5))
    expect(removed[0]).toMatchObject({
      file: 'archive/2026-01-00000001.jsonl.gz',
      lastAt: expect.any(String),
    })
    expect(removed.every(({ gzippedBytes }) => gzippedBytes! > 0)).toBe(true)
    expect(plain).toBeGreaterThan(7)
    expect(numbers(kept).length).toBeGreaterThan(0)
    expect(archivedFiles(space.dir).filter((file) => file < '2026-01-00000006')).toEqual([])

    const left = (await readAll(tempJournal({ dir: space.dir }))).map(({ entry }) => entry)
    expect(left[0]).toMatchObject({ kind: 'segment' })
    const carried = left.filter((entry) => entry.kind === 'agent')
    expect(carried.map(({ change, by, agent }) => `${change} ${by} ${agent.name} ${agent.state}`)).toEqual([
      ...['updated system ada alive', 'updated system bob alive'],
      ...['updated system cy dead', 'updated system eve frozen'],
    ])
    expect(await standing(space)).toEqual(before)
    expect(await standing(other)).toEqual(before)
    expect((await space.verify({ deep: true })).problems).toEqual([])
    expect((await other.verify({ deep: true })).problems).toEqual([])

    await space.close()
    for (const file of ['index.db', 'index-search.db']) rmSync(join(space.dir, file))
    const again = await open(space.dir)
    expect(await standing(again)).toEqual(before)
    // Everybody can be written to as before, under the same run.
    const { id } = await (await again.mailbox('bob')).send({ to: 'role:architect', subject: 'still there?' })
    expect((await again.show(id)).receipts).toMatchObject([{ recipient: 'role:architect', state: 'stored' }])
  })

  it('is off by default, and takes nothing that is not archived', async () => {
    const scene = await setUp()
    await fill(scene, 5)
    scene.clock.now += 1_000 * day
    const { gzipAfterMs, removeAfterMs } = ages
    expect(await scene.space.archiveOld({ gzipAfterMs })).toMatchObject({ removed: [] })
    await fill(scene, 4)
    const onlyRemove = await scene.space.archiveOld({ removeAfterMs })
    expect(numbers(onlyRemove.removed)).toEqual(upTo(4))
    expect(onlyRemove.gzipped).toEqual([])
  })

  it('ends at the first segment in which something is unread or open, and says what', async () => {
    const scene = await setUp()
    const { space, ada, bob, clock } = scene
    await fill(scene, 2)
    const { id } = await ada.send({ to: 'bob', subject: 'later', ttlMs: null })
    await bob.ack(id)
    const waiting = last(space)
    await fill(scene, 3)
    clock.now += 200 * day

    const first = await space.archiveOld({ ...ages, now: clock.now })
    expect(numbers(first.removed)).toEqual(upTo(waiting - 1))
    expect(first.kept).toContainEqual({
      segment: waiting,
      reason: `message ${id} is unread or open`,
    })
    expect(first.kept).toContainEqual({ segment: waiting + 1, reason: 'an older one is kept' })
    expect((await bob.inbox()).messages).toMatchObject([{ id, subject: 'later', state: 'acked' }])

    await bob.done(id)
    const second = await space.archiveOld({ ...ages, now: clock.now })
    expect(numbers(second.removed)[0]).toBe(waiting)
    await expect(space.show(id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it.each([
    ['unread mail that lives for ever', 'bob', null],
    ['role mail that nobody has taken', 'role:tester', undefined],
    ['group mail that newcomers would see', 'all', null],
  ])('spares %s', async (_, to, ttlMs) => {
    const scene = await setUp()
    const { space, ada, clock } = scene
    const { id } = await ada.send({ to, subject: 'waits', ...(ttlMs === undefined ? {} : { ttlMs }) })
    await fill(scene, 4)
    clock.now += 200 * day
    const { removed, kept } = await space.archiveOld({ ...ages, now: clock.now })
    expect(removed).toEqual([])
    expect(kept[0]!.reason).toContain(id)
  })

  it('takes mail whose life is over, and that is written down first', async () => {
    const scene = await setUp()
    const { space, ada, clock, open } = scene
    const ids = []
    for (const to of ['bob', 'project:x', 'all', 'role:tester'])
      ids.push((await ada.send({ to, ttlMs: hour })).id)
    await fill(scene, 4)
    clock.now += 200 * day
    const before = await standing(space)
    const { removed } = await space.archiveOld({ ...ages, now: clock.now })
    expect(removed.length).toBeGreaterThan(2)
    const entries = (await readAll(tempJournal({ dir: space.dir }))).map(({ entry }) => entry)
    const expired = entries.flatMap((entry) =>
      entry.kind === 'receipt' && entry.step === 'expired' ? entry.changes : [],
    )
    // Whoever has counted them learns that they count no longer.
    expect(expired.map((change) => change.id).toSorted()).toEqual(ids.toSorted())
    expect(await standing(space)).toEqual(before)
    expect((await (await open(space.dir)).verify({ deep: true })).problems).toEqual([])
  })

  it('leaves no trace of receipts whose mail is gone', async () => {
    const scene = await setUp()
    const { space, ada, bob, clock } = scene
    const early = []
    for (const _ of upTo(6)) early.push((await ada.send({ to: 'bob', ttlMs: null })).id)
    await fill(scene, 2)
    // Read and done long after it was sent, so that the receipts outlive it.
    clock.now += 100 * day
    for (const id of early) await bob.ack(id)
    for (const id of early) await bob.done(id)
    await fill(scene, 3)
    const { removed } = await space.archiveOld({ ...ages, now: clock.now })
    expect(removed.length).toBeGreaterThan(1)
    expect((await bob.count()).unread).toBe(0)
    const { tally, receipt, trail, message } = rowsOf(space.dir)
    expect(tally).toEqual([])
    const there = new Set(message!.map(([seq]) => seq))
    expect(receipt!.filter(([seq]) => !there.has(seq))).toEqual([])
    expect(trail!.filter(([seq]) => !there.has(seq))).toEqual([])
    await ada.send({ to: 'bob', subject: 'new' })
    expect((await bob.count()).unread).toBe(1)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('leaves any history in order, again and again', async () => {
    const { space, clock, ada, bob } = await setUp()
    let gone = 0
    for (const month of upTo(6)) {
      await allSorts([ada, bob], clock, month)
      clock.now += 40 * day
      // What is still open after so long is put away, though not all of it.
      for (const mailbox of [ada, bob]) {
        const { messages } = await mailbox.inbox({ limit: 500 })
        for (const { id } of messages.slice(0, -2)) await mailbox.archive(id)
      }
      const before = await standing(space)
      const { removed } = await space.archiveOld({ ...ages, now: clock.now })
      gone += removed.length
      expect(await standing(space)).toEqual(before)
      expect((await space.verify({ deep: true })).problems).toEqual([])
    }
    expect(gone).toBeGreaterThan(5)
  })

  it('is not undone by an index from before it', async () => {
    const scene = await setUp()
    const { space, clock, open } = scene
    await fill(scene, 2)
    await space.lastSeq()
    const old = join(space.dir, 'old.db')
    copyFileSync(join(space.dir, 'index.db'), old)
    await fill(scene, 4)
    clock.now += 200 * day
    const before = await standing(space)
    expect((await space.archiveOld({ ...ages, now: clock.now })).removed.length).toBeGreaterThan(2)
    await space.close()
    copyFileSync(old, join(space.dir, 'index.db'))
    const again = await open(space.dir)
    expect(await standing(again)).toEqual(before)
    expect((await again.verify({ deep: true })).problems).toEqual([])
  })

  it('is heeded by readers that still have removed segments open or in memory', async () => {
    const scene = await setUp()
    const { space, clock } = scene
    await fill(scene, 5)
    clock.now += 200 * day
    // It has read what lay in the journal then,
    const early = tempJournal({ dir: space.dir })
    early.read(startCursor, 1)
    await space.archiveOld({ gzipAfterMs: ages.gzipAfterMs, now: clock.now })
    // and this one what lay in the archive.
    const late = tempJournal({ dir: space.dir })
    const { cursor } = late.read(startCursor, 1)
    await space.archiveOld({ ...ages, now: clock.now })
    const left = await readAll(tempJournal({ dir: space.dir }))
    expect(left[0]!.place.segment).toBeGreaterThan(2)
    for (const journal of [early, late]) {
      expect(await readAll(journal)).toEqual(left)
      expect(journal.fits(cursor)).toBe(false)
    }
  })

  it('takes nothing behind a segment that somebody has unpacked into the journal', async () => {
    const scene = await setUp()
    const { space, clock } = scene
    await fill(scene, 5)
    clock.now += 200 * day
    await space.archiveOld({ gzipAfterMs: ages.gzipAfterMs, now: clock.now })
    const packed = archivedFiles(space.dir).map((file) => join(space.dir, 'archive', file))
    writeFileSync(segmentFile(space.dir, 2), gunzipSync(readFileSync(packed[1]!)))
    const { removed } = await space.archiveOld({ removeAfterMs: ages.removeAfterMs, now: clock.now })
    expect(numbers(removed)).toEqual([1])
    expect((await space.verify({ deep: true })).problems).toEqual([])
    expect(numbers((await space.archiveOld({ ...ages, now: clock.now })).removed).length).toBeGreaterThan(1)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('keeps a damaged segment, and says so', async () => {
    const scene = await setUp()
    await fill(scene, 4)
    scene.clock.now += 200 * day
    const { space, clock } = scene
    await space.archiveOld({ gzipAfterMs: ages.gzipAfterMs, now: clock.now })
    const path = join(space.dir, 'archive', archivedFiles(space.dir)[0]!)
    writeFileSync(path, readFileSync(path).subarray(0, -9))
    const { removed, kept } = await space.archiveOld({ ...ages, now: clock.now })
    expect(removed).toEqual([])
    expect(kept[0]).toMatchObject({ segment: 1, reason: expect.stringContaining('cannot be unpacked') })
  })

  it('is not noticed by somebody who searches all the while', async () => {
    const scene = await setUp()
    const { space, clock } = scene
    for (const _ of upTo(4)) {
      await fill(scene, 3)
      clock.now += 30 * day
    }
    const searching = startScript(new URL('searcher.mjs', import.meta.url), [space.dir])
    await searching.line('round 3')
    let gone = 0
    for (const days of [110, 80, 50]) {
      const round = searching.lines.length
      const { removed } = await space.archiveOld({
        gzipAfterMs: day,
        removeAfterMs: days * day,
        now: clock.now,
      })
      gone += removed.length
      await searching.line(`round ${round + 5}`)
    }
    expect(gone).toBe(9)
    searching.tell('stop')
    await searching.line('stopped')
    expect(searching.lines.filter((line) => line.startsWith('refused'))).toEqual([])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})
