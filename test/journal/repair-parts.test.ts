import { hash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { archivedPath } from '../../src/journal/file/archive.ts'
import { archiveDirOf } from '../../src/journal/file/segment.ts'
import { assemble } from '../../src/journal/repair/assemble.ts'
import { type FoundRecord, type Item, isRecord, itemsOf } from '../../src/journal/repair/items.ts'
import { isIn, Pool } from '../../src/journal/repair/pool.ts'
import { gunzipWhatGoes, isSealed, isSound, linkOf, scanJournal } from '../../src/journal/repair/scan.ts'
import type { Draft } from '../../src/model/entry.ts'
import { chain, HandMade, header, madeSpace, numbered, timeOf, usualLines } from '../helpers/hand-made.ts'
import { withOwnSum } from '../helpers/segments.ts'

const lines = usualLines(2)
const [one, two, three, four] = lines.map(({ text }) => text) as [string, string, string, string]
const ended = (...texts: string[]) => texts.map((text) => `${text}\n`).join('')
const items = (text: string) => itemsOf(Buffer.from(text, 'latin1'))
const recordsIn = (text: string): FoundRecord[] => items(text).filter(isRecord)
const changed = (text: string) => text.replace('words', 'noise')
const fragment = '{"seq":7,"at":"20'
const sealOf = (text: string, offset: number) => ({
  ...{ kind: 'torn' as const, offset, bytes: text.length },
  digest: hash('sha256', Buffer.from(text, 'latin1'), 'hex'),
})
const following = (after: number, ...drafts: Draft[]) =>
  chain(drafts, lines[after - 1]).map(({ text }) => text)

/** What a file was taken apart into, in short. */
const shortOf = (item: Item) =>
  isRecord(item)
    ? { seq: item.seq, offset: item.offset, bytes: item.line.length, intact: item.intact }
    : { junk: item.bytes.toString('latin1'), offset: item.offset, ended: item.ended }

describe('a file that is taken apart', () => {
  it('has records and junk, each with its place', () => {
    const text = `${ended(one, '# remark', '', two)}${fragment}`
    const [atTwo, atEnd] = [one.length + 11, text.length - fragment.length]
    expect(items(text).map(shortOf)).toEqual([
      { seq: 1, offset: 0, bytes: one.length, intact: true },
      { junk: '# remark', offset: one.length + 1, ended: true },
      { junk: '', offset: one.length + 10, ended: true },
      { seq: 2, offset: atTwo, bytes: two.length, intact: true },
      { junk: fragment, offset: atEnd, ended: false },
    ])
    expect(items('')).toEqual([])
  })

  it('has lines that were joined', () => {
    const joined = one + changed(two) + three
    const pieces = [
      { seq: 1, offset: 3, bytes: one.length, intact: false },
      { junk: changed(two), offset: 3 + one.length, ended: true },
      { seq: 3, offset: 3 + one.length + two.length, bytes: three.length, intact: false },
    ]
    expect(items(`ab\n${joined}\n`).slice(1).map(shortOf)).toEqual(pieces)
    expect(items(`ab\n${joined}`).slice(1).map(shortOf)).toEqual(pieces)
    const broken = { junk: changed(two), offset: one.length }
    expect(items(one + changed(two)).map(shortOf)[1]).toEqual({ ...broken, ended: false })
    expect(items(`${one}${changed(two)}\n`).map(shortOf)[1]).toEqual({ ...broken, ended: true })
  })

  it('has a last line without its newline', () => {
    expect(items(one).map(shortOf)).toEqual([{ seq: 1, offset: 0, bytes: one.length, intact: false }])
  })
})

describe('a file is sound', () => {
  const after = ended(one, two)
  const sealed = (text: string, offset = after.length) =>
    ended(one, two, text, ...following(2, sealOf(text, offset), numbered(4)))
  it.each<[string, boolean, string]>([
    ['as it was written', true, ended(one, two, three)],
    ['from its middle on', true, ended(two, three)],
    ['with nothing in it', false, ''],
    ['with no record', false, fragment],
    ['with a gap', false, ended(one, three)],
    ['with another link', false, ended(one, withOwnSum(changed(two)), three)],
    [
      'with a number that is right and a link that is not',
      false,
      ended(one, two.replace('"prev":"', '"prev":"0')),
    ],
    ['with a line that was joined', false, ended(one + two, three)],
    ['with a line that has no newline', false, ended(one) + two],
    ['with a sealed fragment', true, sealed(fragment)],
    ['with a seal for two lines', true, sealed(`${fragment}\n{"s`)],
    ['with a seal for another place', false, sealed(fragment, after.length + 1)],
    ['with a seal and nothing for it', false, ended(one, two, ...following(2, sealOf('x', after.length)))],
    ['with a fragment and no seal', false, ended(one, fragment, two)],
    ['with a fragment at the end', true, ended(one, two) + fragment],
    ['with a line at the end that is none', false, ended(one, two, fragment)],
    ['with two of them', false, ended(one, two, '#') + fragment],
    ['with a fragment at the start', false, `#\n${ended(one, two)}`],
  ])('%s: %s', (_, sound, text) => {
    expect(isSound(items(text))).toBe(sound)
  })

  it('if its fragments are what was sealed', () => {
    const junk = (...texts: string[]) =>
      texts.map((text, at) => ({ bytes: Buffer.from(text), offset: at, ended: at < texts.length - 1 }))
    const seal = sealOf('ab\ncd', 0)
    expect(isSealed(junk('ab', 'cd'), seal)).toBe(true)
    expect(isSealed(junk('ab', 'cd', ''), seal)).toBe(true)
    expect(isSealed(junk('ab', 'cdx'), seal)).toBe(true)
    expect(isSealed(junk('ab', 'cdxy'), seal)).toBe(false)
    expect(isSealed(junk('ab', 'c'), seal)).toBe(false)
    expect(isSealed(junk('ab'), { ...seal, digest: hash('sha256', 'ab', 'hex') })).toBe(false)
    expect(isSealed(junk('ab', 'ce'), seal)).toBe(false)
  })
})

describe('a journal that is scanned', () => {
  const links = ({ lines: made }: HandMade, first: number, last: number) => ({
    first: expect.objectContaining({ seq: first, sum: made[first - 1]!.sum, at: timeOf(first) }),
    last: expect.objectContaining({ seq: last, sum: made[last - 1]!.sum, at: timeOf(last) }),
  })

  it('is described by the ends of its files, and by what is in those that are not sound', () => {
    const made = new HandMade(4)
    made.write(2)
    made.write(3, ...chain([header('size', 'another'), numbered(2)]).map(({ text }) => text))
    made.edit(4, (text) => text + fragment)
    mkdirSync(archiveDirOf(made.dir))
    const packed = gzipSync(made.text(1))
    writeFileSync(archivedPath(made.dir, 1, timeOf(1)), packed)
    rmSync(made.path(1))
    const seen: number[][] = []
    const scanned = scanJournal(made.dir, madeSpace, (done, total) => seen.push([done, total]))
    expect(seen).toEqual([0, 1, 2, 3].map((done) => [done, 4]))
    const usual = { archived: false, foreign: false, unpackable: false }
    const size = (segment: number) => ({
      segment,
      path: made.path(segment),
      fileBytes: made.text(segment).length,
    })
    expect(scanned).toEqual([
      {
        ...{ ...usual, segment: 1, archived: true, fileBytes: packed.length, ...links(made, 1, 4) },
        path: archivedPath(made.dir, 1, timeOf(1)),
      },
      { ...usual, ...size(2), items: [], bytes: Buffer.alloc(0) },
      {
        ...{ ...usual, ...size(3), foreign: true },
        ...{ items: expect.any(Array), bytes: Buffer.from(made.text(3), 'latin1') },
        ...{ first: expect.objectContaining({ seq: 1 }), last: expect.objectContaining({ seq: 2 }) },
      },
      {
        ...{ ...usual, ...size(4), ...links(made, 13, 16) },
        ...{ items: expect.any(Array), bytes: Buffer.from(made.text(4), 'latin1') },
      },
    ])
  })

  it('has a file that can be unpacked in part', () => {
    const made = new HandMade(2)
    mkdirSync(archiveDirOf(made.dir))
    const path = archivedPath(made.dir, 1, timeOf(1))
    writeFileSync(path, gzipSync(made.text(1), { level: 0 }).subarray(0, 700))
    rmSync(made.path(1))
    const [scanned] = scanJournal(made.dir, madeSpace)
    expect(scanned).toMatchObject({ unpackable: true, archived: true, foreign: false })
    expect(ended(...made.in(1))).toContain(scanned!.bytes!.toString('latin1'))
    expect(scanned!.bytes!.length).toBeGreaterThan(600)
  })

  it('has headers of this space, if one of them is', () => {
    const made = new HandMade(1)
    made.write(1, made.line(1), ...following(1, header('size', 'another')))
    expect(scanJournal(made.dir, madeSpace)).toMatchObject([{ foreign: false }])
    made.write(1, made.line(2), made.line(3))
    expect(scanJournal(made.dir, madeSpace)).toMatchObject([{ foreign: false }])
    expect(scanJournal(made.dir, madeSpace)[0]).not.toHaveProperty('items')
  })

  it('unpacks what goes', () => {
    const text = Buffer.from(ended(one, two, three, four))
    const packed = gzipSync(text)
    expect(gunzipWhatGoes(packed)).toEqual({ bytes: text, whole: true })
    const cut = gunzipWhatGoes(packed.subarray(0, -9))
    expect(cut.whole).toBe(false)
    expect(text.subarray(0, cut.bytes.length)).toEqual(cut.bytes)
    expect(cut.bytes.length).toBeGreaterThan(100)
    const stored = gzipSync(text, { level: 0 })
    stored[stored.length - 6]! ^= 1
    // Only its check is wrong.
    expect(gunzipWhatGoes(stored)).toEqual({ bytes: text, whole: false })
    expect(gunzipWhatGoes(Buffer.from('no gzip at all'))).toEqual({ bytes: Buffer.alloc(0), whole: false })
  })
})

describe('a pool of records', () => {
  const all = recordsIn(ended(...lines.map(({ text }) => text)))
  const at = (seq: number) => all[seq - 1]!
  /** The same number, and another content. */
  const rival = (seq: number) => recordsIn(ended(withOwnSum(changed(lines[seq - 1]!.text))))[0]!
  const offer = (pool: Pool, ...records: FoundRecord[]) => {
    for (const record of records) pool.offer({ record, home: 1 })
  }
  const chosen = (pool: Pool) =>
    [...pool.chosen].sort(([a], [b]) => a - b).map(([seq, { record }]) => [seq, record.sum])
  const sums = (...seqs: number[]) => seqs.map((seq) => [seq, at(seq).sum])
  const run = (pool: Pool, from: number, to: number) => pool.addRun(linkOf(at(from)), linkOf(at(to)))
  /** Chooses nothing that is only not spoken against. */
  const nowhere = [Number.POSITIVE_INFINITY, 0] as const

  it('chooses what the record after it proves', () => {
    const pool = new Pool()
    run(pool, 5, 8)
    offer(pool, rival(2), at(2), rival(4), at(4), rival(3), at(3))
    pool.choose(...nowhere)
    expect(chosen(pool)).toEqual(sums(2, 3, 4))
  })

  it('chooses what the record before it proves', () => {
    const pool = new Pool()
    run(pool, 1, 4)
    offer(pool, at(8), at(6), at(5), at(7))
    pool.choose(...nowhere)
    expect(chosen(pool)).toEqual(sums(5, 6, 7, 8))
    const first = new Pool()
    offer(first, at(1), at(2))
    first.choose(...nowhere)
    expect(chosen(first)).toEqual(sums(1, 2))
  })

  it('chooses nothing that nothing proves, but what nothing speaks against in a range', () => {
    const pool = new Pool()
    offer(pool, at(3), at(5), at(7))
    pool.choose(...nowhere)
    expect(chosen(pool)).toEqual([])
    pool.choose(4, 6)
    expect(chosen(pool)).toEqual(sums(5))
    pool.choose(7, 7)
    expect(chosen(pool)).toEqual(sums(5, 7))
    pool.choose(3, 3)
    expect(chosen(pool)).toEqual(sums(3, 5, 7))
  })

  it('does not choose what its neighbours speak against, before all else is done', () => {
    const pool = new Pool()
    run(pool, 1, 2)
    run(pool, 5, 8)
    const stranger = recordsIn(ended(withOwnSum(three.replace(/"prev":"\w{8}/, '"prev":"00000000'))))[0]!
    offer(pool, stranger, rival(4))
    pool.choose()
    expect(chosen(pool)).toEqual([])
    pool.chooseRest()
    expect(chosen(pool)).toEqual([
      [3, stranger.sum],
      [4, rival(4).sum],
    ])
    offer(pool, at(3), at(4))
    pool.choose()
    pool.chooseRest()
    expect(chosen(pool)[0]).toEqual([3, stranger.sum])
  })

  it('keeps what it has', () => {
    const pool = new Pool()
    run(pool, 2, 4)
    offer(pool, at(2), at(3), at(4))
    pool.choose()
    pool.chooseRest()
    expect(chosen(pool)).toEqual([])
    expect([1, 2, 3, 4, 5].map((seq) => pool.has(seq))).toEqual([false, true, true, true, false])
  })

  it('knows links, gaps and ends', () => {
    const pool = new Pool()
    expect([pool.lowest, pool.highest, pool.gaps(1)]).toEqual([Number.POSITIVE_INFINITY, 0, []])
    run(pool, 3, 5)
    offer(pool, at(7), at(2))
    pool.choose()
    expect([2, 3, 4, 5, 7].map((seq) => pool.linkAt(seq)?.seq)).toEqual([2, 3, undefined, 5, 7])
    expect(pool.linkAt(7)).toEqual({ seq: 7, sum: at(7).sum, prev: at(6).sum, at: timeOf(7) })
    expect(pool.linkAt(0)).toMatchObject({ seq: 0, sum: at(1).prev })
    expect([pool.linkAt(1), pool.linkAt(6)]).toEqual([undefined, undefined])
    expect([pool.lowest, pool.highest]).toEqual([2, 7])
    expect(pool.gaps(1)).toEqual([
      { from: 1, to: 1 },
      { from: 6, to: 6 },
    ])
    expect(pool.gaps(3)).toEqual([{ from: 6, to: 6 }])
    expect([1, 2, 5, 6, 7].map((seq) => isIn([{ from: 2, to: 5 }], seq))).toEqual([
      ...[false, true, true, false, false],
    ])
  })
})

describe('a file that is put together', () => {
  const nothingLost = () => false
  const put = (
    text: string,
    isLost: (after: number, before: number) => boolean = nothingLost,
    records?: FoundRecord[],
  ) =>
    assemble({
      ...{ items: items(text), isLost },
      records: (records ?? recordsIn(text)).toSorted((a, b) => a.seq - b.seq),
    }).toString('latin1')

  it('has its records in order, on lines of their own', () => {
    expect(put(ended(three, one) + two)).toBe(ended(one, two, three))
    expect(put(ended(one + two, '# remark', three))).toBe(ended(one, two, three))
    expect(put('')).toBe('')
  })

  it('keeps what is no record where a record is lost', () => {
    const text = ended('#0', one, '#1\r', '#1b', three, '#3')
    const asked: number[][] = []
    const kept = put(text, (after, before) => {
      asked.push([after, before])
      return after === 1
    })
    expect(kept).toBe(ended(one, '#1', '#1b', three))
    expect(asked).toEqual([
      [0, 1],
      [1, 3],
      [1, 3],
      [3, Number.POSITIVE_INFINITY],
    ])
    expect(put(text, (after) => after === 0)).toBe(ended('#0', one, three))
    expect(put(text, (after) => after === 3)).toBe(ended(one, three, '#3'))
    // Between records that belong here: others do not count.
    expect(
      put(text, (after, before) => after === 1 && before === Number.POSITIVE_INFINITY, recordsIn(ended(one))),
    ).toBe(ended(one, '#1', '#1b', '#3'))
  })

  it('keeps a write at the end that may be sealed later', () => {
    expect(put(ended(one, two) + fragment)).toBe(ended(one, two) + fragment)
    expect(put(ended(one, two, fragment))).toBe(ended(one, two))
    expect(put(ended(one, fragment, two) + fragment)).toBe(ended(one, two) + fragment)
    // It does not stand behind the last record any more.
    expect(put(ended(two, one) + fragment)).toBe(ended(one, two))
  })

  it('keeps writes that were cut off and sealed', () => {
    const start = ended(one, two)
    const rest = following(2, sealOf(fragment, start.length), numbered(4))
    const text = ended(one, two, fragment, ...rest)
    expect(put(text)).toBe(text)
    expect(put(text.replaceAll('\n', '\r\n'))).toBe(text)
    expect(put(ended(fragment, one, two, ...rest))).toBe(text)
    expect(put(ended(one, fragment, two, ...rest))).toBe(text)
    expect(put(ended(one, two, ...rest, fragment))).toBe(text)
    // Its place is known from the seal even if more has come before it.
    expect(put(ended(one, two, ...rest))).toBe(ended(one, two, ...rest))
    const both = `${fragment}\n{"se`
    const sealed = ended(one, two, both, ...following(2, sealOf(both, start.length)))
    expect(put(sealed)).toBe(sealed)
    expect(put(sealed.replaceAll('\n', '\r\n'))).toBe(sealed)
    const withEnd = `${fragment}\n`
    const whole = start + withEnd + ended(...following(2, sealOf(withEnd, start.length)))
    expect(put(whole)).toBe(whole)
    // The seal stands right behind it, and says that it was further on.
    const far = ended(one, two, fragment, ...following(2, sealOf(fragment, 99_999), numbered(4)))
    expect(put(far)).toBe(far)
  })
})
