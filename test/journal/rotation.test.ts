import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startCursor } from '../../src/journal/journal.ts'
import { messageLimits } from '../../src/model/message.ts'
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
import { tempDir, tempJournal } from '../helpers/temp.ts'

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
