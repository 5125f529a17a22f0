import { hash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { newSigningKey, signerOf } from '../../src/base/signing.ts'
import { damageNames, sentenceOf } from '../../src/journal/damage.ts'
import { archivedPath } from '../../src/journal/file/archive.ts'
import { markFirst } from '../../src/journal/file/first-mark.ts'
import { archiveDirOf } from '../../src/journal/file/segment.ts'
import { type VerifyOptions, verifyJournal } from '../../src/journal/file/verify.ts'
import type { Draft, MessageDraft } from '../../src/model/entry.ts'
import { signTogether } from '../../src/model/signature.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { patchFs } from '../helpers/fs-faults.ts'
import { chain, HandMade, header, madeSpace, numbered, timeOf } from '../helpers/hand-made.ts'
import { withOwnSum } from '../helpers/segments.ts'

/** What a check finds: names, places and what is lost, without the sentence that each name has. */
async function findingsIn({ dir }: HandMade, options: VerifyOptions = {}) {
  const { damage, problems, ...rest } = await verifyJournal(dir, options)
  expect(problems).toEqual(damage.map(sentenceOf))
  const found = damage.map(({ what, ...one }) =>
    what === damageNames[one.name] ? one : Object.assign(one, { what }),
  )
  return { ...rest, found }
}

const lost = (from: number, to = from) => ({ lost: { from, to } })
const changed = (text: string) => text.replace('words', 'noise')
const fragment = '{"seq":7,"at":"20'

/** The seal of a fragment, as the writer that finds it would write it. */
const sealOf = (text: string, offset: number): Draft => ({
  ...{ kind: 'torn', offset, bytes: text.length },
  digest: hash('sha256', Buffer.from(text, 'latin1'), 'hex'),
})

/** Writes a segment of its own lines, and what follows them, from the same chain. */
function goOn(made: HandMade, after: number, ...drafts: Draft[]) {
  return chain(drafts, made.lines[after - 1]).map(({ text }) => text)
}

describe('a journal without damage', () => {
  it('is counted', async () => {
    const made = new HandMade()
    made.mark(12)
    const bytes = [1, 2, 3].reduce((sum, segment) => sum + made.text(segment).length, 0)
    const progress: unknown[] = []
    const options = { onProgress: (done: { bytes: number; total: number }) => progress.push(done) }
    expect(await findingsIn(made, options)).toEqual({
      ...{ segments: 3, entries: 12, messages: 9, bytes, torn: [], unsigned: [], found: [] },
    })
    const one = made.text(1).length
    expect(progress).toEqual([
      { bytes: one, total: bytes },
      { bytes: one + made.text(2).length, total: bytes },
      { bytes, total: bytes },
    ])
  })

  it('may have lost its first files on purpose, and end in a file that nothing was written to', async () => {
    const made = new HandMade()
    rmSync(made.path(1))
    expect(await findingsIn(made)).toMatchObject({ segments: 2, entries: 8, found: [] })
    markFirst(made.dir, madeSpace, { segment: 2, seq: 5 })
    expect(await findingsIn(made)).toMatchObject({ found: [] })
    made.write(4)
    expect(await findingsIn(made)).toMatchObject({ segments: 3, entries: 8, found: [] })
    made.mark(12)
    expect(await findingsIn(made)).toMatchObject({ found: [] })
  })

  it('may be empty', async () => {
    const made = new HandMade(0)
    expect(await findingsIn(made)).toMatchObject({ segments: 0, entries: 0, bytes: 0, found: [] })
    made.write(1)
    expect(await findingsIn(made)).toMatchObject({ segments: 1, entries: 0, bytes: 0, found: [] })
  })

  it('can be stopped being read', async () => {
    const made = new HandMade(1)
    made.edit(1, (text) => `#\n${text}`)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(verifyJournal(made.dir, { signal })).rejects.toThrow('enough')
  })
})

describe('a long file', () => {
  it('is read in parts, a line that is longer than a part included', async () => {
    const made = new HandMade(2)
    const [one, two, ...rest] = made.in(2)
    made.write(2, one!, 'x'.repeat(5 * 1_048_576), two!, 'y'.repeat(4 * 1_048_576), ...rest)
    expect(await findingsIn(made)).toMatchObject({
      entries: 8,
      bytes: made.text(1).length + made.text(2).length,
    })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 2) },
      { name: 'changed_line', ...made.place(2, 4) },
    ])
  })

  it('tells how far it is read', async () => {
    const made = new HandMade(0)
    made.write(1, '#1')
    made.write(2, '#2', '#3')
    const progress: number[] = []
    const closed: number[] = []
    patchFs('closeSync', (real) => (fd) => {
      closed.push(fd)
      real(fd)
    })
    await verifyJournal(made.dir, { onProgress: ({ bytes }) => progress.push(bytes) })
    expect(progress).toEqual([0, 3, 3, 6, 9])
    expect(closed).toHaveLength(2)
  })
})

describe('a file', () => {
  const missing = (segment: number, to = segment) => ({
    ...{ name: 'missing_segment', segment, what: `segments ${segment} to ${to} are missing` },
  })

  it('is missing between others', async () => {
    const made = new HandMade(6)
    for (const segment of [2, 4, 5]) rmSync(made.path(segment))
    expect(await findingsIn(made)).toMatchObject({
      ...{ segments: 3, entries: 12 },
      found: [
        { ...missing(2), ...lost(5, 8) },
        { ...missing(4, 5), ...lost(13, 20) },
      ],
    })
  })

  it('is missing at the beginning', async () => {
    const made = new HandMade()
    markFirst(made.dir, madeSpace, { segment: 1, seq: 1 })
    rmSync(made.path(1))
    expect((await findingsIn(made)).found).toEqual([{ ...missing(1), ...lost(1, 4) }])
    rmSync(made.path(2))
    expect((await findingsIn(made)).found).toEqual([{ ...missing(1, 2), ...lost(1, 8) }])
    markFirst(made.dir, madeSpace, { segment: 2, seq: 5 })
    expect((await findingsIn(made)).found).toEqual([{ ...missing(2), ...lost(5, 8) }])
    markFirst(made.dir, 'another', { segment: 1, seq: 1 })
    expect((await findingsIn(made)).found).toEqual([])
  })

  it('is missing at the end', async () => {
    const made = new HandMade(4)
    made.mark(16)
    rmSync(made.path(4))
    expect((await findingsIn(made)).found).toEqual([{ ...missing(4), ...lost(13, 16) }])
    rmSync(made.path(3))
    expect((await findingsIn(made)).found).toEqual([{ ...missing(3, 4), ...lost(9, 16) }])
    for (const segment of [1, 2]) rmSync(made.path(segment))
    expect((await findingsIn(made)).found).toEqual([{ ...missing(4), ...lost(1, 16) }])
    markFirst(made.dir, madeSpace, { segment: 1, seq: 1 })
    expect((await findingsIn(made)).found).toEqual([{ ...missing(1, 4), ...lost(1, 16) }])
  })

  it('was emptied', async () => {
    const made = new HandMade()
    made.write(2)
    expect((await findingsIn(made)).found).toEqual([{ name: 'empty_segment', segment: 2, ...lost(5, 8) }])
    made.write(2, ...made.in(2))
    made.write(3)
    expect((await findingsIn(made)).found).toEqual([])
    made.mark(8)
    expect((await findingsIn(made)).found).toEqual([])
    made.mark(12)
    expect((await findingsIn(made)).found).toEqual([{ name: 'empty_segment', segment: 3, ...lost(9, 12) }])
  })

  it('has the content of another', async () => {
    const made = new HandMade()
    made.write(1, ...made.in(3))
    made.write(3, ...made.in(1))
    expect(await findingsIn(made)).toMatchObject({
      ...{ segments: 3, entries: 12 },
      found: [
        { name: 'swapped_segment', segment: 1, what: 'the file has the content of segment 3' },
        { name: 'swapped_segment', segment: 3, what: 'the file has the content of segment 1' },
      ],
    })
  })

  it('belongs to another space', async () => {
    const made = new HandMade()
    made.write(2, ...chain([header('size', 'another'), numbered(2)]).map(({ text }) => text))
    expect(await findingsIn(made)).toMatchObject({
      ...{ segments: 3, entries: 8, bytes: made.text(1).length + made.text(3).length },
      found: [{ name: 'foreign_segment', segment: 2, ...lost(5, 8) }],
    })
    // The mark says whose journal it is, if any file is of that space.
    made.write(1, ...chain([header('size', 'another'), numbered(2)]).map(({ text }) => text))
    made.mark(12)
    expect((await findingsIn(made)).found).toMatchObject([
      { name: 'foreign_segment', segment: 1 },
      { name: 'foreign_segment', segment: 2 },
    ])
    for (const segment of [2, 3]) rmSync(made.path(segment))
    expect((await findingsIn(made)).found).toEqual([])
  })

  it('belongs to another space, whatever its numbers are', async () => {
    const made = new HandMade()
    const lines = chain([header('size', 'another'), numbered(22)], { seq: 20, sum: made.lines[0]!.sum })
    made.write(2, ...lines.map(({ text }) => text))
    expect((await findingsIn(made)).found).toEqual([{ name: 'foreign_segment', segment: 2, ...lost(5, 8) }])
    made.write(2, 'nothing of any space')
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 1), ...lost(5) },
      { name: 'missing_lines', ...made.place(3, 1), ...lost(6, 8) },
    ])
  })

  it('is there twice', async () => {
    const made = new HandMade()
    made.write(2, ...made.in(1))
    expect((await findingsIn(made)).found).toEqual([
      { name: 'repeated_line', ...made.place(2, 1), lines: 4 },
      { name: 'missing_lines', ...made.place(3, 1), ...lost(5, 8) },
    ])
  })

  it('cannot be unpacked, and the next one is not blamed for it', async () => {
    const made = new HandMade()
    mkdirSync(archiveDirOf(made.dir))
    const pack = (segment: number, file: Buffer) =>
      writeFileSync(archivedPath(made.dir, segment, timeOf(1)), file)
    for (const segment of [1, 2]) {
      pack(segment, gzipSync(made.text(segment)))
      rmSync(made.path(segment))
    }
    expect(await findingsIn(made)).toMatchObject({ segments: 3, entries: 12, found: [] })
    pack(2, gzipSync(made.in(2)[0]!).subarray(0, 60))
    const { found, ...rest } = await findingsIn(made)
    expect(found).toEqual([
      { name: 'unreadable_segment', segment: 2, what: expect.stringContaining('00000002') },
    ])
    expect(rest).toMatchObject({ segments: 3, entries: 8 })
  })
})

describe('a line', () => {
  it('has other ends, one finding for each file', async () => {
    const made = new HandMade()
    for (const segment of [1, 2]) made.edit(segment, (text) => text.replaceAll('\n', '\r\n'))
    expect(await findingsIn(made)).toMatchObject({ entries: 12 })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'crlf', ...made.place(1, 1), lines: 4 },
      { name: 'crlf', ...made.place(2, 1), lines: 4 },
    ])
  })

  it('has a byte order mark before it', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    const mark = '\xef\xbb\xbf'
    made.write(2, mark + one!, two!, mark + three!, `${mark}${four}\r`)
    expect(await findingsIn(made)).toMatchObject({ entries: 12, messages: 9 })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'bom', ...made.place(2, 1), lines: 3 },
      { name: 'crlf', ...made.place(2, 4) },
    ])
  })

  it('is empty', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, '', '\r', two!, three!, four!, '')
    made.edit(3, (text) => `${text}\n\r\n`)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'extra_newline', ...made.place(2, 2), lines: 3 },
      { name: 'extra_newline', ...made.place(3, 5), lines: 2 },
    ])
  })

  it('was inserted, and is none', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, 'x', '\rx', 'xx', two!, three!, four!)
    expect(await findingsIn(made)).toMatchObject({ entries: 12, torn: [] })
    expect((await findingsIn(made)).found).toEqual(
      [2, 3, 4].map((line) => ({ name: 'changed_line', ...made.place(2, line) })),
    )
  })

  it('was joined with the next', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, two! + three!, four!)
    expect(await findingsIn(made)).toMatchObject({ entries: 12 })
    expect((await findingsIn(made)).found).toEqual([{ name: 'lost_newline', ...made.place(2, 2) }])
    made.write(2, one! + changed(two!) + three!, four!)
    expect(await findingsIn(made)).toMatchObject({ entries: 11 })
    const place = { segment: 2, line: 1, offset: one!.length, bytes: two!.length }
    expect((await findingsIn(made)).found).toEqual([
      { name: 'lost_newline', ...made.place(2, 1) },
      { name: 'changed_line', ...place, ...lost(6) },
    ])
  })

  it('has lost the newline at the end of a file', async () => {
    const made = new HandMade()
    made.mark(12)
    made.edit(2, (text) => text.slice(0, -1))
    expect((await findingsIn(made)).found).toEqual([{ name: 'lost_newline', ...made.place(2, 4) }])
    made.edit(2, (text) => `${text}\x0b`)
    expect((await findingsIn(made)).found).toEqual([{ name: 'lost_newline', ...made.place(2, 4) }])
  })

  it('is not finished, if nobody was told of it', async () => {
    const made = new HandMade()
    made.edit(3, (text) => text.slice(0, -1))
    const { segment, offset, bytes } = made.place(3, 4)
    const torn = [{ segment, offset, bytes, sealed: false }]
    expect(await findingsIn(made)).toMatchObject({ entries: 11, torn, found: [] })
    made.mark(11)
    expect(await findingsIn(made)).toMatchObject({ entries: 11, torn, found: [] })
    made.mark(12)
    const found = [{ name: 'lost_newline', ...made.place(3, 4) }]
    expect(await findingsIn(made)).toMatchObject({ entries: 12, torn: [], found })
  })

  it('is finished, if it was joined with another', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(3)
    made.writeText(3, `${one}\n${two}\n${three}${four}`)
    made.mark(10)
    const found = [{ name: 'lost_newline', ...made.place(3, 3) }]
    expect(await findingsIn(made)).toMatchObject({ entries: 12, torn: [], found })
  })

  it('is of another place', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    const stray = withOwnSum(two!.replace('"seq":6', '"seq":100'))
    made.write(2, one!, '#', stray, two!, three!, four!)
    expect(await findingsIn(made)).toMatchObject({ entries: 12 })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 2) },
      { name: 'stray_line', ...made.place(2, 3) },
    ])
    // It has the number of a line that is there, and the one before is not.
    made.write(2, one!, withOwnSum(three!.replace('words', 'other')), three!, four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'stray_line', ...made.place(2, 2) },
      { name: 'missing_lines', ...made.place(2, 3), ...lost(6) },
    ])
  })

  it('is repeated, or goes back', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    const back = withOwnSum(two!.replace('words', 'other'))
    made.write(2, one!, two!, two!, three!, '#', two!, back, four!, back, made.line(1))
    expect(await findingsIn(made)).toMatchObject({ entries: 12 })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'repeated_line', ...made.place(2, 3), lines: 3 },
      { name: 'changed_line', ...made.place(2, 5) },
      { name: 'backwards_seq', ...made.place(2, 7), lines: 2 },
    ])
  })

  it('is missing', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'missing_lines', ...made.place(2, 2), ...lost(6, 7) },
    ])
    made.write(2, two!, three!, four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'missing_lines', ...made.place(2, 1), ...lost(5) },
    ])
    made.write(2, ...made.in(2))
    made.write(1, ...made.in(1).slice(1))
    expect((await findingsIn(made)).found).toEqual([
      { name: 'missing_lines', ...made.place(1, 1), ...lost(1) },
    ])
    // Nothing tells what was before the first file.
    rmSync(made.path(1))
    made.write(2, two!, three!, four!)
    expect((await findingsIn(made)).found).toEqual([])
  })

  it('at the very end tells what is missing before it', async () => {
    const made = new HandMade()
    made.write(3, ...made.in(3).toSpliced(1, 2))
    expect(await findingsIn(made)).toMatchObject({ entries: 10, messages: 7 })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'missing_lines', ...made.place(3, 2), ...lost(10, 11) },
    ])
  })

  it('was changed: what looks like a line is taken for the one that is lost', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, '', '# a remark', changed(two!), three!, four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'extra_newline', ...made.place(2, 2) },
      { name: 'changed_line', ...made.place(2, 3) },
      { name: 'changed_line', ...made.place(2, 4), ...lost(6) },
    ])
    made.write(2, one!, changed(two!), changed(three!), four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 2), ...lost(6) },
      { name: 'changed_line', ...made.place(2, 3), ...lost(7) },
    ])
    made.write(2, one!, changed(two!), four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 2), ...lost(6) },
      { name: 'missing_lines', ...made.place(2, 3), ...lost(7) },
    ])
    // In the order of the file, whenever each was found.
    made.write(2, one!, changed(two!), `${three}\r`, four!)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(2, 2), ...lost(6) },
      { name: 'crlf', ...made.place(2, 3) },
    ])
  })

  it('does not follow from the one before', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, withOwnSum(changed(two!)), three!, four!)
    expect((await findingsIn(made)).found).toEqual([{ name: 'broken_chain', ...made.place(2, 3) }])
  })

  it('is not the one that was acknowledged', async () => {
    const made = new HandMade()
    made.mark(7, 'f'.repeat(32))
    expect((await findingsIn(made)).found).toEqual([{ name: 'replaced_journal', ...made.place(2, 3) }])
  })

  it('is not the one that was seen from outside', async () => {
    const made = new HandMade()
    const seenIn = (seq: number, sum: string) => ({
      seenIn: (space: string) => (space === madeSpace ? { seq, sum, at: timeOf(7) } : undefined),
    })
    const what = (seq: number) => ({
      what: `the journal was rewritten or cut: entry ${seq} is not the one that was here on 2026-01-02 00:00`,
    })
    const { sum } = made.lines[6]!
    expect((await findingsIn(made, seenIn(7, sum))).found).toEqual([])
    expect((await findingsIn(made, seenIn(7, 'f'.repeat(32)))).found).toEqual([
      { name: 'rewritten_journal', ...made.place(2, 3), ...what(7) },
    ])
    expect((await findingsIn(made, seenIn(12, made.lines[11]!.sum))).found).toEqual([])
    expect((await findingsIn(made, seenIn(13, sum))).found).toEqual([
      { name: 'rewritten_journal', segment: 3, ...what(13) },
    ])
    const empty = new HandMade(0)
    empty.mark(1, sum)
    expect((await findingsIn(empty, seenIn(13, sum))).found).toMatchObject([
      { name: 'missing_segment', segment: 1 },
      { name: 'rewritten_journal', segment: 1 },
    ])
  })

  it('is not valid', async () => {
    const made = new HandMade(1)
    const [line] = goOn(made, 1, numbered(2))
    const what = async (from: string, to: string) => {
      made.write(1, made.line(1), withOwnSum(line!.replace(from, to)))
      const { found } = await findingsIn(made)
      expect(found).toMatchObject([{ name: 'bad_entry', ...made.place(1, 2) }])
      return 'what' in found[0]! && found[0].what
    }
    expect(await what('"seq":2,', '"seq":2,"seq":2,')).toContain('seq')
    expect(await what('"requiresAck":', '"odd":1,"requiresAck":')).toMatch(/^message: ./)
  })

  it('is signed by somebody else, or not any more', async () => {
    const made = new HandMade(1)
    const signed = (draft: MessageDraft): MessageDraft => {
      const key = newSigningKey()
      const signer = { public: key.public, space: madeSpace, sign: signerOf(key) }
      const text = JSON.stringify(['agent-mailbox message', madeSpace, draft.message, []])
      return { ...draft, signature: signTogether([text], signer)[0] }
    }
    const drafts = [
      signed(messageDraft()),
      messageDraft(),
      signed(messageDraft()),
      messageDraft({ from: 'bob' }),
    ]
    made.write(1, made.line(1), ...goOn(made, 1, ...drafts))
    expect(await findingsIn(made)).toMatchObject({ entries: 5, messages: 4, unsigned: [3] })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'forged_entry', ...made.place(1, 4), what: expect.stringContaining('the key of ada') },
    ])
  })
})

describe('a write that was cut off', () => {
  const sealed = (segment: number, offset: number, bytes: number) => ({
    ...{ segment, offset, bytes, sealed: true },
  })

  it('is sealed by the next writer', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    made.write(1, ...made.in(1), fragment, ...goOn(made, 4, sealOf(fragment, offset), numbered(6)))
    const torn = [sealed(1, offset, fragment.length)]
    expect(await findingsIn(made)).toMatchObject({ entries: 6, messages: 4, torn, found: [] })
  })

  it('is sealed with what a torn seal has left', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    const both = `${fragment}\n{"seq`
    made.write(1, ...made.in(1), both, ...goOn(made, 4, sealOf(both, offset), numbered(6)))
    const torn = [sealed(1, offset, fragment.length), sealed(1, offset + fragment.length + 1, 5)]
    expect(await findingsIn(made)).toMatchObject({ torn, found: [] })
  })

  it('is not sealed by a seal of something else', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    for (const seal of [
      sealOf(changed(`words${fragment}`).slice(5), offset + 1),
      { ...sealOf(fragment, offset), digest: '0'.repeat(64) } as Draft,
      sealOf(`${fragment}xx`, offset),
    ]) {
      made.write(1, ...made.in(1), fragment, ...goOn(made, 4, seal, numbered(6)))
      expect((await findingsIn(made)).found).toEqual([
        { name: 'changed_line', ...made.place(1, 5) },
        { name: 'false_seal', ...made.place(1, 6) },
      ])
      expect(await findingsIn(made)).toMatchObject({ torn: [], entries: 6 })
    }
  })

  it('is all that a seal is about', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length + 2
    const seal = goOn(made, 4, sealOf(fragment, offset), numbered(6))
    made.write(1, ...made.in(1), '#', fragment, '#', ...seal)
    expect(await findingsIn(made)).toMatchObject({ torn: [sealed(1, offset, fragment.length)] })
    expect((await findingsIn(made)).found).toEqual([
      { name: 'changed_line', ...made.place(1, 5) },
      { name: 'changed_line', ...made.place(1, 7) },
    ])
  })

  it('stands before the header, and its seal behind it', async () => {
    const made = new HandMade(1)
    made.edit(1, (text) => `${text}#\n`)
    const [head, ...rest] = goOn(made, 4, header(), sealOf(fragment, 0), numbered(7))
    made.write(2, fragment, head!, ...rest)
    expect(await findingsIn(made)).toMatchObject({ entries: 7, torn: [sealed(2, 0, fragment.length)] })
    expect((await findingsIn(made)).found).toEqual([{ name: 'changed_line', ...made.place(1, 5) }])
  })

  it.each(['write_failed', 'sync_failed'] as const)('is left where the next file says %s', async (reason) => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    made.edit(1, (text) => `${text}${fragment}\n`)
    made.write(2, ...goOn(made, 4, header(reason), numbered(6)))
    const torn = [sealed(1, offset, fragment.length)]
    expect(await findingsIn(made)).toMatchObject({ entries: 6, torn, found: [] })
  })

  it('is left without a newline before the next file', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    made.edit(1, (text) => text + fragment)
    made.write(2, ...goOn(made, 4, header(), numbered(6)))
    const torn = [sealed(1, offset, fragment.length)]
    expect(await findingsIn(made)).toMatchObject({ entries: 6, torn, found: [] })
  })

  it('is at the end, and may be sealed later', async () => {
    const made = new HandMade(1)
    const offset = made.text(1).length
    const torn = [{ segment: 1, offset, bytes: fragment.length, sealed: false }]
    made.edit(1, (text) => text + fragment)
    expect(await findingsIn(made)).toMatchObject({ torn, found: [] })
    made.edit(1, (text) => `${text}\n`)
    const found = [{ name: 'changed_line', ...made.place(1, 5) }]
    expect(await findingsIn(made)).toMatchObject({ torn: [], found })
    made.mark(4)
    expect(await findingsIn(made)).toMatchObject({ torn, found: [] })
    // What ends like a line was one.
    const whole = changed(goOn(made, 4, numbered(5))[0]!)
    made.write(1, ...made.in(1), whole)
    expect(await findingsIn(made)).toMatchObject({ torn: [] })
    expect((await findingsIn(made)).found).toEqual([{ name: 'changed_line', ...made.place(1, 5) }])
  })
})

describe('what was acknowledged and is gone', () => {
  it('is the end of the journal', async () => {
    const made = new HandMade()
    made.mark(12)
    made.write(3, ...made.in(3).slice(0, 2))
    expect((await findingsIn(made)).found).toEqual([{ name: 'lost_end', segment: 3, ...lost(11, 12) }])
    made.edit(3, (text) => `${text}${changed(made.line(11))}\n`)
    expect((await findingsIn(made)).found).toEqual([
      { name: 'lost_end', segment: 3, ...lost(12) },
      { name: 'changed_line', ...made.place(3, 3), ...lost(11) },
    ])
  })

  it('is the end of the file before one that says so, and known since then', async () => {
    const made = new HandMade()
    made.write(1, ...made.in(1).toSpliced(1, 1))
    made.write(2, ...made.in(2).slice(0, 2))
    const damage = { kind: 'damage', from: 7, to: 8, segment: 2, offset: 1, bytes: 0 } as const
    made.write(3, ...chain([header('damaged'), damage, numbered(11)], made.lines[7]).map(({ text }) => text))
    expect((await findingsIn(made)).found).toEqual([
      { name: 'missing_lines', ...made.place(1, 2), ...lost(2) },
      { name: 'lost_end', segment: 2, ...lost(7, 8), since: timeOf(10) },
    ])
  })

  it('is known since a repair that did not find it', async () => {
    const made = new HandMade()
    const [one, , three, four] = made.in(2)
    made.write(1, ...made.in(1), '#')
    made.write(2, one!, three!, four!)
    const known = (from: number, to: number): Draft => ({ kind: 'repair', files: [], lost: [{ from, to }] })
    const dated = async (from: number, to: number) => {
      made.write(3, ...goOn(made, 8, header(), known(from, to)))
      return (await findingsIn(made)).found.map((one) => 'since' in one && one.since)
    }
    expect(await dated(6, 6)).toEqual([false, timeOf(10)])
    expect(await dated(1, 6)).toEqual([false, timeOf(10)])
    expect(await dated(6, 7)).toEqual([false, timeOf(10)])
    expect(await dated(7, 9)).toEqual([false, false])
    expect(await dated(1, 5)).toEqual([false, false])
  })

  it('is known since it was found', async () => {
    const made = new HandMade()
    const [one, two, three, four] = made.in(2)
    made.write(2, one!, changed(two!), three!, '#', four!)
    const { offset } = made.place(2, 4)
    const at = timeOf(99)
    const since = async (segment: number, place: number) =>
      (await findingsIn(made, { known: [{ segment, offset: place, at }] })).found.map((one) => one.since)
    expect(await since(2, offset)).toEqual([undefined, at])
    expect(await since(3, offset)).toEqual([undefined, undefined])
    expect(await since(2, offset + 1)).toEqual([undefined, undefined])
    expect(Object.keys((await findingsIn(made)).found[0]!)).not.toContain('since')
  })
})
