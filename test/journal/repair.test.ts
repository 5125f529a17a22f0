import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/journal/codec.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { listPlain } from '../../src/journal/file/segment.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { applyRepair } from '../../src/journal/repair/apply.ts'
import { copyIn } from '../../src/journal/repair/copies.ts'
import { planRepair, type RepairPlan } from '../../src/journal/repair/plan.ts'
import { appendMessage, upTo } from '../helpers/drafts.ts'
import { linesIn, segmentFile, verifyDir, writeLines } from '../helpers/segments.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

interface Made {
  dir: string
  copy: string
  space: string
}

/** A closed journal of several segments, one of them with writes that were cut off, and a copy of it. */
async function make(count = 12, segmentBytes = 2_000): Promise<Made> {
  const dir = join(tempDir(), 'space')
  mkdirSync(dir)
  for (const n of upTo(count)) {
    // A write that was cut off, where the next one seals it.
    if (n % 3 === 0 && statSync(lastFile(dir)).size < segmentBytes)
      appendFileSync(lastFile(dir), `{"seq":${n},"at":"2026`)
    const journal = new FileJournal({ dir, segmentBytes, durability: 'os' })
    await appendMessage(journal, { subject: `${n}`, body: `body ${n}` })
    await journal.close()
  }
  const journal = tempJournal({ dir })
  const { space } = journal
  await journal.close()
  const copy = `${dir}-copy`
  cpSync(dir, copy, { recursive: true })
  return { dir, copy, space }
}

const lastFile = (dir: string): string => segmentFile(dir, listPlain(join(dir, 'journal')).at(-1)!)

function repair({ dir, space }: Made, from: string[] = [], dryRun = false): RepairPlan {
  const copies = from.map((path) => copyIn(path, 'copy'))
  const plan = planRepair(join(dir, 'journal'), { space, copies, older: true })
  if (!dryRun) applyRepair(join(dir, 'journal'), plan, Date.now())
  return plan
}

/** What can be read, without anybody who writes. */
function readable(dir: string): string[] {
  const reader = new SegmentReader(join(dir, 'journal'), decodeLine)
  const found: string[] = []
  for (let cursor = startCursor; ; ) {
    const read = reader.read(cursor, 1_048_576)
    found.push(...read.entries.map(({ entry }) => JSON.stringify(entry)))
    cursor = read.cursor
    if (read.entries.length > 0) continue
    reader.close()
    return found
  }
}

const segmentsOf = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(dir, 'journal'))
      .filter((file) => file.endsWith('.jsonl'))
      .map((file) => [file, readFileSync(join(dir, 'journal', file), 'latin1')]),
  )

function edit(dir: string, segment: number, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(segmentFile(dir, segment), change(readFileSync(segmentFile(dir, segment))))
}

const latin1 = (change: (text: string) => string) => (bytes: Buffer) =>
  Buffer.from(change(bytes.toString('latin1')), 'latin1')

describe('without any copy it fixes, byte for byte,', () => {
  it.each<[string, (dir: string) => void]>([
    [
      'CRLF line endings',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.replaceAll('\n', '\r\n')),
        ),
    ],
    ['a byte order mark', (dir) => edit(dir, 2, (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]))],
    [
      'empty lines',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => `\n${text.replace('}\n', '}\n\n\n')}`),
        ),
    ],
    [
      'a lost newline',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.replace('}\n', '}')),
        ),
    ],
    [
      'the last newline',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.slice(0, -1)),
        ),
    ],
    ['a repeated line', (dir) => writeLines(dir, linesIn(dir, 2).toSpliced(2, 0, linesIn(dir, 2)[0]!), 2)],
    [
      'a repeated line of another file',
      (dir) => writeLines(dir, [...linesIn(dir, 2), linesIn(dir, 1)[1]!], 2),
    ],
    ['the order of lines', (dir) => writeLines(dir, linesIn(dir, 1).toReversed(), 1)],
    [
      'a cut-off write that moved',
      (dir) => {
        const lines = linesIn(dir, 1)
        const at = lines.findIndex((line) => line.endsWith('"at":"2026'))
        writeLines(dir, lines.with(at, lines[at - 1]!).with(at - 1, lines[at]!), 1)
      },
    ],
    ['an inserted remark', (dir) => writeLines(dir, linesIn(dir, 1).toSpliced(1, 0, '# hello'), 1)],
    [
      'swapped files',
      (dir) => {
        const [one, two] = [1, 2].map((n) => readFileSync(segmentFile(dir, n)))
        writeFileSync(segmentFile(dir, 1), two!)
        writeFileSync(segmentFile(dir, 2), one!)
      },
    ],
    ['one flipped bit', (dir) => edit(dir, 1, (bytes) => flip(bytes, 700 * 8 + 3))],
    [
      'a line in two',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.replace('body 1', 'body\n1')),
        ),
    ],
  ])('%s', async (what, damage) => {
    const made = await make()
    const whole = segmentsOf(made.dir)
    damage(made.dir)
    expect(segmentsOf(made.dir)).not.toEqual(whole)
    const damaged = segmentsOf(made.dir)
    const { lost } = repair(made, [], true)
    expect(segmentsOf(made.dir)).toEqual(damaged)
    // A space became a newline: that is more than one bit.
    if (what === 'a line in two') return expect(lost).toHaveLength(1)
    expect(lost).toEqual([])
    repair(made)
    expect(segmentsOf(made.dir)).toEqual(whole)
    expect(await verifyDir(made.dir)).toMatchObject({ problems: [] })
    // What was there is kept.
    const kept = readdirSync(join(made.dir, 'journal', 'damaged'))
    for (const name of kept) {
      const path = join(made.dir, 'journal', 'damaged', name)
      expect(readFileSync(path, 'latin1')).toBe(damaged[name.slice(0, '00000001.jsonl'.length)])
      expect(statSync(path).mode & 0o777).toBe(0o600)
    }
    expect(kept.length).toBeGreaterThan(0)
    expect(repair(made).segments).toEqual([])
  })
})

const flip = (bytes: Buffer, bit: number): Buffer => {
  const changed = Buffer.from(bytes)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return changed
}

describe('from a copy it restores, byte for byte,', () => {
  it.each<[string, (dir: string) => void]>([
    [
      'a damaged line',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.replace('body 2', 'BODIES')),
        ),
    ],
    ['a deleted line', (dir) => writeLines(dir, linesIn(dir, 2).toSpliced(1, 1), 2)],
    ['the first line of a file', (dir) => writeLines(dir, linesIn(dir, 2).slice(1), 2)],
    ['the last lines of a closed file', (dir) => writeLines(dir, linesIn(dir, 1).slice(0, -2), 1)],
    [
      'the last lines of the journal',
      (dir) => writeFileSync(lastFile(dir), readFileSync(lastFile(dir)).subarray(0, -300)),
    ],
    ['an emptied file', (dir) => writeFileSync(segmentFile(dir, 2), '')],
    ['a deleted file', (dir) => rmSync(segmentFile(dir, 2))],
    ['the first file', (dir) => rmSync(segmentFile(dir, 1))],
    ['a deleted file and one in its place', (dir) => renameSync(segmentFile(dir, 3), segmentFile(dir, 2))],
    [
      'swapped files without their first lines',
      (dir) => {
        const [two, three] = [2, 3].map((n) => linesIn(dir, n).slice(1))
        writeLines(dir, three!, 2)
        writeLines(dir, two!, 3)
      },
    ],
    ['a file of zeros', (dir) => edit(dir, 2, (bytes) => Buffer.alloc(bytes.length))],
    [
      'a file with half of a repeated line at its end',
      (dir) => {
        const lines = linesIn(dir, 1)
        writeLines(dir, lines)
        appendFileSync(segmentFile(dir, 1), lines[1]!.slice(0, 100))
      },
    ],
    [
      'a line that was edited and whose sum was made to fit',
      (dir) =>
        edit(
          dir,
          1,
          latin1((text) => text.replace('body 1', 'BODIES')),
        ),
    ],
    [
      'a write that was cut off and is damaged',
      (dir) => {
        for (const n of listPlain(join(dir, 'journal')))
          edit(
            dir,
            n,
            latin1((text) => text.replace('"at":"2026\n', '"at":"9999\n')),
          )
      },
    ],
  ])('%s', async (_, damage) => {
    const made = await make()
    const whole = segmentsOf(made.dir)
    damage(made.dir)
    expect(segmentsOf(made.dir)).not.toEqual(whole)
    expect(repair(made, [made.copy]).lost).toEqual([])
    expect(segmentsOf(made.dir)).toEqual(whole)
    expect(await verifyDir(made.dir)).toMatchObject({ problems: [] })
  })

  it('a file of another space that was put in the place of ours', async () => {
    const made = await make()
    const other = await make()
    const whole = segmentsOf(made.dir)
    cpSync(segmentFile(other.dir, 2), segmentFile(made.dir, 2))
    repair(made, [made.copy])
    expect(segmentsOf(made.dir)).toEqual(whole)
    // A copy of another space gives nothing.
    writeFileSync(segmentFile(made.dir, 2), '')
    expect(repair(made, [other.dir]).lost.length).toBeGreaterThan(0)
  })

  it('an archived file that cannot be unpacked', async () => {
    const made = await make()
    const whole = readFileSync(segmentFile(made.dir, 1))
    const packed = join(made.dir, 'archive', '2026-01-00000001.jsonl.gz')
    mkdirSync(join(made.dir, 'archive'))
    writeFileSync(packed, flip(gzipSync(whole), 8 * 120))
    rmSync(segmentFile(made.dir, 1))
    expect(repair(made, [made.copy]).lost).toEqual([])
    expect(gunzipSync(readFileSync(packed)).equals(whole)).toBe(true)
    expect(existsSync(segmentFile(made.dir, 1))).toBe(false)
    expect(readdirSync(join(made.dir, 'journal', 'damaged'))[0]).toContain(basename(packed))
  })
})

it('leaves what is lost where it is, and finds it when a copy turns up', async () => {
  const made = await make()
  const whole = segmentsOf(made.dir)
  edit(
    made.dir,
    1,
    latin1((text) => text.replace('body 2', 'BODIES').replaceAll('\n', '\r\n')),
  )
  expect(repair(made).lost).toHaveLength(1)
  expect(readFileSync(segmentFile(made.dir), 'latin1')).toContain('BODIES')
  expect(readFileSync(segmentFile(made.dir), 'latin1')).not.toContain('\r')
  expect(repair(made).segments).toEqual([])
  expect(repair(made, [made.copy]).lost).toEqual([])
  expect(segmentsOf(made.dir)).toEqual(whole)
})

describe('whatever happens to the files', { timeout: inStorm(1_800_000, 60_000) }, () => {
  it('loses no record that could be read before, and restores all that the copy has', async () => {
    const made = await make(14)
    const whole = segmentsOf(made.copy)
    const size = campaignSize('repair', 3_000, 25)
    const campaign = new Campaign('repair', size)
    const seed = Number(process.env['REPAIR_SEED'] ?? (size > 100 ? Date.now() % 1_000_000 : 1))
    const random = randomFrom(seed)
    const total = linesOf(whole)
    const figures = {
      'damaged journals': 0,
      'records unreadable': 0,
      'restored without a copy': 0,
      'lost by a repair': 0,
    }
    for (let round = 0; round < size; round++) {
      rmSync(made.dir, { recursive: true })
      cpSync(made.copy, made.dir, { recursive: true })
      const done = upTo(1 + random(3)).map(() => damageSomething(made.dir, random))
      const story = `seed ${seed}, round ${round}: ${done.join(', ')}`
      const before = readable(made.dir)
      repair(made)
      const after = new Set(readable(made.dir))
      expect(
        before.filter((entry) => !after.has(entry)),
        story,
      ).toEqual([])
      repair(made, [made.copy])
      expect(segmentsOf(made.dir), story).toEqual(whole)
      expect((await verifyDir(made.dir)).problems, story).toEqual([])
      figures['damaged journals']++
      figures['records unreadable'] += total - before.length
      figures['restored without a copy'] += after.size - before.length
      campaign.progress(round, figures)
    }
    campaign.end(figures)
  })
})

/** How many entries there are. Cut-off writes are sealed, so each has a line and an entry of its own. */
const linesOf = (segments: Record<string, string>): number =>
  Object.values(segments)
    .join('')
    .match(/"sum":"[0-9a-f]{32}"\}\n/g)?.length ?? 0

type Random = (below: number) => number

function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function damageSomething(dir: string, random: Random): string {
  const segments = listPlain(join(dir, 'journal'))
  const segment = segments[random(segments.length)]!
  const lines = linesIn(dir, segment)
  const at = random(Math.max(1, lines.length))
  const kinds: Record<string, () => void> = {
    flip: () =>
      edit(dir, segment, (bytes) => (bytes.length === 0 ? bytes : flip(bytes, random(bytes.length * 8)))),
    delete: () => writeLines(dir, lines.toSpliced(at, 1 + random(3)), segment),
    repeat: () => writeLines(dir, lines.toSpliced(random(lines.length + 1), 0, lines[at] ?? ''), segment),
    shuffle: () =>
      writeLines(
        dir,
        lines.toSorted(() => random(3) - 1),
        segment,
      ),
    crlf: () =>
      edit(
        dir,
        segment,
        latin1((text) => text.replaceAll('\n', '\r\n')),
      ),
    mark: () => edit(dir, segment, (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes])),
    join: () =>
      edit(
        dir,
        segment,
        latin1((text) => text.replace(/\n/g, (newline) => (random(4) === 0 ? '' : newline))),
      ),
    split: () =>
      edit(
        dir,
        segment,
        latin1((text) => `${text.slice(0, at * 50)}\n${text.slice(at * 50)}`),
      ),
    cut: () => edit(dir, segment, (bytes) => bytes.subarray(0, random(bytes.length + 1))),
    zeros: () =>
      edit(dir, segment, (bytes) => bytes.fill(0, random(bytes.length + 1), random(bytes.length + 1))),
    noise: () => writeLines(dir, lines.toSpliced(at, 0, '{"seq":3}', ''), segment),
    remove: () => rmSync(segmentFile(dir, segment)),
    swap: () => {
      const other = segments[random(segments.length)]!
      const [one, two] = [segment, other].map((n) => readFileSync(segmentFile(dir, n)))
      writeFileSync(segmentFile(dir, segment), two!)
      writeFileSync(segmentFile(dir, other), one!)
    },
  }
  const names = Object.keys(kinds)
  const name = names[random(names.length)]!
  // One segment must stay: the journal is known by its first lines.
  if (name === 'remove' && segments.length < 3) return 'nothing'
  kinds[name]!()
  return `${name} ${segment}`
}
