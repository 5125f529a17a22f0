import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startCursor } from '../../src/journal/journal.ts'
import { messageLimits } from '../../src/model/message.ts'
import { writeSetting } from '../../src/space/settings.ts'
import {
  appendMessage,
  messageDraft,
  readAll,
  seqsOf,
  subjectOf,
  subjectsIn,
  upTo,
} from '../helpers/drafts.ts'
import { linesIn, segmentFile, segmentFiles, verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'

async function manySegments(count: number) {
  const dir = tempDir()
  const journal = tempJournal({ dir, segmentBytes: 1_000 })
  for (let n = 1; segmentFiles(dir).length < count; n++) await appendMessage(journal, { subject: `${n}` })
  return { dir, journal, messages: (await subjectsIn(journal)).length }
}

describe('a journal with many segments', () => {
  it('numbers its files without a gap and its entries straight through', async () => {
    const { dir, journal } = await manySegments(12)
    expect(segmentFiles(dir)).toEqual(upTo(12).map((n) => `${String(n).padStart(8, '0')}.jsonl`))
    const entries = (await readAll(journal)).map(({ entry }) => entry)
    expect(seqsOf(entries)).toEqual(upTo(entries.length))
    expect(entries.flatMap((entry) => subjectOf(entry) ?? [])).toEqual(upTo(entries.length - 12).map(String))
  })

  it('opens every file with the space it belongs to and the reason it was begun', async () => {
    const { dir, journal } = await manySegments(3)
    const headers = [1, 2, 3].map(
      (segment) => JSON.parse(linesIn(dir, segment)[0]!) as Record<string, unknown>,
    )
    expect(headers.map(({ kind }) => kind)).toEqual(['segment', 'segment', 'segment'])
    expect(headers.map(({ space }) => space)).toEqual([journal.space, journal.space, journal.space])
    expect(headers.map(({ reason }) => reason)).toEqual(['created', 'size', 'size'])
  })

  it('never writes to a file again once the next one is there', async () => {
    const { dir, journal } = await manySegments(3)
    const closed = readFileSync(segmentFile(dir, 2))
    for (const n of upTo(10)) await appendMessage(journal, { subject: `late ${n}` })
    expect(readFileSync(segmentFile(dir, 2))).toEqual(closed)
  })

  it('is whole by its own check', async () => {
    const { dir, messages } = await manySegments(6)
    expect(await verifyDir(dir)).toMatchObject({ segments: 6, messages, problems: [], torn: [] })
  })

  it('finds entries at their places in any order, more files than a reader keeps open', async () => {
    const { journal } = await manySegments(10)
    const all = await readAll(journal)
    const mixed = all.toSorted((a, b) => ((a.entry.seq * 7) % 11) - ((b.entry.seq * 7) % 11))
    for (const { entry, place } of mixed) expect(journal.at(place)).toEqual(entry)
  })

  it('locates any seq in the segment that holds it', async () => {
    const { journal } = await manySegments(6)
    const all = await readAll(journal)
    for (const { entry } of all) {
      const found = journal
        .read(journal.locate(entry.seq - 1))
        .entries.find(({ entry: { seq } }) => seq === entry.seq)
      expect(found?.entry).toEqual(entry)
    }
    expect(journal.locate(all.at(-1)!.entry.seq).segment).toBe(6)
  })

  it('is read across the border by a reader that waited at the end of the old segment', async () => {
    const dir = tempDir()
    const writer = tempJournal({ dir, segmentBytes: 500 })
    const reader = tempJournal({ dir })
    await appendMessage(writer, { subject: 'old' })
    const { cursor } = reader.read(startCursor)
    await appendMessage(writer, { subject: 'new' })
    expect(segmentFiles(dir)).toHaveLength(2)
    const found = reader.read(cursor).entries.map(({ entry }) => entry)
    expect(found.flatMap((entry) => subjectOf(entry) ?? [])).toEqual(['new'])
  })

  it('takes over a segment that another process began', async () => {
    const dir = tempDir()
    const small = tempJournal({ dir, segmentBytes: 500 })
    const large = tempJournal({ dir })
    for (const n of upTo(5)) {
      await appendMessage(small, { subject: `${n}` })
      await appendMessage(large, { subject: `${n}+` })
    }
    expect(await subjectsIn(small)).toEqual(upTo(5).flatMap((n) => [`${n}`, `${n}+`]))
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('is whole when the call that would have begun a segment was refused', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, segmentBytes: 300 })
    await appendMessage(journal, { subject: 'before' })
    const tooLong = journal.append(() => [messageDraft({ body: 'x'.repeat(messageLimits.lineBytes) })])
    await expect(tooLong).rejects.toMatchObject({ code: 'over_limit' })
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['before', 'after'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
    expect(JSON.parse(linesIn(dir, 2)[0]!)).toMatchObject({ kind: 'segment', reason: 'size' })
  })
})

/** Why each segment was begun, by the word of its first line. */
const reasonsIn = (dir: string): unknown[] =>
  segmentFiles(dir).map((_, at) => (JSON.parse(linesIn(dir, at + 1)[0]!) as { reason: unknown }).reason)

describe('a journal that begins a segment with every month', () => {
  const monthly = (dir: string, clock: { now: string }) =>
    tempJournal({ dir, rotate: 'month', now: () => Date.parse(clock.now) })

  it('does so in UTC, at the first write of the month, and says why', async () => {
    const dir = tempDir()
    const clock = { now: '2026-01-31T23:59:59.999Z' }
    const journal = monthly(dir, clock)
    await appendMessage(journal, { subject: 'January' })
    clock.now = '2026-02-01T00:00:00.000Z'
    expect(segmentFiles(dir)).toHaveLength(1)
    for (const subject of ['February', 'still February']) await appendMessage(journal, { subject })
    clock.now = '2027-02-01T00:00:00.000Z'
    await appendMessage(journal, { subject: 'the next year' })
    expect(reasonsIn(dir)).toEqual(['created', 'month', 'month'])
    expect([1, 2, 3].map((segment) => linesIn(dir, segment).length)).toEqual([2, 3, 2])
    expect(await subjectsIn(journal)).toEqual(['January', 'February', 'still February', 'the next year'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('goes by the month of the segment, whoever began it', async () => {
    const dir = tempDir()
    const clock = { now: '2026-01-31T12:00:00.000Z' }
    const first = monthly(dir, clock)
    await appendMessage(first, { subject: 'January' })
    await first.close()
    const second = monthly(dir, clock)
    await appendMessage(second, { subject: 'still January' })
    clock.now = '2026-02-01T12:00:00.000Z'
    const third = monthly(dir, clock)
    await appendMessage(third, { subject: 'February' })
    await appendMessage(second, { subject: 'still February' })
    expect([1, 2].map((segment) => linesIn(dir, segment).length)).toEqual([3, 3])
  })

  it('says so as well when the first call of the month was refused', async () => {
    const dir = tempDir()
    const clock = { now: '2026-01-31T12:00:00.000Z' }
    const journal = monthly(dir, clock)
    await appendMessage(journal, { subject: 'January' })
    clock.now = '2026-02-01T12:00:00.000Z'
    const tooLong = journal.append(() => [messageDraft({ body: 'x'.repeat(messageLimits.lineBytes) })])
    await expect(tooLong).rejects.toMatchObject({ code: 'over_limit' })
    await appendMessage(journal, { subject: 'February' })
    expect(reasonsIn(dir)).toEqual(['created', 'month'])
  })

  it('finds the month behind a first line that was torn', async () => {
    const dir = tempDir()
    const clock = { now: '2026-01-31T12:00:00.000Z' }
    const journal = monthly(dir, clock)
    await appendMessage(journal, { subject: 'January' })
    writeFileSync(segmentFile(dir, 2), '{"se')
    for (const subject of ['a', 'b']) await appendMessage(journal, { subject })
    expect(segmentFiles(dir)).toHaveLength(2)
    clock.now = '2026-02-01T12:00:00.000Z'
    await appendMessage(journal, { subject: 'February' })
    expect(segmentFiles(dir)).toHaveLength(3)
    expect((await verifyDir(dir)).problems).toEqual([])
  })
})

describe('a journal that begins a segment after so many entries', () => {
  it('counts every entry, whoever wrote it, and says why', async () => {
    const dir = tempDir()
    const left = tempJournal({ dir, segmentEntries: 5 })
    const right = tempJournal({ dir, segmentEntries: 5 })
    for (const n of upTo(6)) {
      await appendMessage(left, { subject: `left ${n}` })
      await appendMessage(right, { subject: `right ${n}` })
    }
    expect(reasonsIn(dir)).toEqual(['created', 'count', 'count'])
    // The first line of a segment is an entry, too.
    expect([1, 2, 3].map((segment) => linesIn(dir, segment).length)).toEqual([5, 5, 5])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('never cuts in two what one call appends', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, segmentEntries: 3 })
    await journal.append(() => upTo(10).map((n) => messageDraft({ subject: `${n}` })))
    await appendMessage(journal, { subject: 'next' })
    expect([1, 2].map((segment) => linesIn(dir, segment).length)).toEqual([11, 2])
  })

  it('is set for a whole space', async () => {
    const dir = tempDir()
    writeSetting(dir, 'retention.segmentEntries', 4)
    writeSetting(dir, 'retention.rotate', 'month')
    const clock = { now: Date.parse('2026-01-31T12:00:00.000Z') }
    const space = await tempSpace({ dir, now: () => clock.now })
    const ada = await space.mailbox('ada')
    for (const n of upTo(3)) await ada.send({ to: 'ada', subject: `${n}` })
    clock.now += 86_400_000
    await ada.send({ to: 'ada', subject: 'February' })
    expect(reasonsIn(dir)).toEqual(['created', 'count', 'month'])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})
