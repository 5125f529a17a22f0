import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Cursor, startCursor } from '../../src/journal/journal.ts'
import { writeSetting } from '../../src/space/settings.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { archivedFiles, day, everythingIn, listingOf } from '../helpers/archive.ts'
import {
  appendMessage,
  messageDraft,
  readAll,
  seqsOf,
  subjectOf,
  subjectsIn,
  upTo,
} from '../helpers/drafts.ts'
import { patchFs } from '../helpers/fs-faults.ts'
import { liveThrough } from '../helpers/history.ts'
import { startScript, untilStopped } from '../helpers/processes.ts'
import { rowsOf } from '../helpers/rows.ts'
import { segmentFile, segmentFiles, verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'

const names = ['ada', 'bob', 'cyd', 'eve'] as const

/** Three months of a space with all sorts of mail, in many small segments. */
async function threeMonths(): Promise<{ space: DiskSpace; clock: { now: number } }> {
  const clock = { now: Date.parse('2026-01-10T12:00:00.000Z') }
  const space = await tempSpace({ now: () => clock.now, settings: { segmentBytes: 6_000 } })
  for (const seed of [1, 2, 3]) {
    await liveThrough(space, 120, seed, clock)
    clock.now += 31 * day
  }
  return { space, clock }
}

/** A closed journal of so many segments, three messages in each, archived but for the last two. */
async function archivedSpace(segments: number): Promise<DiskSpace> {
  const space = await tempSpace({ settings: { 'retention.segmentEntries': 4 } })
  const ada = await space.mailbox('ada')
  for (let n = 1; segmentFiles(space.dir).length < segments; n++)
    await ada.send({ to: 'ada', subject: `${n}`, body: `word${n}` })
  await space.archiveOld({ gzipAfterMs: 1, now: Date.now() + day })
  return space
}

/** What archiving comes to, without a pause in which anybody else could look. */
function archiveAtOnce(dir: string, segment: number): void {
  const bytes = readFileSync(segmentFile(dir, segment))
  mkdirSync(join(dir, 'archive'), { recursive: true })
  writeFileSync(join(dir, 'archive', `2026-01-0000000${segment}.jsonl.gz`), gzipSync(bytes))
  rmSync(segmentFile(dir, segment))
}

/** The cursor behind the last entry of a segment, as a reader has it that stands there. */
function endOf(journal: ReturnType<typeof tempJournal>, segment: number): Cursor {
  let cursor = startCursor
  for (;;) {
    const next = journal.read(cursor, 1)
    if (next.cursor.segment > segment) return cursor
    cursor = next.cursor
  }
}

describe('archiving', () => {
  it('leaves every entry, inbox, thread, ladder, search and check as it was, byte for byte', async () => {
    const { space, clock } = await threeMonths()
    const before = await everythingIn(space, names)
    const plain = segmentFiles(space.dir)
    const files = new Map(plain.map((_, at) => [at + 1, readFileSync(segmentFile(space.dir, at + 1))]))
    const sound = await space.verify({ deep: true })
    expect(plain.length).toBeGreaterThan(10)

    const { gzipped, removed } = await space.archiveOld({ gzipAfterMs: 30 * day, now: clock.now })
    expect(gzipped.length).toBe(plain.length - 2)
    expect(removed).toEqual([])
    expect(segmentFiles(space.dir)).toEqual(plain.slice(-2))
    for (const { segment, file, bytes, gzippedBytes, lastAt } of gzipped) {
      const packed = readFileSync(join(space.dir, file))
      expect(gunzipSync(packed).equals(files.get(segment)!)).toBe(true)
      expect({ bytes, gzippedBytes }).toEqual({
        bytes: files.get(segment)!.length,
        gzippedBytes: packed.length,
      })
      expect(file).toBe(`archive/${lastAt.slice(0, 7)}-${String(segment).padStart(8, '0')}.jsonl.gz`)
    }
    expect(new Set(gzipped.map(({ lastAt }) => lastAt.slice(0, 7))).size).toBe(3)

    expect(await everythingIn(space, names)).toEqual(before)
    expect(await space.verify({ deep: true })).toEqual(sound)
    const other = await tempSpace({ dir: space.dir, now: () => clock.now })
    expect(await everythingIn(other, names)).toEqual(before)
  })

  it('is all that is needed to build the index anew', async () => {
    const { space, clock } = await threeMonths()
    const before = await everythingIn(space, names)
    const rows = rowsOf(space.dir)
    await space.archiveOld({ gzipAfterMs: 30 * day, now: clock.now })
    await space.close()
    for (const file of ['index.db', 'index-search.db']) rmSync(join(space.dir, file))
    const again = await tempSpace({ dir: space.dir, now: () => clock.now })
    expect(await everythingIn(again, names)).toEqual(before)
    expect(rowsOf(space.dir)).toEqual(rows)
  })

  it('takes what is old enough, from the oldest on, and never the last two', async () => {
    const clock = { now: Date.parse('2026-01-10T12:00:00.000Z') }
    const space = await tempSpace({ now: () => clock.now, settings: { 'retention.rotate': 'month' } })
    const ada = await space.mailbox('ada')
    for (const n of upTo(6)) {
      await ada.send({ to: 'ada', subject: `month ${n}` })
      clock.now = Date.parse(`2026-0${n + 1}-10T12:00:00.000Z`)
    }
    const segments = (report: { gzipped: { segment: number }[] }) => report.gzipped.map((one) => one.segment)
    const on = (iso: string) => ({ gzipAfterMs: 30 * day, now: Date.parse(iso) })
    // The last entry of February is of the 10th, noon.
    expect(segments(await space.archiveOld(on('2026-03-12T12:00:00.000Z')))).toEqual([1])
    expect(segments(await space.archiveOld(on('2026-03-12T12:00:00.001Z')))).toEqual([2])
    const march = await space.archiveOld(on('2026-04-09T12:00:00.000Z'))
    expect(march).toMatchObject({ gzipped: [], removed: [] })
    expect(march.kept).toEqual([
      { segment: 3, reason: 'its last entry is from 2026-03-10' },
      { segment: 4, reason: 'an older one is kept' },
      { segment: 5, reason: 'it is right before the file being written' },
      { segment: 6, reason: 'it is being written' },
    ])
    expect(segments(await space.archiveOld(on('2030-01-01T00:00:00.000Z')))).toEqual([3, 4])
    expect(archivedFiles(space.dir)).toEqual(upTo(4).map((n) => `2026-0${n}-0000000${n}.jsonl.gz`))
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('happens only where it is asked for, by a setting or for once', async () => {
    const dir = tempDir()
    const later = { now: Date.now() + 40 * day }
    const filled = await tempSpace({ dir, settings: { 'retention.segmentEntries': 3 } })
    const ada = await filled.mailbox('ada')
    for (const n of upTo(12)) await ada.send({ to: 'ada', subject: `${n}` })
    expect(await filled.archiveOld(later)).toEqual({ gzipped: [], removed: [], kept: [] })
    expect(archivedFiles(dir)).toEqual([])
    for (const gzipAfterMs of [0, -1, Number.NaN])
      await expect(filled.archiveOld({ gzipAfterMs })).rejects.toMatchObject({ code: 'invalid' })

    writeSetting(dir, 'retention.gzipAfterDays', 30)
    const space = await tempSpace({ dir })
    expect((await space.archiveOld()).gzipped).toEqual([])
    expect((await space.archiveOld({ ...later, gzipAfterMs: Number.POSITIVE_INFINITY })).gzipped).toEqual([])
    expect((await space.archiveOld(later)).gzipped.length).toBeGreaterThan(1)
  })

  it('is foreseen by a dry run, which changes nothing at all', async () => {
    const { space, clock } = await threeMonths()
    await space.lastSeq()
    const before = listingOf(space.dir)
    const ages = { gzipAfterMs: 30 * day, removeAfterMs: 60 * day, now: clock.now }
    const foreseen = await space.archiveOld({ ...ages, dryRun: true })
    expect(listingOf(space.dir)).toEqual(before)
    expect(foreseen.gzipped.length).toBeGreaterThan(10)
    const done = await space.archiveOld(ages)
    const segments = (list: { segment: number }[]) => list.map(({ segment }) => segment)
    expect(segments(done.gzipped)).toEqual(segments(foreseen.gzipped))
    expect(segments(done.removed)).toEqual(segments(foreseen.removed))
    expect(done.kept).toEqual(foreseen.kept)
    expect(foreseen.gzipped.every(({ gzippedBytes }) => gzippedBytes === null)).toBe(true)
  })

  it('reports how far it is, and can be called off between two segments', async () => {
    const space = await tempSpace({ settings: { 'retention.segmentEntries': 3 } })
    const ada = await space.mailbox('ada')
    for (const n of upTo(16)) await ada.send({ to: 'ada', subject: `${n}` })
    const before = await readAll(tempJournal({ dir: space.dir }))
    const stop = new AbortController()
    const seen: string[] = []
    const onProgress = ({ task, done, total }: { task: string; done: number; total: number }) => {
      seen.push(task)
      expect(done).toBeLessThan(total)
      if (seen.length === 2) stop.abort()
    }
    const ages = { gzipAfterMs: 1, now: Date.now() + day }
    await expect(space.archiveOld({ ...ages, onProgress, signal: stop.signal })).rejects.toThrow()
    expect(seen).toEqual(['gzip', 'gzip'])
    expect(archivedFiles(space.dir)).toHaveLength(2)
    expect(await readAll(tempJournal({ dir: space.dir }))).toEqual(before)
    expect((await space.archiveOld(ages)).gzipped[0]).toMatchObject({ segment: 3 })
  })

  it('is for one process at a time', async () => {
    const space = await tempSpace({ settings: { 'retention.segmentEntries': 3 } })
    const ada = await space.mailbox('ada')
    for (const n of upTo(16)) await ada.send({ to: 'ada', subject: `${n}` })
    const other = await tempSpace({ dir: space.dir })
    const ages = { gzipAfterMs: 1, now: Date.now() + day }
    const both = await Promise.allSettled([space.archiveOld(ages), other.archiveOld(ages)])
    const refused = both.filter((one) => one.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(['conflict'])
    expect((await space.verify({ deep: true })).problems).toEqual([])
    expect((await other.archiveOld(ages)).gzipped).toEqual([])
  })

  it('finishes what a killed one left: a temporary file, or both copies of a segment', async () => {
    const space = await archivedSpace(6)
    const [first, second] = archivedFiles(space.dir).map((file) => join(space.dir, 'archive', file))
    const before = await readAll(tempJournal({ dir: space.dir }))
    writeFileSync(`${first}.tmp`, 'half a gz')
    // The plain copy was not deleted; of the second one, the archived copy is not what it should be.
    writeFileSync(segmentFile(space.dir, 1), gunzipSync(readFileSync(first!)))
    writeFileSync(segmentFile(space.dir, 2), gunzipSync(readFileSync(second!)))
    writeFileSync(second!, gzipSync('something else'))
    expect(await readAll(tempJournal({ dir: space.dir }))).toEqual(before)
    expect((await verifyDir(space.dir)).problems).toEqual([])

    const { gzipped } = await space.archiveOld({ gzipAfterMs: 1, now: Date.now() + day })
    expect(gzipped.map(({ segment }) => segment)).toEqual([1, 2])
    expect(archivedFiles(space.dir)).toHaveLength(4)
    expect(segmentFiles(space.dir)).toHaveLength(2)
    expect(await readAll(tempJournal({ dir: space.dir }))).toEqual(before)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('keeps a segment that holds no entry with those around it', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'before' })
    await space.close()
    // A disk that failed while the first line of a segment was written.
    writeFileSync(segmentFile(space.dir, 2), '{"seq":4,"at":"20')
    writeFileSync(segmentFile(space.dir, 3), '')
    const again = await tempSpace({ dir: space.dir, settings: { 'retention.segmentEntries': 2 } })
    const bob = await again.mailbox('ada')
    for (const subject of ['a', 'b', 'c']) await bob.send({ to: 'ada', subject })
    const before = await subjectsIn(tempJournal({ dir: space.dir }))
    const { gzipped } = await again.archiveOld({ gzipAfterMs: 1, now: Date.now() + day })
    expect(gzipped.map(({ segment }) => segment)).toEqual([1, 2, 3])
    expect(await subjectsIn(tempJournal({ dir: space.dir }))).toEqual(before)
    expect((await again.verify({ deep: true })).problems).toEqual([])
  })
})

describe('a reader that was somewhere else while segments were archived', () => {
  async function fourAndMore() {
    const dir = tempDir()
    const writer = tempJournal({ dir, segmentEntries: 4 })
    for (const n of upTo(18)) await appendMessage(writer, { subject: `${n}` })
    expect(segmentFiles(dir)).toHaveLength(6)
    const archive = async () => {
      const space = await tempSpace({ dir })
      await space.archiveOld({ gzipAfterMs: 1, now: Date.now() + day })
      await space.close()
      expect(segmentFiles(dir)).toHaveLength(2)
    }
    return { dir, writer, archive }
  }

  it('stood at the end of the first: it reads on without a gap or a double', async () => {
    const { dir, archive } = await fourAndMore()
    const all = await readAll(tempJournal({ dir }))
    const reader = tempJournal({ dir })
    const cursor = endOf(reader, 1)
    await archive()
    // It still has the file open, and another one that begins there has not.
    for (const journal of [reader, tempJournal({ dir })]) {
      expect(journal.atEnd(cursor)).toBe(false)
      expect(journal.fits(cursor)).toBe(true)
      const rest = [...all.filter(({ entry }) => entry.seq > cursor.seq)]
      expect(journal.read(cursor).entries).toEqual(rest)
      expect(journal.atEnd(journal.read(cursor).cursor)).toBe(true)
    }
  })

  it.each(['existsSync', 'fstatSync'] as const)(
    'was about to ask %s whether there is more: it finds out all the same',
    async (call) => {
      const dir = tempDir()
      const writer = tempJournal({ dir, segmentEntries: 4 })
      for (const n of upTo(3)) await appendMessage(writer, { subject: `${n}` })
      const reader = tempJournal({ dir })
      const { cursor } = reader.read(startCursor)
      expect(reader.atEnd(cursor)).toBe(true)
      for (const n of upTo(9)) await appendMessage(writer, { subject: `later ${n}` })
      let archived = false
      patchFs(call, (real) => (...args) => {
        if (!archived) {
          archived = true
          for (const segment of [1, 2]) archiveAtOnce(dir, segment)
        }
        return (real as (...all: unknown[]) => unknown)(...args)
      })
      expect(reader.atEnd(cursor)).toBe(false)
      expect(reader.read(cursor).entries[0]!.entry.seq).toBe(cursor.seq + 1)
    },
  )

  it('is told of every place, in any order, with more archived segments than it keeps in memory', async () => {
    const { dir, archive } = await fourAndMore()
    const all = await readAll(tempJournal({ dir }))
    await archive()
    const journal = tempJournal({ dir })
    const mixed = all.toSorted((a, b) => ((a.entry.seq * 7) % 11) - ((b.entry.seq * 7) % 11))
    for (const { entry, place } of mixed) expect(journal.at(place)).toEqual(entry)
    for (const { entry } of all) {
      const found = journal.read(journal.locate(entry.seq - 1)).entries
      expect(found.find((one) => one.entry.seq === entry.seq)?.entry).toEqual(entry)
      expect(journal.fits(journal.locate(entry.seq))).toBe(true)
    }
    expect(await readAll(journal, 1)).toEqual(all)
  })

  it('is a writer: its next line goes behind all of them, and no segment comes back', async () => {
    const { dir, writer, archive } = await fourAndMore()
    const slow = tempJournal({ dir })
    slow.seek(endOf(slow, 1))
    const open = tempJournal({ dir })
    await open.append(() => [])
    for (const n of upTo(9)) await appendMessage(writer, { subject: `later ${n}` })
    await archive()
    for (const journal of [slow, open]) await appendMessage(journal, { subject: 'next' })
    expect(segmentFiles(dir)).toHaveLength(2)
    const entries = (await readAll(tempJournal({ dir }))).map(({ entry }) => entry)
    expect(seqsOf(entries)).toEqual(upTo(entries.length))
    expect(entries.slice(-2).map(subjectOf)).toEqual(['next', 'next'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('is a writer, and nothing but the archive is left: it begins the next segment', async () => {
    const { dir, archive } = await fourAndMore()
    await archive()
    for (const file of segmentFiles(dir)) rmSync(join(dir, 'journal', file))
    // It would tell that entries are gone.
    rmSync(join(dir, 'head'))
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'next' })
    expect(segmentFiles(dir)).toEqual(['00000005.jsonl'])
    expect((await subjectsIn(journal)).at(-1)).toBe('next')
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('asks the system no more than before whether it is at the end', async () => {
    const { dir, archive } = await fourAndMore()
    await archive()
    const journal = tempJournal({ dir })
    const { cursor } = journal.read(startCursor)
    expect(journal.atEnd(cursor)).toBe(true)
    const calls: string[] = []
    for (const name of [
      'existsSync',
      'fstatSync',
      'statSync',
      'openSync',
      'readSync',
      'readdirSync',
    ] as const) {
      patchFs(name, (real) => (...args) => {
        calls.push(name)
        return (real as (...all: unknown[]) => unknown)(...args)
      })
    }
    expect(journal.atEnd(cursor)).toBe(true)
    expect(calls).toEqual(['existsSync', 'statSync'])
  })
})

describe('other processes', () => {
  const writer = new URL('../index/steady-writer.mjs', import.meta.url)
  const watcher = new URL('../index/watcher.mjs', import.meta.url)
  const follower = new URL('follower.mjs', import.meta.url)

  it('send, follow and watch on while segments are archived under them, even one that was stopped', async () => {
    const dir = tempDir()
    writeSetting(dir, 'retention.segmentEntries', 20)
    const sending = startScript(writer, [dir])
    await sending.line('acked 10')
    const following = startScript(follower, [dir])
    const watching = startScript(watcher, [dir])
    await Promise.all([following.line('saw 10'), watching.line('saw 1')])
    const space = await tempSpace({ dir })
    let archived = 0
    for (const round of upTo(5)) {
      if (round % 2 === 0) {
        following.kill('SIGSTOP')
        await untilStopped(following.process.pid!)
      }
      await sending.line(`acked ${round * 60}`)
      archived += (await space.archiveOld({ gzipAfterMs: 1 })).gzipped.length
      following.kill('SIGCONT')
      // Now and then it is at the end when they are archived, now and then it is not.
      if (round % 2 === 1) await following.line(`saw ${await space.lastSeq()}`)
    }
    sending.tell('stop')
    await sending.line('stopped')
    expect(sending.lines.filter((line) => line.startsWith('refused'))).toEqual([])
    expect(archived).toBeGreaterThan(10)

    const end = await space.lastSeq()
    await following.line(`saw ${end}`)
    expect(following.lines).toEqual(upTo(end).map((seq) => `saw ${seq}`))
    const acked = sending.lines.filter((line) => line.startsWith('acked')).length
    await watching.line(`saw ${acked}`)
    expect(watching.lines.slice(1)).toEqual(upTo(acked).map((subject) => `saw ${subject}`))
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})

describe('a damaged archive', () => {
  const damages: [string, (path: string) => void][] = [
    ['cut short', (path) => writeFileSync(path, readFileSync(path).subarray(0, -20))],
    ['empty', (path) => writeFileSync(path, '')],
    ['not gzipped', (path) => writeFileSync(path, 'x'.repeat(500))],
    [
      'changed in one bit',
      (path) => {
        const bytes = readFileSync(path)
        bytes[bytes.length >> 1]! ^= 0x10
        writeFileSync(path, bytes)
      },
    ],
  ]

  it.each(damages)('%s: costs no more than is in it, and the rest is read', async (_, damage) => {
    const space = await archivedSpace(6)
    const ada = await space.mailbox('ada')
    const sent = (await ada.sent({ limit: 100 })).messages.toReversed()
    const path = join(space.dir, 'archive', archivedFiles(space.dir)[1]!)
    copyFileSync(path, join(space.dir, 'copy'))
    damage(path)

    const again = await tempSpace({ dir: space.dir })
    const inSecond = sent.filter(({ seq }) => seq > 4 && seq <= 8)
    const others = sent.filter((one) => !inSecond.includes(one))
    const lost: string[] = []
    for (const message of inSecond) {
      const { id, from, to, createdAt } = message
      const shown = (await again.show(id)).message
      if (shown.unreadable === undefined) expect(shown).toEqual(message)
      else expect(shown).toMatchObject({ id, from, to, createdAt, subject: '(could not be read)' })
      if (shown.unreadable !== undefined) lost.push(id)
    }
    expect(lost.length).toBeGreaterThan(0)
    for (const message of others) expect((await again.show(message.id)).message).toEqual(message)
    await (await again.mailbox('ada')).send({ to: 'ada', subject: 'goes on' })
    expect((await again.verify()).problems).toEqual([expect.stringContaining(`segment 2: ${path} cannot be`)])
    await again.rebuild()
    for (const id of lost) await expect(again.show(id)).rejects.toMatchObject({ code: 'not_found' })
    for (const message of others) expect((await again.show(message.id)).message).toEqual(message)

    renameSync(join(space.dir, 'copy'), path)
    await again.rebuild()
    expect((await again.verify({ deep: true })).problems).toEqual([])
  })

  it('that is moved away leaves the rest usable', async () => {
    const space = await archivedSpace(6)
    rmSync(join(space.dir, 'archive', archivedFiles(space.dir)[1]!))
    const again = await tempSpace({ dir: space.dir })
    await again.rebuild()
    const ada = await again.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'goes on' })
    expect((await ada.search('word1')).messages).toHaveLength(1)
    expect((await again.verify({ deep: true })).problems).toContainEqual('segments 2 to 2 are missing')
  })

  it('whose lines were changed shows in the check like any other', async () => {
    const space = await archivedSpace(6)
    const path = join(space.dir, 'archive', archivedFiles(space.dir)[1]!)
    writeFileSync(
      path,
      gzipSync(gunzipSync(readFileSync(path)).toString().replace('"body":"word', '"body":"W')),
    )
    const { problems } = await verifyDir(space.dir)
    expect(problems.join()).toMatch(/segment 2, byte \d+: a line was changed or damaged/)
  })
})

it('a journal of one segment has nothing to archive', async () => {
  const journal = tempJournal()
  await journal.append(() => [messageDraft()])
  const space = await tempSpace()
  expect(await space.archiveOld({ gzipAfterMs: 1, now: Date.now() + day })).toEqual({
    gzipped: [],
    removed: [],
    kept: [{ segment: 1, reason: 'it is being written' }],
  })
  expect(archivedFiles(space.dir)).toEqual([])
})
