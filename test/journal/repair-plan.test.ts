import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { archivedPath } from '../../src/journal/file/archive.ts'
import { markFirst } from '../../src/journal/file/first-mark.ts'
import { HeadMark } from '../../src/journal/file/head-mark.ts'
import { archiveDirOf, segmentPath } from '../../src/journal/file/segment.ts'
import { applyRepair, isCurrent } from '../../src/journal/repair/apply.ts'
import {
  type Copy,
  contentsOf,
  copyAt,
  copyIn,
  firstSums,
  recordsOf,
  segmentWith,
} from '../../src/journal/repair/copies.ts'
import { exportedMessages } from '../../src/journal/repair/exports.ts'
import { differingCopies, setCopiesAside } from '../../src/journal/repair/mirror.ts'
import { type PlanOptions, planRepair } from '../../src/journal/repair/plan.ts'
import type { MessageDraft } from '../../src/model/entry.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { failCall } from '../helpers/fs-faults.ts'
import { chain, HandMade, header, madeSpace, numbered, timeOf } from '../helpers/hand-made.ts'
import { refusal } from '../helpers/refusal.ts'
import { encodeLine, withOwnSum } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'

const changed = (text: string) => text.replace('words', 'noise')
const ended = (...texts: string[]) => texts.map((text) => `${text}\n`).join('')
const bytes = (text: string) => Buffer.from(text, 'latin1')

/** A plan without the bytes, which are compared as text. */
function plan({ dir }: HandMade, options: Partial<PlanOptions> = {}) {
  const { segments, lost } = planRepair(dir, { space: madeSpace, copies: [], ...options })
  const shown = segments.map(({ before, content, ...rest }) => ({
    ...rest,
    before: before.toString('latin1'),
    content: content.toString('latin1'),
  }))
  return { segments: shown, lost }
}

/** A directory with files of other journals, or of this one. */
function copyWith(files: Record<string, string | Buffer>, name = 'copy'): Copy {
  const dir = tempDir()
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(dir, file, '..'), { recursive: true })
    writeFileSync(join(dir, file), content, 'latin1')
  }
  return copyIn(dir, name)
}

const fileOf = (segment: number) => `${String(segment).padStart(8, '0')}.jsonl`
const wholeCopy = (made: HandMade, ...segments: number[]) =>
  copyWith(Object.fromEntries(segments.map((segment) => [fileOf(segment), ended(...made.in(segment))])))

/** What a plan says of a segment that is as it was written when it is done. */
const planned = (made: HandMade, segment: number, more: object = {}) => ({
  ...{ segment, path: made.path(segment), archived: false, exists: true },
  ...{ reformatted: 0, corrected: 0, restored: {}, content: ended(...made.in(segment)) },
  ...(existsSync(made.path(segment)) ? { before: made.text(segment) } : { before: '' }),
  ...more,
})

function archive(made: HandMade, segment: number, content = gzipSync(ended(...made.in(segment)))): string {
  mkdirSync(archiveDirOf(made.dir), { recursive: true })
  const path = archivedPath(made.dir, segment, timeOf(segment * 4))
  writeFileSync(path, content)
  rmSync(made.path(segment), { force: true })
  return path
}

describe('a plan', () => {
  it('has nothing for a journal that is sound', () => {
    const made = new HandMade()
    made.mark(12)
    const seen: number[][] = []
    const onSegment = (done: number, total: number) => seen.push([done, total])
    expect(plan(made, { onSegment, copies: [wholeCopy(made, 1, 2, 3)] })).toEqual({ segments: [], lost: [] })
    expect(seen).toEqual([0, 1, 2].map((done) => [done, 3]))
    expect(plan(new HandMade(0))).toEqual({ segments: [], lost: [] })
  })

  it('says how many records come from which copy', () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, changed(two!), changed(three!), changed(four!))
    const lost = { from: 6, to: 8 }
    expect(plan(made)).toEqual({ segments: [], lost: [lost] })
    expect(plan(made, { copies: [wholeCopy(made, 2)] })).toEqual({
      segments: [planned(made, 2, { restored: { copy: 3 } })],
      lost: [],
    })
    const parts = [
      copyWith({ [fileOf(2)]: ended(two!) }, 'a'),
      copyWith({ [fileOf(2)]: ended(three!, four!) }, 'b'),
    ]
    expect(plan(made, { copies: parts })).toEqual({
      segments: [planned(made, 2, { restored: { a: 1, b: 2 } })],
      lost: [],
    })
    // What may be left of the lost record stays.
    const junk = [two!, three!, four!].map(changed)
    const content = ended(one!, ...junk, three!, four!)
    expect(plan(made, { copies: [parts[1]!] })).toEqual({
      segments: [planned(made, 2, { restored: { b: 2 }, content })],
      lost: [{ from: 6, to: 6 }],
    })
  })

  it('counts what only has to be put on lines of its own, and bits that are turned back', () => {
    const made = new HandMade()
    made.edit(2, (text) => text.replaceAll('\n', '\r\n'))
    expect(plan(made)).toEqual({ segments: [planned(made, 2, { reformatted: 4 })], lost: [] })
    made.write(2, ...made.in(2))
    made.edit(1, (text) => `${text.replace('words', 'uords').replace('}\n', '}')}`)
    expect(plan(made)).toEqual({ segments: [planned(made, 1, { reformatted: 1, corrected: 1 })], lost: [] })
  })

  it('joins a line that a newline has come into', () => {
    const made = new HandMade()
    // Between a space and a newline there is more than one bit.
    made.edit(2, (text) => text.replace('some words', 'some\nwords'))
    expect(plan(made).lost).toEqual([{ from: 6, to: 6 }])
    // Between a J and a newline there is one.
    const drafts = [header('created'), messageDraft({ subject: 'aJb' }), numbered(3)]
    const lines = chain(drafts).map(({ text }) => text)
    made.write(1, ...lines.map((line) => line.replace('aJb', 'a\nb')))
    for (const segment of [2, 3]) rmSync(made.path(segment))
    expect(plan(made)).toMatchObject({ segments: [{ corrected: 1, content: ended(...lines) }], lost: [] })
  })

  it('puts files in the order of their records', () => {
    const made = new HandMade()
    made.write(1, ...made.in(3))
    made.write(3, ...made.in(1))
    expect(plan(made)).toEqual({ segments: [planned(made, 1), planned(made, 3)], lost: [] })
    // A copy says where each belongs, even if its first line is gone.
    made.write(1, ...made.in(3).slice(1))
    expect(plan(made, { copies: [wholeCopy(made, 1, 2, 3)] })).toEqual({
      segments: [planned(made, 1), planned(made, 3, { restored: { copy: 1 } })],
      lost: [],
    })
  })

  it('does not move files of which two have the same records', () => {
    const made = new HandMade()
    made.write(2, ...made.in(1))
    expect(plan(made)).toEqual({
      segments: [planned(made, 2, { content: '' })],
      lost: [{ from: 5, to: 8 }],
    })
  })

  it('takes nothing from a file of another space', () => {
    const made = new HandMade()
    made.write(2, ...chain([header('size', 'another'), numbered(2)]).map(({ text }) => text))
    expect(plan(made)).toEqual({ segments: [planned(made, 2, { content: '' })], lost: [{ from: 5, to: 8 }] })
    expect(plan(made, { copies: [wholeCopy(made, 2)] })).toEqual({
      segments: [planned(made, 2, { restored: { copy: 4 } })],
      lost: [],
    })
    const other = copyWith({ [fileOf(2)]: made.text(2) })
    expect(plan(made, { copies: [other] }).lost).toEqual([{ from: 5, to: 8 }])
  })

  it('makes a file that is missing between others, with what a copy has of it', () => {
    const made = new HandMade(5)
    for (const segment of [2, 4]) rmSync(made.path(segment))
    const gone = (segment: number) => planned(made, segment, { exists: false, content: '' })
    expect(plan(made)).toEqual({
      segments: [gone(2), gone(4)],
      lost: [
        { from: 5, to: 8 },
        { from: 13, to: 16 },
      ],
    })
    expect(plan(made, { copies: [wholeCopy(made, 4)] })).toEqual({
      segments: [gone(2), planned(made, 4, { exists: false, restored: { copy: 4 } })],
      lost: [{ from: 5, to: 8 }],
    })
  })

  it('makes a file of the archive, if those around it are there', () => {
    const made = new HandMade(6)
    for (const segment of [1, 3]) archive(made, segment)
    for (const segment of [2, 5]) rmSync(made.path(segment))
    const path = archivedPath(made.dir, 2, timeOf(8))
    expect(plan(made, { copies: [wholeCopy(made, 2, 5)] })).toEqual({
      segments: [
        planned(made, 2, { exists: false, archived: true, path, restored: { copy: 4 } }),
        planned(made, 5, { exists: false, restored: { copy: 4 } }),
      ],
      lost: [],
    })
    // Without a copy nothing is made in the archive.
    expect(plan(made).segments.map(({ segment }) => segment)).toEqual([5])
  })

  it('packs a file again that could not be unpacked', () => {
    const made = new HandMade()
    const packed = gzipSync(ended(...made.in(1)), { level: 0 })
    packed[packed.length - 6]! ^= 1
    const path = archive(made, 1, packed)
    const found = planned(made, 1, { archived: true, path, before: ended(...made.in(1)) })
    expect(plan(made)).toEqual({ segments: [found], lost: [] })
  })

  it('has older files only if that is asked, or if the journal begins with them', () => {
    const made = new HandMade()
    const copies = [wholeCopy(made, 1)]
    rmSync(made.path(1))
    expect(plan(made, { copies })).toEqual({ segments: [], lost: [] })
    const first = planned(made, 1, { exists: false, restored: { copy: 4 } })
    expect(plan(made, { copies, older: true })).toEqual({ segments: [first], lost: [] })
    markFirst(made.dir, madeSpace, { segment: 1, seq: 1 })
    expect(plan(made, { copies })).toEqual({ segments: [first], lost: [] })
    expect(plan(made)).toEqual({ segments: [], lost: [{ from: 1, to: 4 }] })
    markFirst(made.dir, madeSpace, { segment: 3, seq: 9 })
    expect(plan(made)).toEqual({ segments: [], lost: [] })
  })

  it('knows that the first file begins with the first record', () => {
    const made = new HandMade()
    made.write(1, ...made.in(1).slice(1))
    expect(plan(made)).toEqual({ segments: [], lost: [{ from: 1, to: 1 }] })
    expect(plan(made, { copies: [wholeCopy(made, 1)] })).toEqual({
      segments: [planned(made, 1, { restored: { copy: 1 } })],
      lost: [],
    })
  })

  it('knows what was acknowledged', () => {
    const made = new HandMade()
    made.write(3, ...made.in(3).slice(0, 2))
    expect(plan(made)).toEqual({ segments: [], lost: [] })
    made.mark(10)
    expect(plan(made)).toEqual({ segments: [], lost: [] })
    made.mark(12)
    expect(plan(made)).toEqual({ segments: [], lost: [{ from: 11, to: 12 }] })
    expect(plan(made, { copies: [wholeCopy(made, 3)] })).toEqual({
      segments: [planned(made, 3, { restored: { copy: 2 } })],
      lost: [],
    })
    const other = new HandMade(0)
    const head = new HeadMark(other.dir, 'another')
    head.write({ seq: 12, segment: 3, end: 1, sum: made.lines[11]!.sum })
    head.close()
    expect(plan(other).lost).toEqual([])
    other.mark(12, made.lines[11]!.sum)
    expect(plan(other)).toEqual({ segments: [], lost: [{ from: 1, to: 12 }] })
  })

  it('goes on with what a copy has beyond the end', () => {
    const made = new HandMade()
    const copies = [wholeCopy(made, 3)]
    made.write(3, ...made.in(3).slice(0, 3))
    expect(plan(made, { copies })).toEqual({
      segments: [planned(made, 3, { restored: { copy: 1 } })],
      lost: [],
    })
  })

  it('keeps what is left of a lost record, and removes what is none', () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(1, ...made.in(1), '# end of 1')
    made.write(2, '# start', one!, '# remark', two!, changed(three!), four!, '# end')
    made.write(3, '# start of 3', ...made.in(3), '# end of 3')
    expect(plan(made)).toEqual({
      segments: [
        planned(made, 1),
        planned(made, 2, { content: ended(one!, two!, changed(three!), four!) }),
        // Nothing tells whether a record is missing behind the last one.
        planned(made, 3, { content: ended(...made.in(3), '# end of 3') }),
      ],
      lost: [{ from: 7, to: 7 }],
    })
  })

  it('keeps what is left at the ends of files, where records between them are lost', () => {
    const made = new HandMade()
    const [one, two] = made.in(2)
    made.write(2, one!, '#', two!, '# end')
    made.write(3, '# start', ...made.in(3).slice(1))
    expect(plan(made)).toEqual({
      segments: [planned(made, 2, { content: ended(one!, two!, '# end') })],
      lost: [{ from: 7, to: 9 }],
    })
    made.write(2, '# start', ...made.in(2).slice(1), '# end')
    made.write(3, '# start', ...made.in(3))
    expect(plan(made)).toEqual({
      segments: [planned(made, 2, { content: ended('# start', ...made.in(2).slice(1)) }), planned(made, 3)],
      lost: [{ from: 5, to: 5 }],
    })
  })

  it('takes what an earlier repair kept, and the archive', () => {
    const made = new HandMade()
    mkdirSync(join(made.dir, 'damaged'))
    const [one, two, three, four] = made.in(2)
    writeFileSync(join(made.dir, 'damaged', `${fileOf(2)}.2026-01-02`), ended(two!))
    archive(made, 2)
    made.write(2, one!, changed(two!), changed(three!), four!)
    expect(plan(made)).toEqual({
      segments: [planned(made, 2, { restored: { 'journal/damaged': 1, archive: 1 } })],
      lost: [],
    })
  })

  it('leaves a segment as it is that does not fit to the next, until something else is proved', () => {
    const made = new HandMade(4)
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, two!, three!, withOwnSum(changed(four!)))
    expect(plan(made)).toEqual({ segments: [], lost: [] })
    // File 3 has another line 8, which the lines after it prove.
    made.write(3, ...made.in(3), four!)
    expect(plan(made)).toEqual({
      segments: [
        planned(made, 2, { content: ended(one!, two!, three!) }),
        planned(made, 3, { content: ended(four!, ...made.in(3)) }),
      ],
      lost: [],
    })
  })

  it('takes the bytes of a copy only if it has the same records', () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, changed(two!), three!, four!)
    const less = copyWith({ [fileOf(2)]: ended(one!, two!) })
    expect(plan(made, { copies: [less] }).segments).toEqual([planned(made, 2, { restored: { copy: 1 } })])
    const remark = copyWith({ [fileOf(2)]: ended(one!, '#', two!, three!, four!) })
    expect(plan(made, { copies: [remark] }).segments).toEqual([planned(made, 2, { restored: { copy: 1 } })])
    const torn = copyWith({ [fileOf(2)]: `${ended(one!, two!, three!, four!)}{"seq"` })
    expect(plan(made, { copies: [torn] }).segments).toMatchObject([
      { content: `${ended(one!, two!, three!, four!)}{"seq"` },
    ])
  })
})

describe('an export', () => {
  const messageOf = (made: HandMade, seq: number): MessageDraft => {
    const { message } = JSON.parse(made.line(seq)) as MessageDraft
    return { kind: 'message', message }
  }

  it('restores a message whose place is known from those around it', () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, changed(two!), three!, four!)
    const messages = [2, 3, 6, 7].map((seq) => messageOf(made, seq))
    const found = { segments: [planned(made, 2, { restored: { 'mail.jsonl': 1 } })], lost: [] }
    expect(plan(made, { exported: { 'mail.jsonl': messages } })).toEqual(found)
    expect(plan(made, { exported: { empty: [], 'mail.jsonl': messages } })).toEqual(found)
    // Of two that are missing side by side, nothing proves either.
    made.write(2, one!, changed(two!), changed(three!), four!)
    expect(plan(made, { exported: { 'mail.jsonl': messages } }).lost).toEqual([{ from: 6, to: 7 }])
    // Each in its own file.
    made.write(1, ...made.in(1).with(1, changed(made.line(2))))
    made.write(2, one!, changed(two!), three!, four!)
    expect(plan(made, { exported: { a: messages.slice(2), b: messages } })).toEqual({
      segments: [planned(made, 1, { restored: { b: 1 } }), planned(made, 2, { restored: { a: 1 } })],
      lost: [],
    })
  })

  it('restores a message between files that are sound themselves', () => {
    const made = new HandMade()
    made.write(2, ...made.in(2).slice(0, 3))
    expect(plan(made)).toEqual({ segments: [], lost: [{ from: 8, to: 8 }] })
    expect(plan(made, { exported: { x: [messageOf(made, 8)] } })).toEqual({
      segments: [planned(made, 2, { restored: { x: 1 } })],
      lost: [],
    })
  })

  it('restores only what can have been written at that time', () => {
    const base = Date.parse(timeOf(60))
    /** A message between two others, made and written so many milliseconds after the one before it. */
    const isFound = (madeAfter: number, writtenAfter: number) => {
      const made = new HandMade(0)
      const iso = (after: number) => new Date(base + after).toISOString()
      const draft = messageDraft({ createdAt: iso(madeAfter) })
      const first = encodeLine(header('created'), 1, iso(0), '0'.repeat(32))
      const lost = encodeLine(draft, 2, iso(writtenAfter), first.sum)
      const next = encodeLine(numbered(3), 3, iso(10), lost.sum)
      writeFileSync(made.path(1), Buffer.concat([first.text, next.text]))
      return plan(made, { exported: { x: [draft] } }).lost.length === 0
    }
    expect([isFound(5, 5), isFound(5, 4), isFound(5, 2_005), isFound(5, 2_006)]).toEqual([
      ...[true, false, true, false],
    ])
    expect([isFound(-60_000, -60_000), isFound(-60_001, -60_000)]).toEqual([true, false])
    expect([isFound(60_010, 60_010), isFound(60_011, 60_011)]).toEqual([true, false])
  })

  it('is read, whichever version wrote it', () => {
    const path = join(tempDir(), 'mail.jsonl')
    const drafts = [1, 2, 3, 4].map((n) => messageDraft({ subject: `${n}` }))
    const [first, second, third, fourth] = drafts.map(({ message }) => message)
    const signature = `${'k'.repeat(43)}.${'s'.repeat(86)}`
    writeFileSync(
      path,
      [
        JSON.stringify({ kind: 'message', message: first, exclude: ['cyd'], signature: `${signature}.made` }),
        JSON.stringify({ message: second, receipts: [] }),
        JSON.stringify({ kind: 'agent', message: third }),
        ` ${JSON.stringify({ message: third })}`,
        JSON.stringify({ message: third }).slice(0, -1),
        JSON.stringify({ message: { ...third, id: 5 } }),
        '{"message":null}',
        JSON.stringify({ kind: 'message', message: { ...fourth, sealed: 'key.text.made' }, signature }),
      ].join('\n'),
    )
    expect(exportedMessages(path)).toEqual([
      { kind: 'message', message: first, exclude: ['cyd'], signature },
      { kind: 'message', message: second },
      { kind: 'message', message: { ...fourth, sealed: 'key.text' }, signature },
    ])
    expect(Object.keys(exportedMessages(path)[1]!)).toEqual(['kind', 'message'])
  })
})

describe('a copy', () => {
  it('is found in every place that a space, a mirror or a person may have', () => {
    const made = new HandMade()
    const copy = copyWith({
      [fileOf(1)]: '',
      'damaged/00000002.jsonl.2026-01-02T03-04-05-678Z': '',
      'journal/00000003.jsonl': '',
      'journal/damaged/00000004-1234-before-5.bytes': '',
      'archive/2026-01-00000005.jsonl.gz': '',
      'archive/2026-01-00000006.jsonl.gz.tmp': '',
      '00000007.jsonl.tmp': '',
      '00000008.json': '',
      '00000009.jsonlx': '',
      'x00000010.jsonl': '',
      '26-01-00000011.jsonl': '',
      '000000120.jsonl': '',
      '00000013--before-5': '',
      'other/00000014.jsonl': '',
    })
    expect(copy.name).toBe('copy')
    expect(copy.files.map(({ path, segment }) => [segment, readFileSync(path, 'latin1')])).toEqual(
      [1, 2, 3, 4, 5].map((segment) => [segment, '']),
    )
    expect(copyIn(join(made.dir, 'nowhere'), 'x')).toEqual({ name: 'x', files: [] })
  })

  it('may be a directory or a file that a person names', () => {
    const made = new HandMade()
    const missing = join(made.dir, 'no.jsonl')
    expect(refusal(() => copyAt(missing))).toMatchObject({
      ...{ code: 'not_found', message: `there is no ${missing}`, hint: expect.stringMatching(/./) },
    })
    expect(copyAt(made.dir)).toEqual(copyIn(made.dir, made.dir))
    const path = made.path(2)
    expect(copyAt(path)).toEqual({ name: path, files: [{ path, segment: 2 }] })
    const own = join(tempDir(), 'my-backup')
    writeFileSync(own, ended(...made.in(2)))
    expect(copyAt(own)).toEqual({ name: own, files: [{ path: own, segment: 0 }] })
    // Its records go where their numbers belong.
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, changed(two!), three!, four!)
    expect(plan(made, { copies: [copyAt(own)] })).toEqual({
      segments: [planned(made, 2, { restored: { [own]: 1 } })],
      lost: [],
    })
    made.write(2, ...made.in(2))
    made.write(1, ...made.in(1).slice(1))
    writeFileSync(own, ended(made.line(1)))
    expect(plan(made, { copies: [copyAt(own)] })).toEqual({
      segments: [planned(made, 1, { restored: { [own]: 1 } })],
      lost: [],
    })
  })

  it('tells its records, plain or packed, and none of another space', () => {
    const made = new HandMade()
    const copy = copyWith({
      [fileOf(1)]: ended(...made.in(1)),
      [fileOf(2)]: gzipSync(ended('#', ...made.in(2))),
      [fileOf(3)]: ended(...chain([header('size', 'another'), numbered(2)]).map(({ text }) => text)),
      [fileOf(4)]: `\x1f${ended(...made.in(3))}`,
      [fileOf(5)]: `x\x8b\n${ended(made.line(12))}`,
    })
    const seqs = (isWanted: (seq: number, segment: number) => boolean) =>
      recordsOf(copy, madeSpace, isWanted).map(({ record, home, source }) => [record.seq, home, source])
    expect(seqs((seq, segment) => seq === 3 || segment === 2)).toEqual([
      [3, 1, 'copy'],
      ...[5, 6, 7, 8].map((seq) => [seq, 2, 'copy']),
    ])
    expect(seqs((seq) => seq > 9)).toEqual([...[10, 11, 12].map((seq) => [seq, 4, 'copy']), [12, 5, 'copy']])
    expect(contentsOf(copy, 2).map(String)).toEqual([ended('#', ...made.in(2))])
    expect(contentsOf(copy, 9)).toEqual([])
    const sum = (seq: number) => made.lines[seq - 1]!.sum
    expect(firstSums(copy).filter(([, segment]) => segment !== 3)).toEqual([[sum(1), 1]])
    expect([segmentWith([copy], sum(7)), segmentWith([copy], sum(12)), segmentWith([copy], 'x')]).toEqual([
      ...[2, 4, undefined],
    ])
    const unnumbered = { name: 'x', files: copy.files.map(({ path }) => ({ path, segment: 0 })) }
    expect([firstSums(unnumbered), segmentWith([unnumbered], sum(7))]).toEqual([[], undefined])
  })
})

describe('a repair', () => {
  const now = Date.parse('2026-03-04T05:06:07.089Z')
  const stamp = '2026-03-04T05-06-07-089Z'

  it('keeps what was there, and replaces it', () => {
    const made = new HandMade(6)
    const packed = archive(made, 1, gzipSync(ended(...made.in(1).toSpliced(2, 0, '#'))))
    for (const segment of [2, 3]) archive(made, segment)
    const gone = archivedPath(made.dir, 2, timeOf(8))
    rmSync(gone)
    made.edit(4, (text) => `#\n${text}`)
    rmSync(made.path(5))
    const before = [readFileSync(packed), readFileSync(made.path(4))]
    const kept = join(made.dir, 'damaged')
    mkdirSync(kept)
    for (const dir of [made.dir, kept]) writeFileSync(join(dir, 'rest.tmp'), '')
    writeFileSync(join(kept, '.tmpfile'), '')
    const options = { space: madeSpace, copies: [wholeCopy(made, 2, 5)] }
    const found = planRepair(made.dir, options)
    expect(isCurrent(found)).toBe(true)
    const done = applyRepair(made.dir, found, now)
    const packedName = `2026-01-00000001.jsonl.gz.${stamp}`
    expect(done).toEqual([
      { ...found.segments[0], kept: packedName },
      found.segments[1],
      { ...found.segments[2], kept: `00000004.jsonl.${stamp}` },
      found.segments[3],
    ])
    expect(done.map((one) => 'kept' in one)).toEqual([true, false, true, false])
    expect(readdirSync(kept).sort()).toEqual(['.tmpfile', `00000004.jsonl.${stamp}`, packedName])
    expect(readFileSync(join(kept, packedName))).toEqual(before[0])
    expect(readFileSync(join(kept, `00000004.jsonl.${stamp}`))).toEqual(before[1])
    expect(gunzipSync(readFileSync(packed)).toString('latin1')).toBe(ended(...made.in(1)))
    expect(gunzipSync(readFileSync(gone)).toString('latin1')).toBe(ended(...made.in(2)))
    for (const segment of [4, 5, 6]) expect(made.text(segment)).toBe(ended(...made.in(segment)))
    expect(readdirSync(made.dir).filter((file) => file.endsWith('.tmp'))).toEqual([])
    expect(isCurrent(found)).toBe(false)
    expect(planRepair(made.dir, options).segments).toEqual([])
  })

  it('is not done to files that have changed since', () => {
    const made = new HandMade()
    made.edit(1, (text) => `#\n${text}`)
    made.edit(3, (text) => `#\n${text}`)
    const found = planRepair(made.dir, { space: madeSpace, copies: [] })
    expect(found.segments).toHaveLength(2)
    expect(isCurrent(found)).toBe(true)
    const whole = made.text(3)
    made.edit(3, (text) => `${text}#\n`)
    expect(isCurrent(found)).toBe(false)
    rmSync(made.path(3))
    expect(isCurrent(found)).toBe(false)
    made.writeText(3, whole)
    expect(isCurrent(found)).toBe(true)
    rmSync(made.path(2))
    const without = planRepair(made.dir, { space: madeSpace, copies: [wholeCopy(made, 2)] })
    expect(isCurrent(without)).toBe(true)
    made.write(2, ...made.in(2))
    expect(isCurrent(without)).toBe(false)
    expect(isCurrent({ segments: [], lost: [] })).toBe(true)
  })

  it('says that it failed', () => {
    const made = new HandMade()
    made.edit(2, (text) => `#\n${text}`)
    const before = made.text(2)
    const found = planRepair(made.dir, { space: madeSpace, copies: [] })
    failCall('renameSync', 'EIO')
    const error = refusal(() => applyRepair(made.dir, found, now))
    expect(error.message).toContain('the repair failed')
    expect(`${error.message} ${error.hint}`).toContain('nothing is lost by it')
    expect(made.text(2)).toBe(before)
  })

  it('makes its directory for its owner only', () => {
    const made = new HandMade(1)
    expect(applyRepair(made.dir, { segments: [], lost: [] }, now)).toEqual([])
    expect(statSync(join(made.dir, 'damaged')).mode & 0o777).toBe(0o700)
  })
})

describe('a mirror', () => {
  it('has copies that differ from what the journal has, or will have', () => {
    const made = new HandMade(5)
    archive(made, 1)
    const mirror = join(tempDir(), 'mirror')
    mkdirSync(join(mirror, 'journal'), { recursive: true })
    const path = (segment: number) => segmentPath(join(mirror, 'journal'), segment)
    const lay = (segment: number, text: string) => writeFileSync(path(segment), text, 'latin1')
    const whole = (segment: number) => ended(...made.in(segment))
    const differing = (planned: Parameters<typeof differingCopies>[2] = []) =>
      differingCopies(made.dir, mirror, planned)
    expect(differing()).toEqual([])
    for (const segment of [1, 2, 3, 5]) lay(segment, whole(segment))
    lay(4, whole(4).slice(0, 100))
    lay(6, 'of nothing')
    expect(differing()).toEqual([])
    lay(1, changed(whole(1)))
    lay(3, changed(whole(3)))
    lay(4, `${whole(4)}more`)
    expect(differing()).toEqual([1, 3, 4])
    // A copy may have what a repair puts into the journal.
    made.edit(2, changed)
    const [two] = planRepair(made.dir, { space: madeSpace, copies: [wholeCopy(made, 2)] }).segments
    expect(differing()).toEqual([1, 2, 3, 4])
    expect(differing([two!])).toEqual([1, 3, 4])
    expect(differing([{ ...two!, content: bytes('other') }])).toEqual([1, 2, 3, 4])

    setCopiesAside(mirror, [1, 4, 7])
    expect([1, 2, 3, 4].map((segment) => existsSync(path(segment)))).toEqual([false, true, true, false])
    const aside = readdirSync(join(mirror, 'journal', 'damaged')).sort()
    expect(aside.map((file) => file.slice(0, 14))).toEqual([fileOf(1), fileOf(4)])
    expect(readFileSync(join(mirror, 'journal', 'damaged', aside[0]!), 'latin1')).toBe(changed(whole(1)))
  })
})
