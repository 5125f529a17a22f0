import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DamageName } from '../../src/journal/damage.ts'
import { appendMessage, readAll, subjectsIn, upTo } from '../helpers/drafts.ts'
import { linesIn, segmentFile, verifyDir, withOwnSum, writeLines } from '../helpers/segments.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

const messages = 12
const all = upTo(messages).map(String)

/** A closed journal of messages `1` to `12`, in three segments or in one. */
async function closedJournal(segmentBytes = 1_800): Promise<string> {
  const dir = tempDir()
  const journal = tempJournal({ dir, segmentBytes })
  for (const subject of all) await appendMessage(journal, { subject })
  await journal.close()
  return dir
}

const edit = (dir: string, change: (text: string) => string, segment = 1) => {
  const path = segmentFile(dir, segment)
  writeFileSync(path, change(readFileSync(path, 'latin1')), 'latin1')
}

const subjectsOf = (dir: string, segment: number): string[] =>
  linesIn(dir, segment).flatMap((line) => /"subject":"(\d+)"/.exec(line)?.[1] ?? [])

interface Case {
  name: DamageName
  damage: (dir: string) => void | Promise<void>
  /** Subjects that are lost by it. */
  lost?: (dir: string) => string[]
}

const cases: Record<string, Case> = {
  'CRLF line endings': {
    name: 'crlf',
    damage: (dir) => edit(dir, (text) => text.replaceAll('\n', '\r\n'), 2),
  },
  'CRLF line endings of the last segment': {
    name: 'crlf',
    damage: (dir) => edit(dir, (text) => text.replaceAll('\n', '\r\n'), 3),
  },
  'a byte order mark': { name: 'bom', damage: (dir) => edit(dir, (text) => `\xef\xbb\xbf${text}`) },
  "an editor's newline at the end": {
    name: 'extra_newline',
    damage: (dir) => appendFileSync(segmentFile(dir, 3), '\n'),
  },
  'an empty line': {
    name: 'extra_newline',
    damage: (dir) => edit(dir, (text) => text.replace('\n', '\n\n'), 2),
  },
  'a newline that is gone': {
    name: 'lost_newline',
    damage: (dir) => writeFileSync(segmentFile(dir, 2), `${linesIn(dir, 2).join('')}\n`),
  },
  'the last newline of a closed segment': {
    name: 'lost_newline',
    damage: (dir) => edit(dir, (text) => text.slice(0, -1), 2),
  },
  'a changed line': {
    name: 'changed_line',
    damage: (dir) => edit(dir, (text) => text.replace('"subject":"2"', '"subject":"3"')),
    lost: () => ['2'],
  },
  'a repeated line': {
    name: 'repeated_line',
    damage: (dir) => appendFileSync(segmentFile(dir, 3), `${linesIn(dir, 3)[1]}\n`),
  },
  'a repeated line of an older segment': {
    name: 'repeated_line',
    damage: (dir) => appendFileSync(segmentFile(dir, 3), `${linesIn(dir, 1)[2]}\n`),
  },
  'a number that goes backwards': {
    name: 'backwards_seq',
    damage: (dir) =>
      appendFileSync(
        segmentFile(dir, 3),
        `${withOwnSum(linesIn(dir, 1)[2]!.replace('"subject":"2"', '"subject":"x"'))}\n`,
      ),
  },
  'a line that was pasted in': {
    name: 'stray_line',
    damage: (dir) => {
      const [first, ...rest] = linesIn(dir, 1)
      writeLines(dir, [first!, withOwnSum(rest[0]!.replace('"seq":2', '"seq":2000')), ...rest])
    },
  },
  'a line that was removed': {
    name: 'missing_lines',
    damage: (dir) => writeLines(dir, linesIn(dir).toSpliced(2, 1)),
    lost: () => ['2'],
  },
  'an emptied segment': {
    name: 'empty_segment',
    damage: (dir) => writeFileSync(segmentFile(dir, 2), ''),
    lost: (dir) => subjectsOf(dir, 2),
  },
  'a missing segment': {
    name: 'missing_segment',
    damage: (dir) => rmSync(segmentFile(dir, 2)),
    lost: (dir) => subjectsOf(dir, 2),
  },
  'a missing first segment': {
    name: 'missing_segment',
    damage: (dir) => rmSync(segmentFile(dir, 1)),
    lost: (dir) => subjectsOf(dir, 1),
  },
  'a segment of another space': {
    name: 'foreign_segment',
    damage: async (dir) => copyFileSync(segmentFile(await closedJournal()), segmentFile(dir, 4)),
  },
  'a segment of another space in the place of one': {
    name: 'foreign_segment',
    damage: async (dir) => copyFileSync(segmentFile(await closedJournal(), 2), segmentFile(dir, 2)),
    lost: (dir) => subjectsOf(dir, 2),
  },
  'the first segment replaced by that of another space': {
    name: 'foreign_segment',
    damage: async (dir) => copyFileSync(segmentFile(await closedJournal()), segmentFile(dir)),
    lost: (dir) => subjectsOf(dir, 1),
  },
  'lost last lines': {
    name: 'lost_end',
    damage: (dir) => writeLines(dir, linesIn(dir, 3).slice(0, -1), 3),
    lost: () => ['12'],
  },
}

describe('damage to a journal', () => {
  it.each(Object.entries(cases))(
    'has a name and costs no other record: %s',
    async (_, { name, damage, lost }) => {
      const dir = await closedJournal()
      expect(await verifyDir(dir)).toMatchObject({ problems: [], damage: [] })
      const gone = lost?.(dir) ?? []
      await damage(dir)
      const kept = all.filter((subject) => !gone.includes(subject))
      const before = await verifyDir(dir)
      expect(before.damage.map((one) => one.name)).toEqual([name])
      expect(before.problems).toHaveLength(1)
      expect(before.torn).toEqual([])

      // What is sent now is there for every other process.
      const writer = tempJournal({ dir })
      expect(await subjectsIn(writer)).toEqual(kept)
      await appendMessage(writer, { subject: 'after' })
      await writer.close()
      const reader = tempJournal({ dir })
      expect(await subjectsIn(reader)).toEqual([...kept, 'after'])
      const after = await verifyDir(dir)
      expect([...new Set(after.damage.map((one) => one.name))]).toEqual([name])
    },
  )

  it.each([
    [1, 2],
    [2, 3],
    [1, 3],
  ])('costs nothing where segments %i and %i were swapped', async (one, two) => {
    const dir = await closedJournal()
    const swap = () => {
      renameSync(segmentFile(dir, one), join(dir, 'aside'))
      renameSync(segmentFile(dir, two), segmentFile(dir, one))
      renameSync(join(dir, 'aside'), segmentFile(dir, two))
    }
    const open = tempJournal({ dir })
    const places = (await readAll(open)).map(({ place }) => place)
    swap()
    const named = [one, two].map((segment) => ({ name: 'swapped_segment', segment }))
    expect((await verifyDir(dir)).damage).toMatchObject(named)
    // A process that has read them before finds them again, and one that starts now finds them as well.
    for (const journal of [open, tempJournal({ dir })]) {
      expect(await subjectsIn(journal)).toEqual(all)
      expect(places.map((place) => journal.at(place)?.seq)).toEqual(upTo(places.length))
      const ends = places.map((_, at) => journal.locate(at + 1).seq)
      expect(ends.every((seq, at) => seq <= at + 1)).toBe(true)
    }
    await open.close()
    const writer = tempJournal({ dir })
    await appendMessage(writer, { subject: 'after' })
    await writer.close()
    expect(await subjectsIn(tempJournal({ dir }))).toEqual([...all, 'after'])
    expect((await verifyDir(dir)).damage).toMatchObject(named)
    swap()
    expect(await subjectsIn(tempJournal({ dir }))).toEqual([...all, 'after'])
    expect((await verifyDir(dir)).damage).toEqual([])
  })

  it('shows when an older copy took the place of the journal and went on', async () => {
    const dir = await closedJournal(1e6)
    const lines = linesIn(dir)
    writeLines(dir, lines.slice(0, 5))
    // A program that knows nothing of the mark.
    const older = tempDir()
    const journal = tempJournal({ dir: older })
    await journal.close()
    copyFileSync(segmentFile(dir), segmentFile(older))
    rmSync(join(older, 'head'))
    const other = tempJournal({ dir: older })
    for (const n of upTo(20)) await appendMessage(other, { subject: `other ${n}` })
    await other.close()
    copyFileSync(segmentFile(older), segmentFile(dir))
    expect((await verifyDir(dir)).damage).toMatchObject([{ name: 'replaced_journal' }])
  })

  it('is known since the entry that tells of it', async () => {
    const dir = await closedJournal()
    writeLines(dir, linesIn(dir, 3).slice(0, -1), 3)
    expect((await verifyDir(dir)).damage[0]).not.toHaveProperty('since')
    const journal = tempJournal({ dir, now: () => Date.parse('2026-03-04T05:06:07Z') })
    await appendMessage(journal, { subject: 'after' })
    const { damage, problems } = await verifyDir(dir)
    expect(damage).toMatchObject([{ name: 'lost_end', since: '2026-03-04T05:06:07.000Z' }])
    expect(problems[0]).toContain('known since 2026-03-04 05:06')
  })

  it('has its place in the report', async () => {
    const dir = await closedJournal()
    const lines = linesIn(dir)
    edit(dir, (text) => text.replace('"subject":"2"', '"subject":"3"'))
    const offset = Buffer.byteLength(`${lines.slice(0, 2).join('\n')}\n`)
    const place = { segment: 1, line: 3, offset, bytes: Buffer.byteLength(lines[2]!) }
    const { damage, problems } = await verifyDir(dir)
    expect(damage).toMatchObject([{ name: 'changed_line', ...place, lost: { from: 3, to: 3 } }])
    expect(problems[0]).toContain('(line 3; entry 3 is lost)')
  })

  it('is looked for without writing anything', async () => {
    const dir = await closedJournal()
    appendFileSync(segmentFile(dir, 3), '{"seq":17,"at":"20')
    const before = stateOf(dir)
    const { torn } = await verifyDir(dir)
    expect(torn).toMatchObject([{ sealed: false }])
    expect(stateOf(dir)).toEqual(before)
    const cli = new URL('../../dist/cli.cjs', import.meta.url).pathname
    const answer = execFileSync(process.execPath, [cli, 'verify', '--json', '--space', dir], {
      encoding: 'utf8',
    })
    expect(JSON.parse(answer)).toMatchObject({ ok: true, damage: [] })
    expect(stateOf(dir)).toEqual(before)
  })
})

/** Every file with its size and the time of its last change. */
const stateOf = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((file) => {
      const { size, mtimeMs, ctimeMs } = statSync(join(dir, file))
      return { file, size, mtimeMs, ctimeMs }
    })
