import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decodeLine, noSum } from '../../src/journal/codec.ts'
import { archiveDirOf, archivedName } from '../../src/journal/file/segment.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { type Cursor, startCursor } from '../../src/journal/journal.ts'
import type { Draft, Entry } from '../../src/model/entry.ts'
import { encodeLine, segmentFile } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'

const at = '2026-01-02T03:04:05.678Z'

/** Segments as they are written: each begins with its header, and has entries behind it. */
function setUp(...counts: number[]) {
  const dir = tempDir()
  const journal = join(dir, 'journal')
  mkdirSync(journal)
  let seq = 0
  let prev = noSum
  const line = (draft: Draft) => {
    const { text, sum } = encodeLine(draft, ++seq, at, prev)
    prev = sum
    return text
  }
  const entry = (): Draft => ({ kind: 'torn', offset: 900_000, bytes: 1, digest: `${seq}` })
  const header = (space: string): Draft => ({ kind: 'segment', format: 1, space, reason: 'size' })
  const segments = counts.map((count, n) => {
    const lines = [line(header('ours')), ...Array.from({ length: count }, () => line(entry()))]
    writeFileSync(segmentFile(dir, n + 1), Buffer.concat(lines))
    return { lines, size: Buffer.concat(lines).length }
  })
  const reader = new SegmentReader<Entry>(journal, decodeLine)
  onTestFinished(() => reader.close())
  const archive = (segment: number) => {
    mkdirSync(archiveDirOf(journal), { recursive: true })
    const bytes = Buffer.concat(segments[segment - 1]!.lines)
    writeFileSync(join(archiveDirOf(journal), archivedName(segment, '2026-01')), gzipSync(bytes))
    rmSync(segmentFile(dir, segment))
  }
  const cursorIn = (segment: number, lines: number): Cursor => {
    const before = segments.slice(0, segment - 1).reduce((sum, { lines: all }) => sum + all.length, 0)
    const taken = segments[segment - 1]!.lines.slice(0, lines)
    const last = taken.at(-1)
    return {
      ...{ segment, seq: before + lines, offset: Buffer.concat(taken).length },
      sum: last === undefined ? '' : decodeLine(last.subarray(0, -1))!.sum,
    }
  }
  return { dir, journal, reader, segments, archive, cursorIn, line, entry, header }
}

describe('a cursor fits', () => {
  it('where the line before it is the one it was read from', () => {
    const { dir, reader, cursorIn } = setUp(2, 1)
    expect(
      [startCursor, cursorIn(1, 1), cursorIn(1, 3), cursorIn(2, 2)].map((one) => reader.fits(one)),
    ).toEqual([...[true, true, true, true]])
    // At the start of a segment the line is in the one before.
    expect(reader.fits({ ...cursorIn(1, 3), segment: 2, offset: 0 })).toBe(true)
    expect(reader.fits({ ...cursorIn(1, 3), sum: 'f'.repeat(32) })).toBe(false)
    expect(reader.fits({ ...cursorIn(1, 3), offset: cursorIn(1, 3).offset - 1 })).toBe(false)
    expect(reader.fits({ ...cursorIn(1, 3), segment: 9 })).toBe(false)
    truncateSync(segmentFile(dir, 1), cursorIn(1, 3).offset - 1)
    expect(reader.fits(cursorIn(1, 3))).toBe(false)
  })

  it('also behind a line that an editor has ended in its own way', () => {
    const { dir, reader, segments, cursorIn } = setUp(1)
    const bytes = Buffer.concat(segments[0]!.lines)
    const ended = (end: string) => Buffer.concat([bytes.subarray(0, -1), Buffer.from(end, 'latin1')])
    for (const [end, extra] of [
      ['\r\n', 1],
      ['\x0b', 0],
    ] as const) {
      writeFileSync(segmentFile(dir, 1), ended(end))
      const { offset } = cursorIn(1, 2)
      expect(reader.fits({ ...cursorIn(1, 2), offset: offset + extra }), JSON.stringify(end)).toBe(true)
    }
    writeFileSync(segmentFile(dir, 1), ended('x'))
    expect(reader.fits(cursorIn(1, 2))).toBe(false)
  })
})

describe('an entry at its place', () => {
  it('is read from the journal or the archive, or not at all', () => {
    const { reader, segments, archive } = setUp(2, 1)
    const place = {
      segment: 1,
      offset: segments[0]!.lines[0]!.length,
      bytes: segments[0]!.lines[1]!.length - 1,
    }
    expect(reader.at(place)?.seq).toBe(2)
    expect(reader.damageAt(place)).toBeUndefined()
    archive(1)
    expect(reader.at(place)?.seq).toBe(2)
    expect(reader.at({ ...place, offset: place.offset + 1 })).toBeUndefined()
    expect(reader.at({ ...place, segment: 7 })).toBeUndefined()
  })

  it('is known to be damaged by where its line is', () => {
    const { dir, reader, segments } = setUp(3)
    const bytes = Buffer.concat(segments[0]!.lines)
    const [first, second] = segments[0]!.lines.map((line) => line.length)
    const place = { segment: 1, offset: first!, bytes: second! - 1 }
    bytes[first! + 30]! ^= 1
    writeFileSync(segmentFile(dir, 1), bytes)
    expect(reader.damageAt(place)).toEqual({ ...place, line: 2 })
    expect(reader.damageAt({ ...place, offset: 0, bytes: first! - 1 })).toBeUndefined()
    for (const wrong of [
      { offset: first! + 1, bytes: second! - 2 },
      { bytes: second! },
      { bytes: second! - 2 },
      { segment: 9 },
    ])
      expect(reader.damageAt({ ...place, ...wrong }), JSON.stringify(wrong)).toBeUndefined()
    // The segment ends before it.
    expect(reader.damageAt({ ...place, bytes: 1e6 })).toMatchObject({ line: 2 })
    const flipped = Buffer.from(bytes)
    flipped[3]! ^= 1
    writeFileSync(segmentFile(dir, 1), flipped)
    expect(reader.damageAt({ segment: 1, offset: 0, bytes: first! - 1 })).toMatchObject({ line: 1 })
    // The newline before it has a flipped bit.
    bytes[first! - 1] = 0x0b
    writeFileSync(segmentFile(dir, 1), bytes)
    expect(reader.damageAt(place)).toMatchObject({ line: 1 })
  })

  it('is counted by its line, whatever was asked before', () => {
    const { dir, reader, segments } = setUp(5, 2)
    for (const [segment, { lines }] of segments.entries()) {
      const bytes = Buffer.concat(lines)
      for (let n = 1, offset = lines[0]!.length; n < lines.length; offset += lines[n++]!.length)
        bytes[offset + 30]! ^= 1
      writeFileSync(segmentFile(dir, segment + 1), bytes)
    }
    const { damaged } = reader.read(startCursor, 1e6)
    expect(damaged.map(({ segment, line, seq }) => [segment, line, seq])).toEqual([
      ...[
        [1, 2, 2],
        [1, 3, 3],
        [1, 4, 4],
        [1, 5, 5],
        [1, 6, 6],
        [2, 2, 8],
        [2, 3, 9],
      ],
    ])
    expect(damaged.toReversed().map((one) => reader.damageAt(one)?.line)).toEqual([3, 2, 6, 5, 4, 3, 2])
  })
})

describe('a segment', () => {
  it('tells its first and last entry, its size and its head, plain or archived', () => {
    const { dir, reader, segments, archive } = setUp(2, 1)
    const facts = (segment: number) => [
      reader.first(segment)?.seq,
      reader.last(segment)?.seq,
      reader.head(segment)?.seq,
      reader.size(segment),
    ]
    expect([facts(1), facts(2), facts(3)]).toEqual([
      [1, 3, 1, segments[0]!.size],
      [4, 5, 4, segments[1]!.size],
      [undefined, undefined, undefined, 0],
    ])
    archive(1)
    expect(facts(1)).toEqual([1, 3, 1, segments[0]!.size])
    const damaged = Buffer.concat(segments[1]!.lines)
    damaged[30]! ^= 1
    writeFileSync(segmentFile(dir, 2), Buffer.concat([damaged, Buffer.from('half a line')]))
    expect(facts(2)).toEqual([5, 5, undefined, segments[1]!.size + 11])
    writeFileSync(segmentFile(dir, 2), 'no line\nat all')
    expect(facts(2)).toEqual([undefined, undefined, undefined, 14])
  })

  it('has its last entry found behind much that is none', () => {
    const { dir, reader, segments } = setUp(1)
    writeFileSync(
      segmentFile(dir, 1),
      Buffer.concat([...segments[0]!.lines, Buffer.from('x\n'.repeat(50_000))]),
    )
    expect(reader.last(1)?.seq).toBe(2)
  })

  it('has a first line, if it is complete and short enough', () => {
    const { dir, reader, segments } = setUp(1)
    expect(reader.firstLine(1)).toEqual(segments[0]!.lines[0]!.subarray(0, -1))
    expect(reader.firstLine(2)).toHaveLength(0)
    writeFileSync(segmentFile(dir, 2), 'half a line')
    writeFileSync(segmentFile(dir, 3), `${'x'.repeat(1_024)}\n`)
    writeFileSync(segmentFile(dir, 4), `${'x'.repeat(1_023)}\n`)
    expect([2, 3, 4].map((segment) => reader.firstLine(segment).length)).toEqual([0, 0, 1_023])
  })

  it("of another space is not read, and one in the wrong place is nobody's to write to", () => {
    const { dir, reader, line, entry, header } = setUp(1, 1)
    writeFileSync(segmentFile(dir, 3), Buffer.concat([line(header('theirs')), line(entry())]))
    expect([1, 2, 3, 4].map((segment) => reader.isForeign(segment))).toEqual([false, false, false, false])
    reader.space = 'ours'
    expect([1, 2, 3, 4].map((segment) => reader.isForeign(segment))).toEqual([false, false, true, false])
    expect([1, 2, 3, 4].map((segment) => reader.isOurs(segment))).toEqual([true, true, false, true])
    const { entries, cursor } = reader.read(startCursor, 1e6)
    expect(entries.map(({ entry: one }) => one.seq)).toEqual([1, 2, 3, 4])
    expect(cursor.segment).toBe(3)
    const other = new SegmentReader<Entry>(join(dir, 'journal'), decodeLine)
    onTestFinished(() => other.close())
    renameSync(segmentFile(dir, 1), segmentFile(dir, 5))
    renameSync(segmentFile(dir, 2), segmentFile(dir, 1))
    renameSync(segmentFile(dir, 5), segmentFile(dir, 2))
    expect([other.isOurs(1), other.isOurs(2)]).toEqual([true, false])
  })

  it('ends in a fragment, or in nothing', () => {
    const { dir, reader, segments, cursorIn } = setUp(1)
    expect(reader.fragment(cursorIn(1, 2))).toBeUndefined()
    expect(reader.fragment({ ...cursorIn(1, 2), segment: 9 })).toBeUndefined()
    writeFileSync(segmentFile(dir, 1), Buffer.concat([...segments[0]!.lines, Buffer.from('half')]))
    expect(reader.fragment(cursorIn(1, 2))).toEqual({ offset: segments[0]!.size, bytes: Buffer.from('half') })
  })
})

describe('the end of the journal', () => {
  it('is behind the last line of the last segment, until more comes', () => {
    const { dir, reader, cursorIn, line, entry } = setUp(1, 1)
    const seen = [cursorIn(1, 2), cursorIn(2, 1), cursorIn(2, 2)].map((cursor) => reader.atEnd(cursor))
    expect(seen).toEqual([false, false, true])
    expect(reader.isCut(cursorIn(2, 2))).toBe(false)
    writeFileSync(segmentFile(dir, 3), line(entry()))
    expect(reader.atEnd(cursorIn(2, 2))).toBe(false)
    expect(reader.read(cursorIn(2, 2), 1).entries.map(({ entry: one }) => one.seq)).toEqual([5])
  })

  it('that was cut off is known by the cursor that was behind it', () => {
    const { dir, reader, segments, cursorIn } = setUp(2)
    truncateSync(segmentFile(dir, 1), segments[0]!.size - 1)
    expect(reader.atEnd(cursorIn(1, 3))).toBe(true)
    expect([
      reader.isCut(cursorIn(1, 3)),
      reader.isCut(cursorIn(1, 2)),
      reader.isCut({ ...cursorIn(1, 3), segment: 2 }),
    ]).toEqual([...[true, false, false]])
  })

  it('is found over segments that are missing, archived or empty', () => {
    const { dir, reader, archive } = setUp(1, 1, 1, 1, 1)
    archive(1)
    archive(2)
    rmSync(segmentFile(dir, 4))
    writeFileSync(segmentFile(dir, 6), '')
    const { entries, cursor } = reader.read(startCursor, 1e6)
    expect(entries.map(({ entry }) => entry.seq)).toEqual([1, 2, 3, 4, 5, 6, 9, 10])
    expect([cursor.segment, reader.atEnd(cursor)]).toEqual([6, true])
    // More segments than are kept open or unpacked, there and back.
    const places = entries.map(({ place }) => place)
    expect([...places, ...places.toReversed()].map((place) => reader.at(place)?.seq)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 9, 10, 10, 9, 6, 5, 4, 3, 2, 1],
    ])
  })

  it('is read to in small portions, never past what was asked for by more than a line', () => {
    const { reader } = setUp(3, 3)
    const seqs: number[][] = []
    for (let cursor: Cursor = startCursor; ; ) {
      const read = reader.read(cursor, 1)
      if (read.entries.length === 0) break
      seqs.push(read.entries.map(({ entry }) => entry.seq))
      cursor = read.cursor
    }
    expect(seqs.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(seqs.every((some) => some.length === 1)).toBe(true)
  })
})
