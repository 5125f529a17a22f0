import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { appendMessage, subjectsIn, upTo } from '../helpers/drafts.ts'
import { linesIn, segmentFile, segmentFiles, verifyDir, withOwnSum, writeLines } from '../helpers/segments.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'

/** A closed journal of a header and messages `1` to `count`. */
async function closedJournal(count: number, segmentBytes?: number): Promise<string> {
  const dir = tempDir()
  const journal = tempJournal({ dir, ...(segmentBytes === undefined ? {} : { segmentBytes }) })
  for (const n of upTo(count)) await appendMessage(journal, { subject: `${n}`, body: `body ${n}` })
  await journal.close()
  return dir
}

describe('a line that is missing', () => {
  it('at the end of a closed segment is reported: the next segment continues a chain that is not there', async () => {
    const dir = await closedJournal(12, 1_500)
    expect(segmentFiles(dir).length).toBeGreaterThan(2)
    writeLines(dir, linesIn(dir, 1).slice(0, -1), 1)
    const { problems } = await verifyDir(dir)
    expect(problems).toContainEqual(expect.stringContaining('segment 2'))
  })
})

describe('damage in the middle', () => {
  it('is reported with its place, and reading goes on behind it', async () => {
    const dir = await closedJournal(5)
    const lines = linesIn(dir)
    const offset = Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`)
    const bytes = readFileSync(segmentFile(dir))
    bytes[offset + 60]! ^= 0x10
    writeFileSync(segmentFile(dir), bytes)

    const journal = tempJournal({ dir })
    expect(await subjectsIn(journal)).toEqual(['1', '2', '4', '5'])
    const { problems, torn } = await verifyDir(dir)
    expect(problems).toContainEqual(
      expect.stringContaining(`segment 1, byte ${offset}: a line was changed or damaged`),
    )
    expect(torn).toEqual([])
  })

  it('in the last line does not pass for a torn write when somebody appends behind it', async () => {
    const dir = await closedJournal(3)
    const whole = readFileSync(segmentFile(dir))
    const line = Buffer.byteLength(linesIn(dir).at(-1)!)
    const start = whole.length - line - 1
    const unnoticed: number[] = []
    for (let at = 0; at < line; at += at < line - 60 ? 11 : 1) {
      const bytes = Buffer.from(whole)
      bytes[start + at]! ^= 0x10
      writeFileSync(segmentFile(dir), bytes)
      const journal = new FileJournal({ dir, durability: 'os' })
      await appendMessage(journal, { subject: 'after' })
      await journal.close()
      if ((await verifyDir(dir)).problems.length === 0) unnoticed.push(at - line)
    }
    // It was acknowledged once; a torn write never was.
    expect(unnoticed).toEqual([])
  })

  it('keeps nobody from appending', async () => {
    const dir = await closedJournal(3)
    const lines = linesIn(dir)
    writeLines(dir, [lines[0]!, lines[1]!, lines[2]!.replace('body', 'BODY'), lines[3]!])
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['1', '3', 'after'])
  })

  it.each(['a newline in a line', 'a newline gone'])('may move the lines themselves: %s', async (what) => {
    const dir = await closedJournal(4)
    const lines = linesIn(dir)
    const text = readFileSync(segmentFile(dir), 'latin1')
    const split = text.replace('body 2', 'body\n2')
    const joined = text.replace(`${lines[2]}\n`, `${lines[2]} `)
    writeFileSync(segmentFile(dir), what === 'a newline gone' ? joined : split, 'latin1')
    const journal = tempJournal({ dir })
    const subjects = await subjectsIn(journal)
    expect(subjects).toEqual(what === 'a newline gone' ? ['1', '2', '3', '4'] : ['1', '3', '4'])
    expect((await verifyDir(dir)).problems.length).toBeGreaterThan(0)
  })

  it('does not pass for a torn write that somebody sealed', async () => {
    const dir = await closedJournal(3)
    const journal = tempJournal({ dir })
    writeFileSync(segmentFile(dir), `${readFileSync(segmentFile(dir), 'utf8')}{"seq":5,"at":"20`)
    await appendMessage(journal, { subject: 'after' })
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [{ sealed: true }] })
    const text = readFileSync(segmentFile(dir), 'utf8')
    writeFileSync(segmentFile(dir), text.replace('{"seq":5,"at":"20\n', '{"seq":5,"at":"21\n'))
    expect((await verifyDir(dir)).problems.join()).toMatch(/seals a torn write that does not exist/)
  })
})

describe('tampering', () => {
  it('shows in the chain when a line was edited and its own checksum made to fit', async () => {
    const dir = await closedJournal(5)
    const lines = linesIn(dir)
    lines[2] = withOwnSum(lines[2]!.replace('body 2', 'I quit'))
    writeLines(dir, lines)
    const journal = tempJournal({ dir })
    expect(await subjectsIn(journal)).toEqual(['1', '2', '3', '4', '5'])
    expect((await verifyDir(dir)).problems).toEqual([expect.stringMatching(/the chain is broken/)])
  })

  it.each<[string, (lines: string[]) => string[]]>([
    ['removed', (lines) => lines.toSpliced(2, 1)],
    ['doubled', (lines) => lines.toSpliced(2, 0, lines[2]!)],
    ['swapped', (lines) => lines.with(2, lines[3]!).with(3, lines[2]!)],
    ['put in', (lines) => lines.toSpliced(3, 0, withOwnSum(lines[2]!.replace('"seq":3', '"seq":4')))],
    ['removed with all before them', (lines) => lines.slice(2)],
    ['removed at the very beginning', (lines) => lines.slice(1)],
  ])('shows when lines were %s', async (_, edit) => {
    const dir = await closedJournal(5)
    writeLines(dir, edit(linesIn(dir)))
    expect((await verifyDir(dir)).problems.length).toBeGreaterThan(0)
  })

  it('shows when the first line was edited and its own checksum made to fit', async () => {
    const dir = await closedJournal(3)
    const lines = linesIn(dir)
    lines[0] = withOwnSum(lines[0]!.replace('"reason":"created"', '"reason":"size"'))
    writeLines(dir, lines)
    expect((await verifyDir(dir)).problems.length).toBeGreaterThan(0)
  })

  it('shows when a whole segment was removed', async () => {
    const dir = await closedJournal(8, 600)
    rmSync(segmentFile(dir, 2))
    expect((await verifyDir(dir)).problems.join()).toMatch(/segments 2 to 2 are missing/)
  })

  it('shows when a key stands twice in a line', async () => {
    const dir = await closedJournal(3)
    const lines = linesIn(dir)
    lines[3] = withOwnSum(lines[3]!.replace('"from":"ada"', '"from":"ada","from":"root"'))
    writeLines(dir, lines)
    expect((await verifyDir(dir)).problems.join()).toMatch(/"from" twice/)
  })

  it('is reported by an open space as well', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', body: 'yes' })
    await ada.send({ to: 'ada', body: 'later' })
    expect((await space.verify()).problems).toEqual([])
    const lines = linesIn(space.dir)
    writeLines(
      space.dir,
      lines.map((line) => (line.includes('"body":"yes"') ? withOwnSum(line.replace('yes', 'no!')) : line)),
    )
    expect((await space.verify()).problems).toEqual([
      expect.stringMatching(/is not signed with the key of ada/),
      expect.stringMatching(/the chain is broken/),
    ])
  })
})
