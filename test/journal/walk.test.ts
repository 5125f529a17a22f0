import { describe, expect, it } from 'vitest'
import { decodeLine, noSum } from '../../src/journal/codec.ts'
import { LineWalk, lastIn } from '../../src/journal/file/line-walk.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { upTo } from '../helpers/drafts.ts'
import { encodeLine } from '../helpers/segments.ts'

const at = '2026-01-02T03:04:05.678Z'
const lines: { text: Buffer; sum: string }[] = []
for (const seq of upTo(9)) {
  const draft = { kind: 'torn', offset: 100_000 + seq, bytes: 1, digest: `line ${seq}` } as const
  lines.push(encodeLine(draft, seq, at, lines.at(-1)?.sum ?? noSum))
}
const line = (seq: number) => lines[seq - 1]!.text
const sumOf = (seq: number) => lines[seq - 1]!.sum
/** All are as long. */
const length = line(1).length
const changed = (seq: number) => {
  const bytes = Buffer.from(line(seq))
  bytes[30]! ^= 1
  return bytes
}
const half = (seq: number) => line(seq).subarray(0, 40)

/** What is found on a way through these bytes, in one piece unless it says otherwise. */
function walk(bytes: Buffer | Buffer[], from = startCursor) {
  const way = new LineWalk(from, decodeLine)
  for (const chunk of Array.isArray(bytes) ? bytes : [bytes]) way.take(chunk)
  return way
}
function found(way: LineWalk<never> | ReturnType<typeof walk>) {
  way.end()
  return {
    seqs: way.entries.map(({ entry }) => entry.seq),
    places: way.entries.map(({ place }) => place.offset),
    lost: way.lost.map(({ seq, offset, bytes }) => [seq, offset, bytes]),
    end: way.cursor.offset,
    seq: way.cursor.seq,
  }
}
const all = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))

describe('a way through lines', () => {
  it('takes each with its place, and stands behind the last', () => {
    const way = walk(all(line(1), line(2), line(3)))
    expect(way.entries.map(({ place }) => place)).toEqual(
      [0, 1, 2].map((n) => ({ segment: 1, offset: n * length, bytes: length - 1 })),
    )
    expect(way.cursor).toEqual({ segment: 1, offset: 3 * length, seq: 3, sum: sumOf(3) })
    expect(found(way)).toMatchObject({ seqs: [1, 2, 3], lost: [] })
  })

  it('goes on where the last portion ended, and does not move the cursor it was given', () => {
    const from = { segment: 4, offset: 2 * length, seq: 2, sum: sumOf(2) }
    const way = walk([line(3), line(4)], from)
    expect(found(way)).toMatchObject({ seqs: [3, 4], places: [2 * length, 3 * length], end: 4 * length })
    expect(way.entries[0]!.place.segment).toBe(4)
    expect(from.offset).toBe(2 * length)
  })

  it('waits in front of half a line', () => {
    const way = walk(all(line(1), half(2)))
    expect([way.cursor.offset, way.isUnsettled]).toEqual([length, false])
    expect(found(way)).toMatchObject({ seqs: [1], lost: [], end: length })
    expect(walk(half(1)).isUnsettled).toBe(true)
  })

  it('steps over a changed line, which is one lost record', () => {
    const way = walk(all(line(1), changed(2), line(3)))
    expect(found(way)).toEqual({
      ...{ seqs: [1, 3], places: [0, 2 * length], lost: [[2, length, length - 1]] },
      ...{ end: 3 * length, seq: 3 },
    })
    expect(way.cursor.sum).toBe(sumOf(3))
  })

  it('counts a changed line at the end as lost, and keeps what stands for its sum', () => {
    const way = walk(all(line(1), changed(2)))
    expect([way.cursor.offset, way.cursor.seq, way.isUnsettled]).toEqual([2 * length, 2, true])
    expect(way.cursor.sum).toBe(sumOf(2))
    expect(found(way)).toMatchObject({ seqs: [1], lost: [[2, length, length - 1]], seq: 2 })
  })

  it('names each of several in a row', () => {
    expect(found(walk(all(line(1), changed(2), changed(3), line(4))))).toMatchObject({
      ...{
        seqs: [1, 4],
        lost: [
          [2, length, length - 1],
          [3, 2 * length, length - 1],
        ],
      },
    })
  })

  it('counts the two halves of a line as one record', () => {
    const broken = Buffer.from(line(2))
    broken[50] = 0x0a
    expect(found(walk(all(line(1), broken, line(3))))).toMatchObject({
      ...{ seqs: [1, 3], lost: [[2, length, length - 1]], end: 3 * length },
    })
  })

  it('counts nothing as lost where no seq is missing', () => {
    const rest = all(half(2), '\n')
    expect(found(walk(all(line(1), rest, line(2))))).toMatchObject({
      seqs: [1, 2],
      lost: [],
      end: 2 * length + 41,
    })
  })

  it('counts what was cut off and sealed as nothing', () => {
    const seal = encodeLine({ kind: 'torn', offset: length, bytes: 40, digest: 'd' }, 2, at, sumOf(1))
    expect(found(walk(all(line(1), half(2), '\n', seal.text)))).toMatchObject({ seqs: [1, 2], lost: [] })
    const false1 = encodeLine({ kind: 'torn', offset: length + 1, bytes: 40, digest: 'd' }, 3, at, sumOf(1))
    expect(found(walk(all(line(1), half(2), '\n', false1.text)))).toMatchObject({
      seqs: [1, 3],
      lost: [[2, length, 40]],
    })
  })

  it('names the surest of what may have been a record', () => {
    // A half line and a changed line, and one record is missing: it is the one that ends like a line.
    const way = walk(all(line(1), half(2), '\n', changed(2), line(3)))
    expect(found(way)).toMatchObject({ seqs: [1, 3], lost: [[2, length + 41, length - 1]] })
  })

  it('steps over empty lines, a copy of an older line, and a line of another place', () => {
    expect(found(walk(all(line(1), '\n', '\r\n', line(2))))).toMatchObject({ seqs: [1, 2], lost: [] })
    expect(found(walk(all(line(1), line(2), line(1), line(3))))).toMatchObject({ seqs: [1, 2, 3], lost: [] })
    expect(found(walk(all(line(1), line(7), line(2), line(3))))).toMatchObject({
      seqs: [1, 2, 3],
      lost: [],
      end: 4 * length,
    })
  })

  it('goes on behind missing lines, with nothing to name', () => {
    expect(found(walk(all(line(1), line(4), line(5))))).toMatchObject({ seqs: [1, 4, 5], lost: [], seq: 5 })
    expect(found(walk(all(line(1), line(4))))).toMatchObject({ seqs: [1, 4], lost: [] })
  })

  it('takes lines that were joined, one whose newline changed at the very end included', () => {
    const joined = all(line(1).subarray(0, -1), line(2))
    expect(found(walk(joined))).toMatchObject({
      seqs: [1, 2],
      places: [0, length - 1],
      lost: [],
      end: 2 * length - 1,
    })
    const way = walk(line(1))
    const unended = all(line(2).subarray(0, -1), '\x0b')
    way.takeUnended(unended)
    expect(found(way)).toMatchObject({ seqs: [1, 2], places: [0, length], end: 2 * length })
    for (const rest of [
      half(2),
      line(2).subarray(0, -1),
      all(changed(2).subarray(0, -1), '\x0b'),
      Buffer.alloc(0),
    ]) {
      const other = walk(line(1))
      other.takeUnended(rest)
      expect(found(other)).toMatchObject({ seqs: [1], end: length })
    }
  })

  it('leaves a segment with what is no line in it, and the next entry tells whether that was a record', () => {
    const left = (next: Buffer) => {
      const way = walk(all(line(1), half(2)))
      way.leave({ segment: 1, offset: length, bytes: 40 }, 2)
      expect([way.cursor.segment, way.cursor.offset, way.isUnsettled]).toEqual([2, 0, true])
      way.take(next)
      return { ...found(way), segments: way.lost.map(({ segment }) => segment) }
    }
    expect(left(line(2))).toMatchObject({ seqs: [1, 2], lost: [] })
    expect(left(line(3))).toMatchObject({ seqs: [1, 3], lost: [[2, length, 40]], segments: [1] })
    const clean = walk(line(1))
    clean.leave(undefined, 5)
    expect([clean.cursor.segment, clean.isUnsettled]).toEqual([5, false])
  })

  it('waits with bytes that are not explained until something follows', () => {
    const way = walk(all(line(1), half(2), '\n'))
    expect(way.cursor.offset).toBe(length)
    expect(found(way)).toMatchObject({ seqs: [1], lost: [] })
  })

  it('takes the end of a closed segment as a line if the next segment goes on after it', () => {
    const unended = (seq: number) => line(seq).subarray(0, -1)
    const last = (rest: Buffer, next: number | undefined) => {
      const way = walk(line(1))
      return { isLine: way.takeLast(rest, next), ...found(way) }
    }
    expect(last(unended(2), 3)).toMatchObject({ isLine: true, seqs: [1, 2], places: [0, length], lost: [] })
    expect(last(all(line(2).subarray(0, -1), unended(3)), 4)).toMatchObject({ isLine: true, seqs: [1, 2, 3] })
    for (const next of [2, 4, undefined])
      expect(last(unended(2), next)).toMatchObject({ isLine: false, seqs: [1] })
    expect(last(half(2), 3)).toMatchObject({ isLine: false, seqs: [1] })
  })

  /** A line in two, by a newline within it. */
  const split = (seq: number) => {
    const bytes = Buffer.from(line(seq))
    bytes[50] = 0x0a
    return bytes
  }
  const seal = (seq: number, offset: number, bytes = 40) =>
    encodeLine({ kind: 'torn', offset, bytes, digest: 'd' }, seq, at, sumOf(1)).text
  /** Its first bytes are changed, so it does not begin like a line. */
  const headless = (seq: number) => all('xxxx', line(seq).subarray(4))

  it.each<[string, Buffer | Buffer[], number[], number[][]]>([
    ['a gap at the very beginning', line(4), [4], []],
    ['a gap behind an empty line', all(line(1), '\r\n', line(4)), [1, 4], []],
    ['an empty line at the beginning', all('\n', line(1)), [1], []],
    ['a fragment at the beginning', all(half(1), '\n', line(3)), [3], [[1, 0, 40]]],
    ['two fragments in a row', all(line(1), 'junk\n', half(2), '\n', line(3)), [1, 3], [[2, length, 45]]],
    ['two at the beginning', all('junk\n', half(1), '\n', line(2)), [2], [[1, 0, 45]]],
    ['a split line at the beginning', all(split(1), line(2)), [2], [[1, 0, length - 1]]],
    ['a line without its beginning', all(line(1), headless(2), line(3)), [1, 3], [[2, length, length - 1]]],
    [
      'a split line behind a fragment',
      all(line(1), half(2), '\n', line(2), split(3), line(4)),
      [1, 2, 4],
      [[3, 2 * length + 41, length - 1]],
    ],
    [
      'a split line behind a fragment at the beginning',
      all(half(1), '\n', line(1), split(2), line(3)),
      [1, 3],
      [[2, length + 41, length - 1]],
    ],
    [
      'more missing than there is to name',
      all(line(1), changed(2), line(5)),
      [1, 5],
      [[2, length, length - 1]],
    ],
    ['a fragment that is sealed, and a gap', all(line(1), half(2), '\n', seal(3, length)), [1, 3], []],
    [
      'one that is sealed with what was before',
      all(line(1), half(2), '\n', seal(3, length - 10)),
      [1, 3],
      [],
    ],
    ['one in another portion', [line(1), all(half(2), '\n', seal(3, length))], [1, 3], []],
    [
      'one behind what was sealed',
      all(line(1), half(2), '\n', seal(3, length - 40)),
      [1, 3],
      [[2, length, 40]],
    ],
    [
      'the surer of two',
      all(line(1), half(2), '\n', line(1), changed(2), line(3)),
      [1, 3],
      [[2, 2 * length + 41, length - 1]],
    ],
    [
      'the surer of two at the end',
      all(line(1), half(2), '\n', line(1), changed(2)),
      [1],
      [[2, 2 * length + 41, length - 1]],
    ],
  ] as never)('names what is lost: %s', (_, bytes, seqs, lost) => {
    expect(found(walk(bytes))).toMatchObject({ seqs, lost })
  })

  it.each<[string, Buffer, number[], number[]]>([
    ['a line twice', all(line(1), line(2), line(2), line(3)), [1, 2, 3], [0, 1, 3]],
    ['two lines of another place', all(line(1), line(7), line(7), line(2), line(3)), [1, 2, 3], [0, 3, 4]],
    [
      'a copy of an older line behind a gap',
      all(line(1), line(2), line(4), line(1), line(5)),
      [1, 2, 4, 5],
      [0, 1, 2, 4],
    ],
    [
      'a copy of the last line behind a gap',
      all(line(1), line(2), line(4), line(2), line(5)),
      [1, 2, 4, 5],
      [0, 1, 2, 4],
    ],
    [
      'a line behind which none is complete',
      all(line(1), line(7), line(2).subarray(0, -1), 'x'),
      [1, 7],
      [0, 1],
    ],
  ] as never)('takes lines in their order: %s', (_, bytes, seqs, at) => {
    expect(found(walk(bytes))).toMatchObject({ seqs, places: at.map((n) => n * length) })
  })

  it.each([
    ['a fragment and an empty line', all(line(1), half(2), '\n\n'), length],
    ['the same at the beginning', all(half(1), '\n\n'), 0],
    ['a single letter', all(line(1), 'x\n'), length],
    ['a line that begins like an empty one', all(line(1), '\rjunk\n'), length],
    ['an empty line', all(line(1), '\r\n'), length + 2],
  ])('waits, or not: %s', (_, bytes, offset) => {
    expect(walk(bytes).cursor.offset).toBe(offset)
  })

  it('does not take an end that is none, and names nothing behind a gap', () => {
    const way = walk(line(1))
    way.takeUnended(all(line(2).subarray(0, -1), 'x'))
    expect(way.entries).toHaveLength(1)
    way.takeUnended(all(line(4).subarray(0, -1), '\x0b'))
    expect(found(way)).toMatchObject({ seqs: [1, 4], lost: [] })
    const last = walk(line(1))
    expect(last.takeLast(line(4).subarray(0, -1), 5)).toBe(true)
    expect(found(last)).toMatchObject({ seqs: [1, 4], lost: [] })
  })

  it('prefers what ends like a line to the rest of a segment', () => {
    const way = walk(all(line(1), half(2)))
    way.leave({ segment: 1, offset: length, bytes: 40 }, 2)
    way.take(all(changed(2), line(3)))
    expect(found(way).lost).toEqual([[2, 0, length - 1]])
    expect(way.lost[0]!.segment).toBe(2)
  })

  it('finds the last line from the end', () => {
    const last = (...parts: (Buffer | string)[]) => lastIn(all(...parts), decodeLine)?.seq
    expect(last(line(1), line(2))).toBe(2)
    expect(last('\n', line(1), 'junk\n\n', half(2))).toBe(1)
    expect([last('\njunk\n'), last('\n'), last(''), last(half(1))]).toEqual([
      ...[undefined, undefined, undefined, undefined],
    ])
  })
})
