import { copyFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
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
  const swap = (one: number, other: number) => {
    renameSync(segmentFile(dir, one), join(dir, 'aside'))
    renameSync(segmentFile(dir, other), segmentFile(dir, one))
    renameSync(join(dir, 'aside'), segmentFile(dir, other))
  }
  const write = (segment: number, ...parts: (Buffer | string)[]) =>
    writeFileSync(segmentFile(dir, segment), Buffer.concat(parts.map((part) => Buffer.from(part))))
  /** As a repair does it: another file takes its place. */
  const replace = (segment: number, ...parts: Buffer[]) => {
    writeFileSync(join(dir, 'other'), Buffer.concat(parts))
    renameSync(join(dir, 'other'), segmentFile(dir, segment))
  }
  return { dir, journal, reader, segments, archive, cursorIn, line, entry, header, swap, write, replace }
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

  it('is read to by as many bytes as were asked for, and to the next entry', () => {
    const { reader, segments, cursorIn, write } = setUp(6)
    const [header, ...lines] = segments[0]!.lines
    const size = lines[0]!.length
    const seqs = (from: Cursor, maxBytes: number) =>
      reader.read(from, maxBytes).entries.map(({ entry }) => entry.seq)
    expect(seqs(startCursor, header!.length)).toEqual([1])
    expect(seqs(cursorIn(1, 1), size)).toEqual([2])
    expect(seqs(cursorIn(1, 1), size + 1)).toEqual([2, 3])
    const changed = Buffer.from(lines[0]!)
    changed[30]! ^= 1
    write(1, header!, changed, ...lines.slice(1))
    expect(seqs(cursorIn(1, 1), size)[0]).toBe(3)
  })

  it('is behind a line whose newline has a flipped bit', () => {
    const { reader, segments, write } = setUp(1)
    const [header, last] = segments[0]!.lines
    write(1, header!, last!.subarray(0, -1), '\x0b')
    const { entries, cursor } = reader.read(startCursor, 1e6)
    expect([entries.length, cursor.offset]).toEqual([2, segments[0]!.size])
  })

  it('of a segment can be half a line, which the next one tells to be a lost record or nothing', () => {
    const lost = (half: string, header: (text: Buffer) => Buffer, isGap: boolean) => {
      const { reader, segments, line, entry, header: begin, write } = setUp(1)
      write(1, ...segments[0]!.lines, half)
      if (isGap) line(entry())
      write(2, header(line(begin('ours'))), line(entry()))
      const { entries, damaged } = reader.read(startCursor, 1e6)
      const place = { segment: 1, offset: segments[0]!.size, bytes: half.length }
      return {
        seqs: entries.map(({ entry: one }) => one.seq),
        lost: damaged.map(({ line: _, seq, ...where }) => [
          seq,
          JSON.stringify(where) === JSON.stringify(place),
        ]),
      }
    }
    const whole = (text: Buffer) => text
    const changed = (text: Buffer) => Buffer.concat([Buffer.from('xxxx'), text.subarray(4)])
    expect(lost('{"seq":3,"at"', whole, true)).toEqual({ seqs: [1, 2, 4, 5], lost: [[3, true]] })
    expect(lost('{"seq":3,"at"', whole, false)).toEqual({ seqs: [1, 2, 3, 4], lost: [] })
    expect(lost('', whole, true)).toEqual({ seqs: [1, 2, 4, 5], lost: [] })
    // What the next one begins with is lost as well.
    expect(lost('{"seq":3,"at"', changed, false).seqs).toEqual([1, 2, 4])
  })

  it('moves on when a file comes behind a gap', () => {
    const { reader, cursorIn, line, entry, write } = setUp(1)
    const behind = { ...cursorIn(1, 2), segment: 9, offset: 0 }
    expect([reader.atEnd(behind), reader.atEnd(behind)]).toEqual([true, true])
    write(12, line(entry()))
    expect(reader.atEnd(behind)).toBe(false)
    expect(reader.read(behind, 1e6).entries.map(({ entry: one }) => one.seq)).toEqual([3])
  })
})

describe('files that change under a reader', () => {
  it('are noticed where the last one is gone or another, and not where one was archived or removed before it', () => {
    const { dir, reader, segments, archive, cursorIn, replace } = setUp(1, 1, 1, 1)
    const looks = (segment: number) => reader.atEnd(cursorIn(segment, 2)) && reader.replaced
    for (const segment of [1, 2, 3, 4]) reader.atEnd(cursorIn(segment, 2))
    archive(1)
    reader.atEnd(cursorIn(1, 2))
    rmSync(segmentFile(dir, 2))
    reader.atEnd(cursorIn(2, 2))
    expect(reader.replaced).toBe(0)
    replace(4, ...segments[3]!.lines)
    expect([looks(4), looks(4)]).toEqual([1, 1])
    rmSync(segmentFile(dir, 4))
    reader.atEnd(cursorIn(4, 2))
    expect(reader.replaced).toBe(2)
    reader.atEnd(cursorIn(4, 2))
    expect(reader.replaced).toBe(2)
  })

  it('are read as they are now', () => {
    const { reader, segments, cursorIn, replace } = setUp(2)
    const [header, one, two] = segments[0]!.lines
    const place = { segment: 1, offset: header!.length + one!.length, bytes: two!.length - 1 }
    const changed = Buffer.from(two!)
    changed[30]! ^= 1
    replace(1, header!, one!, changed)
    expect(reader.at(place)).toBeUndefined()
    replace(1, header!, one!, two!)
    expect(reader.at(place)?.seq).toBe(3)
    expect(reader.fits(cursorIn(1, 3))).toBe(true)
  })

  it('are found although they were swapped', () => {
    const { reader, segments, cursorIn, swap } = setUp(1, 2, 1)
    swap(1, 2)
    // By their numbers, while nobody has asked for more.
    expect([reader.first(1)?.seq, reader.first(2)?.seq]).toEqual([3, 1])
    const [header, one, two] = segments[1]!.lines
    const place = { segment: 2, offset: header!.length + one!.length, bytes: two!.length - 1 }
    expect(reader.at(place)?.seq).toBe(5)
    expect(reader.read(startCursor, 1e6).entries.map(({ entry }) => entry.seq)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7],
    ])
    expect(reader.fits(cursorIn(2, 3))).toBe(true)
  })

  it('have fitting cursors although they were swapped, but no others', () => {
    const { reader, cursorIn, swap } = setUp(1, 2)
    swap(1, 2)
    expect(reader.fits({ ...cursorIn(2, 3), sum: 'f'.repeat(32) })).toBe(false)
    swap(1, 2)
    const other = setUp(1, 2)
    other.swap(1, 2)
    expect(other.reader.fits(other.cursorIn(2, 3))).toBe(true)
  })

  it('are put in order by those of this space alone', () => {
    const { reader, line, entry, header, write } = setUp(1)
    for (let n = 0; n < 4; n++) line(entry())
    const theirs = line(header('theirs'))
    write(2, theirs)
    const later = setUp(1)
    const [, two] = [later.line(later.entry()), later.line(later.header('ours'))]
    write(3, two!)
    reader.space = 'ours'
    expect(reader.reorder()).toBe(false)
    reader.space = undefined
    expect(reader.reorder()).toBe(true)
  })

  it('fit no cursor where nothing is, but the first one', () => {
    const { reader } = setUp()
    expect(reader.fits(startCursor)).toBe(true)
    const { reader: other, cursorIn } = setUp(2)
    expect(other.fits({ ...cursorIn(1, 3), segment: 9, offset: 0 })).toBe(false)
    expect(other.fits({ ...cursorIn(1, 3), offset: cursorIn(1, 3).offset + 5 })).toBe(false)
  })

  it('lack a line that they end before or within', () => {
    const { dir, reader, segments } = setUp(2)
    const [first, second] = segments[0]!.lines.map((line) => line.length)
    const place = { segment: 1, offset: first!, bytes: second! - 1 }
    for (const size of [first! + second! - 1, first! + 10, first!]) {
      truncateSync(segmentFile(dir, 1), size)
      expect(reader.damageAt(place), String(size)).toEqual({ ...place, line: 2 })
    }
  })

  it('that are copies belong to nobody', () => {
    const { dir, reader } = setUp(1, 1)
    copyFileSync(segmentFile(dir, 1), segmentFile(dir, 2))
    expect([reader.isOurs(1), reader.isOurs(2)]).toEqual([true, false])
  })
})
