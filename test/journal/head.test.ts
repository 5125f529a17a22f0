import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readHead } from '../../src/journal/file/head-mark.ts'
import type { Entry } from '../../src/model/entry.ts'
import { appendMessage, readAll, seqsOf, subjectsIn, upTo } from '../helpers/drafts.ts'
import { linesIn, segmentFile, segmentFiles, verifyDir, writeLines } from '../helpers/segments.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

/** A closed journal of a header and messages `1` to `count`: entries 1 to `count + 1`. */
async function closedJournal(count: number, segmentBytes?: number): Promise<string> {
  const dir = tempDir()
  const journal = tempJournal({ dir, ...(segmentBytes === undefined ? {} : { segmentBytes }) })
  for (const n of upTo(count)) await appendMessage(journal, { subject: `${n}`, body: `body ${n}` })
  await journal.close()
  return dir
}

/** Opens the journal as the next process would, and appends a message. */
async function goOn(dir: string, subject = 'after'): Promise<{ subjects: string[]; entries: Entry[] }> {
  const journal = tempJournal({ dir })
  await appendMessage(journal, { subject })
  const subjects = await subjectsIn(journal)
  const entries = (await readAll(journal)).map(({ entry }) => entry)
  await journal.close()
  return { subjects, entries }
}

const headOf = (dir: string) => readHead(join(dir, 'journal'))

describe('the head mark', () => {
  it('names the last entry that was acknowledged', async () => {
    const dir = await closedJournal(3)
    const last = JSON.parse(linesIn(dir).at(-1)!) as { seq: number; sum: string }
    const { size } = statSync(segmentFile(dir))
    expect(headOf(dir)).toMatchObject({ seq: last.seq, sum: last.sum, segment: 1, end: size })
  })

  it('never goes back when two processes write it in turn', async () => {
    const dir = tempDir()
    const both = [tempJournal({ dir }), tempJournal({ dir })]
    for (const n of upTo(20)) {
      const { entry } = await appendMessage(both[n % 2]!, { subject: `${n}` })
      expect(headOf(dir)!.seq).toBe(entry.seq)
    }
  })

  it('is the highest of many that write at once', async () => {
    const dir = tempDir()
    const all = upTo(8).map(() => tempJournal({ dir }))
    const placed = await Promise.all(
      upTo(80).map((n) => appendMessage(all[n % all.length]!, { subject: `${n}` })),
    )
    expect(headOf(dir)!.seq).toBe(Math.max(...placed.map(({ entry }) => entry.seq)))
  })

  it('survives a flipped bit: its slots have checksums, and an older one is still true', async () => {
    const dir = await closedJournal(2)
    await goOn(dir)
    const path = join(dir, 'head')
    const text = readFileSync(path, 'latin1')
    const before = headOf(dir)!
    writeFileSync(path, text.replace(before.sum, before.sum.replace(/^./, 'g')), 'latin1')
    expect(headOf(dir)!.seq).toBeLessThan(before.seq)
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('may be deleted: the next append writes another', async () => {
    const dir = await closedJournal(2)
    rmSync(join(dir, 'head'))
    const { entries } = await goOn(dir)
    expect(headOf(dir)!.seq).toBe(entries.at(-1)!.seq)
  })

  it('of another journal does not count', async () => {
    const [long, short] = [await closedJournal(9), await closedJournal(1)]
    cpSync(join(long, 'head'), join(short, 'head'))
    expect((await verifyDir(short)).problems).toEqual([])
    expect((await goOn(short)).subjects).toEqual(['1', 'after'])
  })
})

describe('what is gone from the end', () => {
  it.each<[string, (dir: string) => void, { subjects: string[]; from: number }]>([
    [
      'lost last lines',
      (dir) => writeLines(dir, linesIn(dir).slice(0, -2)),
      { subjects: ['1', '2', 'after'], from: 4 },
    ],
    ['an emptied file', (dir) => truncateSync(segmentFile(dir), 0), { subjects: ['after'], from: 1 }],
    ['a file that was removed', (dir) => rmSync(segmentFile(dir)), { subjects: ['after'], from: 1 }],
    [
      'half of the last line',
      (dir) => truncateSync(segmentFile(dir), statSync(segmentFile(dir)).size - 99),
      { subjects: ['1', '2', '3', 'after'], from: 5 },
    ],
  ])('is damage, not a cut-off write: %s', async (_, damage, { subjects, from }) => {
    const dir = await closedJournal(4)
    const head = headOf(dir)!
    damage(dir)
    const lost = { from, to: head.seq }
    const before = await verifyDir(dir)
    expect(before.damage).toMatchObject([{ lost }])
    expect(before.torn).toEqual([])

    const { subjects: found, entries } = await goOn(dir)
    expect(found).toEqual(subjects)
    // Nothing that was acknowledged shares its number with something else.
    expect(seqsOf(entries.slice(-3))).toEqual([head.seq + 1, head.seq + 2, head.seq + 3])
    expect(entries.at(-3)).toMatchObject({ kind: 'segment', reason: 'damaged' })
    expect(entries.at(-2)).toMatchObject({ kind: 'damage', ...lost })
    const after = await verifyDir(dir)
    expect(after.damage.map((one) => one.lost)).toEqual([lost])
    expect(after.problems).toHaveLength(1)
    // It is recorded once.
    expect((await goOn(dir, 'again')).entries.filter(({ kind }) => kind === 'damage')).toHaveLength(1)
  })

  it('is kept aside, byte for byte', async () => {
    const dir = await closedJournal(4)
    const { size } = statSync(segmentFile(dir))
    truncateSync(segmentFile(dir), size - 99)
    const damaged = readFileSync(segmentFile(dir))
    const { entries } = await goOn(dir)
    const entry = entries.find(({ kind }) => kind === 'damage')
    const [name] = readdirSync(join(dir, 'journal', 'damaged'))
    expect(entry).toMatchObject({ kept: name })
    const { offset } = entry as Entry & { kind: 'damage' }
    expect(readFileSync(join(dir, 'journal', 'damaged', name!))).toEqual(damaged.subarray(offset))
    // Nor is anything appended to the damaged file.
    expect(readFileSync(segmentFile(dir))).toEqual(damaged)
  })

  it('is damage as well when it is all of the last segment', async () => {
    const dir = await closedJournal(12, 1_500)
    const last = segmentFiles(dir).filter((file) => file.endsWith('.jsonl')).length
    rmSync(segmentFile(dir, last))
    expect((await verifyDir(dir)).damage).toMatchObject([{ name: 'missing_segment', segment: last }])
    const head = headOf(dir)!
    const { entries } = await goOn(dir)
    expect(entries.at(-3)!.seq).toBe(head.seq + 1)
    expect((await verifyDir(dir)).damage).toMatchObject([{ segment: last, lost: { to: head.seq } }])
  })

  it('is noticed by a process that had read it', async () => {
    const dir = await closedJournal(4)
    const journal = tempJournal({ dir })
    const { entry } = await appendMessage(journal, { subject: '5' })
    writeLines(dir, linesIn(dir).slice(0, -2))
    const { entry: next } = await appendMessage(journal, { subject: 'after' })
    expect(next.seq).toBe(entry.seq + 3)
    expect(await subjectsIn(journal)).toEqual(['1', '2', '3', 'after'])
  })

  it('costs nothing when it is only the newline', async () => {
    const dir = await closedJournal(4)
    const bytes = readFileSync(segmentFile(dir))
    bytes[bytes.length - 1]! ^= 0x40
    writeFileSync(segmentFile(dir), bytes)
    expect((await verifyDir(dir)).damage).toMatchObject([{ name: 'lost_newline' }])
    expect((await goOn(dir)).subjects).toEqual(['1', '2', '3', '4', 'after'])
    expect((await verifyDir(dir)).damage).toMatchObject([{ name: 'lost_newline' }])
  })

  it('is a cut-off write when it comes after the mark', async () => {
    const dir = await closedJournal(4)
    const text = readFileSync(segmentFile(dir), 'utf8')
    writeFileSync(segmentFile(dir), `${text}{"seq":6,"at":"2026-`)
    expect(await verifyDir(dir)).toMatchObject({ problems: [], damage: [], torn: [{ sealed: false }] })
    expect((await goOn(dir)).subjects).toEqual(['1', '2', '3', '4', 'after'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], damage: [], torn: [{ sealed: true }] })
    expect(segmentFiles(dir)).toEqual(['00000001.jsonl'])
  })
})
