import { appendFileSync, cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
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

/** A journal that was closed properly, and how long its file and its last line are. */
async function written(subjects: readonly string[]) {
  const dir = tempDir()
  const journal = tempJournal({ dir })
  for (const subject of subjects) await appendMessage(journal, { subject })
  await journal.close()
  const { size } = statSync(segmentFile(dir))
  const lastLine = Buffer.byteLength(linesIn(dir).at(-1)!)
  return { dir, size, lastStart: size - lastLine - 1, space: journal.space }
}

/** Cuts the last write off. It was not acknowledged, so it is not marked either. */
function tear(dir: string, size: number): void {
  truncateSync(segmentFile(dir), size)
  rmSync(join(dir, 'head'), { force: true })
}

/** What a process finds that opens the directory and appends one message to it. */
async function openAndAppend(dir: string, subject: string) {
  const journal = new FileJournal({ dir, durability: 'os' })
  try {
    await appendMessage(journal, { subject })
    return { subjects: await subjectsIn(journal), space: journal.space }
  } finally {
    await journal.close()
  }
}

describe('a torn last line', () => {
  it('is sealed by the next append, wherever it was cut, and nothing else is lost', async () => {
    const { dir, size, lastStart, space } = await written(['first', 'last'])
    const wrong: unknown[] = []
    for (let cut = lastStart; cut < size; cut++) {
      const copy = join(dir, `${cut}`)
      cpSync(join(dir, 'journal'), join(copy, 'journal'), { recursive: true })
      tear(copy, cut)

      const fragment = cut - lastStart
      // With all of the line there and only its newline missing, the line is whole.
      const whole = cut === size - 1
      const found = await openAndAppend(copy, 'next')
      const report = await verifyDir(copy)
      const torn =
        fragment === 0 || whole ? [] : [{ segment: 1, offset: lastStart, bytes: fragment, sealed: true }]
      const subjects = whole ? ['first', 'last', 'next'] : ['first', 'next']
      try {
        expect(found).toEqual({ subjects, space })
        expect(report).toMatchObject({ torn, problems: [], messages: subjects.length })
      } catch (error) {
        wrong.push(`cut at ${fragment} of ${size - lastStart}: ${(error as Error).message}`)
      }
    }
    expect(wrong.slice(0, 3)).toEqual([])
  })

  it('is reported and left alone by somebody who only reads', async () => {
    const { dir, size, lastStart } = await written(['first', 'last'])
    tear(dir, size - 20)
    const journal = tempJournal({ dir })
    expect(await subjectsIn(journal)).toEqual(['first'])
    expect(statSync(segmentFile(dir)).size).toBe(size - 20)
    const torn = [{ segment: 1, offset: lastStart, bytes: size - 20 - lastStart, sealed: false }]
    expect(await verifyDir(dir)).toMatchObject({ torn, problems: [] })
  })

  it('does not hold up a reader that had come as far as the tear', async () => {
    const { dir, size } = await written(['first', 'last'])
    tear(dir, size - 20)
    const reader = tempJournal({ dir })
    const { cursor } = reader.read(startCursor)
    await openAndAppend(dir, 'next')
    const found = reader.read(cursor).entries.map(({ entry }) => entry)
    expect(found.map(({ kind }) => kind)).toEqual(['torn', 'message'])
    expect(seqsOf(found)).toEqual([cursor.seq + 1, cursor.seq + 2])
    expect(reader.fits(cursor)).toBe(true)
  })

  it('may happen again while the first is being sealed', async () => {
    const { dir, size } = await written(['first', 'last'])
    tear(dir, size - 20)
    await openAndAppend(dir, 'lost as well')
    // The second writer died within the note that seals the first tear.
    const seal = readFileSync(segmentFile(dir)).indexOf('"kind":"torn"')
    tear(dir, seal)
    const { subjects } = await openAndAppend(dir, 'next')
    expect(subjects).toEqual(['first', 'next'])
    const report = await verifyDir(dir)
    expect(report.messages).toBe(2)
    expect(report.torn.length).toBeGreaterThan(0)
  })

  it('is explained by verify even when the seal itself was torn', async () => {
    const { dir, size } = await written(['first', 'last'])
    tear(dir, size - 20)
    await openAndAppend(dir, 'lost as well')
    const seal = readFileSync(segmentFile(dir)).indexOf('"kind":"torn"')
    tear(dir, seal)
    await openAndAppend(dir, 'next')
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('whose seal was torn is explained as well by a writer whose index had read past it', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    for (const subject of ['first', 'last']) await ada.send({ to: 'ada', subject })
    await space.close()
    const { dir } = space
    tear(dir, statSync(segmentFile(dir)).size - 20)
    await openAndAppend(dir, 'lost as well')
    tear(dir, readFileSync(segmentFile(dir)).indexOf('"kind":"torn"'))

    // Opening brings the index to the end, and the writer starts from where the index is.
    const next = await tempSpace({ dir })
    await (await next.mailbox('ada')).send({ to: 'ada', subject: 'next' })
    expect((await next.verify({ deep: true })).problems).toEqual([])
  })

  it('takes only the last lines of a batch with it', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await journal.append(() => ['a', 'b', 'c', 'd'].map((subject) => messageDraft({ subject })))
    await journal.close()
    const keep = linesIn(dir).slice(0, 3)
    tear(dir, Buffer.byteLength(keep.join('\n')) + 1 + 100)
    const { subjects } = await openAndAppend(dir, 'next')
    expect(subjects).toEqual(['a', 'b', 'next'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('may be any bytes: a power loss can leave zeros', async () => {
    const { dir, size } = await written(['first'])
    appendFileSync(segmentFile(dir), Buffer.alloc(5_000))
    const { subjects } = await openAndAppend(dir, 'next')
    expect(subjects).toEqual(['first', 'next'])
    const torn = [{ segment: 1, offset: size, bytes: 5_000, sealed: true }]
    expect(await verifyDir(dir)).toMatchObject({ torn, problems: [] })
  })

  it('at the end of a full segment stays there, and the next line opens the next segment', async () => {
    const { dir, size } = await written(['first', 'last'])
    tear(dir, size - 20)
    const journal = tempJournal({ dir, segmentBytes: 300 })
    await appendMessage(journal, { subject: 'next' })
    expect(segmentFiles(dir)).toHaveLength(2)
    expect(statSync(segmentFile(dir)).size).toBe(size - 20)
    expect(await subjectsIn(journal)).toEqual(['first', 'next'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [{ segment: 1 }] })
  })

  it('does not confuse a live writer when another process left it', async () => {
    const { dir } = await written(['first'])
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'second' })
    const fragment = '{"seq":4,"at":"2026-01-02T03:04:05.678Z","kind":"mess'
    for (const n of upTo(3)) {
      appendFileSync(segmentFile(dir), fragment)
      await appendMessage(journal, { subject: `after ${n}` })
    }
    expect(await subjectsIn(journal)).toEqual(['first', 'second', 'after 1', 'after 2', 'after 3'])
    const { torn, problems } = await verifyDir(dir)
    expect({ problems, torn: torn.map(({ sealed }) => sealed) }).toEqual({
      problems: [],
      torn: [true, true, true],
    })
  })
})

describe('a torn first line', () => {
  it('of the journal leaves one space, the same for everybody who opens it', async () => {
    const { dir } = await written([])
    const header = readFileSync(segmentFile(dir))
    const wrong: string[] = []
    for (let cut = 0; cut < header.length; cut++) {
      const copy = join(dir, `${cut}`)
      cpSync(join(dir, 'journal'), join(copy, 'journal'), { recursive: true })
      writeFileSync(segmentFile(copy), header.subarray(0, cut))
      const first = await openAndAppend(copy, 'one')
      const second = await openAndAppend(copy, 'two')
      const { problems } = await verifyDir(copy)
      if (second.space !== first.space) wrong.push(`cut at ${cut}: two spaces`)
      if (second.subjects.join() !== 'one,two') wrong.push(`cut at ${cut}: ${second.subjects.join()}`)
      if (problems.length > 0) wrong.push(`cut at ${cut}: ${problems.join()}`)
    }
    expect(wrong.slice(0, 3)).toEqual([])
  })

  it('of a later segment is sealed like any other', async () => {
    const dir = tempDir()
    const small = tempJournal({ dir, segmentBytes: 300 })
    for (const subject of ['one', 'two']) await appendMessage(small, { subject })
    await small.close()
    const header = readFileSync(segmentFile(dir, 2))
    const wrong: string[] = []
    for (let cut = 0; cut < 120; cut++) {
      const copy = join(dir, `${cut}`)
      cpSync(join(dir, 'journal'), join(copy, 'journal'), { recursive: true })
      writeFileSync(segmentFile(copy, 2), header.subarray(0, cut))
      const { subjects, space } = await openAndAppend(copy, 'three')
      const { problems } = await verifyDir(copy)
      if (space !== small.space) wrong.push(`cut at ${cut}: another space`)
      if (subjects.join() !== 'one,three') wrong.push(`cut at ${cut}: ${subjects.join()}`)
      if (problems.length > 0) wrong.push(`cut at ${cut}: ${problems.join()}`)
    }
    expect(wrong.slice(0, 3)).toEqual([])
  })

  it('of a later segment does not hide what stands behind it from `locate`', async () => {
    const dir = tempDir()
    const small = tempJournal({ dir, segmentBytes: 300 })
    await appendMessage(small, { subject: 'one' })
    await small.close()
    writeFileSync(segmentFile(dir, 2), '{"se')
    const journal = tempJournal({ dir })
    const { entry } = await appendMessage(journal, { subject: 'two' })
    const found = journal.read(journal.locate(entry.seq - 1)).entries.map((placed) => subjectOf(placed.entry))
    expect(found).toContain('two')
    expect(seqsOf((await readAll(journal)).map((placed) => placed.entry))).toEqual(upTo(entry.seq))
  })
})
