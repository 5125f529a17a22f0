import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { markFirst, readFirst, writeLowest } from '../../src/journal/file/first-mark.ts'
import { type Head, HeadMark, headPath, readHead } from '../../src/journal/file/head-mark.ts'
import { segmentPath } from '../../src/journal/file/segment.ts'
import { SegmentOrder } from '../../src/journal/file/segment-order.ts'
import { patchFs, systemError } from '../helpers/fs-faults.ts'
import { tempDir } from '../helpers/temp.ts'

const sum = 'a'.repeat(32)
const head = (seq: number, fields: Partial<Head> = {}): Head => ({
  seq,
  segment: 1,
  end: 10 * seq,
  sum,
  ...fields,
})

function marks() {
  const dir = join(tempDir(), 'journal')
  mkdirSync(dir)
  const open = (space = 'ours') => {
    const mark = new HeadMark(dir, space)
    onTestFinished(() => mark.close())
    return mark
  }
  return { dir, path: headPath(dir), open }
}

describe('the mark of what was acknowledged', () => {
  it('is read as it was written, by those who write and those who only read', () => {
    const { dir, path, open } = marks()
    const mark = open()
    expect([readHead(dir), mark.beyond(0), mark.sumAt(0)]).toEqual([undefined, undefined, undefined])
    mark.write(head(7, { segment: 123_456_789, end: 987_654_321 }))
    const written = { seq: 7, segment: 123_456_789, end: 987_654_321, sum, space: 'ours' }
    expect(readHead(dir)).toEqual(written)
    expect([readHead(dir, 'ours'), readHead(dir, 'theirs')]).toEqual([written, undefined])
    expect([mark.beyond(6), mark.beyond(7), mark.beyond(8)]).toEqual([written, undefined, undefined])
    expect([mark.sumAt(7), mark.sumAt(6)]).toEqual([sum, undefined])
    expect([statSync(path).mode & 0o777, statSync(path).size]).toEqual([0o600, 4_096])
  })

  it('only goes on', () => {
    const { dir, open } = marks()
    const mark = open()
    for (const seq of [5, 4, 5]) mark.write(head(seq, { end: seq * 100 + seq }))
    expect(readHead(dir)).toMatchObject({ seq: 5, end: 505 })
    mark.write(head(4))
    mark.write(head(5, { end: 1 }))
    expect(readHead(dir)).toMatchObject({ seq: 5, end: 505 })
    mark.write(head(1_000_000_000_000))
    expect(readHead(dir)!.seq).toBe(1_000_000_000_000)
  })

  it('is the highest of all writers, each in a slot of its own', () => {
    const { dir, path, open } = marks()
    for (let n = 1; n <= 8; n++) {
      const mark = open()
      mark.beyond(0)
      mark.write(head(n))
    }
    expect(readHead(dir)!.seq).toBe(8)
    const slots = readFileSync(path, 'latin1').match(/.{127}\n/g)!
    expect(slots).toHaveLength(32)
    expect(slots.filter((slot) => slot.trim() !== '')).toHaveLength(8)
  })

  it('does not write over a mark that is newer than its own', () => {
    const { dir, path, open } = marks()
    const mark = open()
    mark.write(head(1))
    // Another process took the same slot.
    const text = readFileSync(path, 'latin1')
    const slot = text.search(/\d/)
    const other = marks()
    const foreign = new HeadMark(other.dir, 'ours')
    foreign.write(head(9))
    foreign.close()
    const newer = readFileSync(other.path, 'latin1').match(/\d.{126}\n/)![0]
    writeFileSync(path, text.slice(0, slot) + newer + text.slice(slot + 128), 'latin1')
    expect(mark.beyond(1)).toMatchObject({ seq: 9 })
    mark.write(head(5))
    expect(readHead(dir)!.seq).toBe(9)
    expect(readFileSync(path, 'latin1').match(/^ *0{15}[59]/gm)).toHaveLength(2)
  })

  it('that is damaged or of another space leaves the next best', () => {
    const { dir, path, open } = marks()
    const [one, two, other] = [open(), open(), open('theirs')]
    for (const [mark, seq] of [
      [one, 5],
      [two, 6],
      [other, 9],
    ] as const) {
      mark!.beyond(0)
      mark!.write(head(seq))
    }
    expect([readHead(dir)!.seq, readHead(dir, 'ours')!.seq, one!.beyond(0)!.seq]).toEqual([9, 6, 6])
    const text = readFileSync(path, 'latin1')
    const spoil = (from: string, to: string) => writeFileSync(path, text.replace(from, to), 'latin1')
    spoil('0000000000000006 00000001', '0000000000000006 00000002')
    expect(readHead(dir, 'ours')!.seq).toBe(5)
    spoil('0000000000000006', '000000000000000x')
    expect(readHead(dir, 'ours')!.seq).toBe(5)
    spoil(`6 ${'0'.repeat(7)}1 ${'0'.repeat(6)}60 a`, `6 ${'0'.repeat(7)}1 ${'0'.repeat(6)}60 z`)
    expect(readHead(dir, 'ours')!.seq).toBe(5)
    spoil('0000000000000006', '0000000000000008')
    expect([readHead(dir, 'ours')!.seq, one!.beyond(5)]).toEqual([5, undefined])
  })

  it('is written again when its file was taken away, and never through a link', () => {
    const { dir, path, open } = marks()
    const mark = open()
    mark.write(head(3))
    rmSync(path)
    expect(readHead(dir)).toBeUndefined()
    const later = open()
    later.write(head(4))
    expect(readHead(dir)!.seq).toBe(4)
    rmSync(path)
    const target = join(tempDir(), 'elsewhere')
    writeFileSync(target, 'untouched')
    symlinkSync(target, path)
    const linked = open()
    linked.write(head(5))
    expect([linked.beyond(0), linked.sumAt(5), readHead(dir)]).toEqual([undefined, undefined, undefined])
    expect(readFileSync(target, 'utf8')).toBe('untouched')
  })

  it('is in one slot for as long as its writer is there', () => {
    const { path, open } = marks()
    const mark = open()
    for (let seq = 1; seq <= 20; seq++) {
      mark.beyond(seq - 1)
      mark.write(head(seq))
    }
    expect(readFileSync(path, 'latin1').match(/\d.{126}\n/g)).toHaveLength(1)
  })

  it('that cannot be read is none', () => {
    const { open } = marks()
    const mark = open()
    mark.write(head(3))
    expect(mark.beyond(0)).toMatchObject({ seq: 3 })
    patchFs('readSync', () => () => {
      throw systemError('EIO')
    })
    expect([mark.beyond(0), mark.sumAt(3)]).toEqual([undefined, undefined])
  })

  it('looks once a second whether its file is still there', () => {
    const { dir, path, open } = marks()
    const mark = open()
    const real = performance.now
    onTestFinished(() => void Object.assign(performance, { now: real }))
    let now = 50_000
    performance.now = () => now
    let opened = 0
    patchFs('openSync', (openFile) => (...given) => {
      if (given[0] === path) opened++
      return (openFile as (...all: unknown[]) => number)(...given)
    })
    mark.write(head(1))
    opened = 0
    for (const ms of [999, 1, 1_000, 1_000]) {
      now += ms
      mark.write(head(now))
    }
    // It is there, and stays open.
    expect([opened, readHead(dir)!.seq]).toEqual([0, now])
    rmSync(path)
    opened = 0
    now += 999
    mark.write(head(now))
    expect(opened).toBe(0)
    now += 1
    mark.write(head(now))
    expect(readHead(dir)!.seq).toBe(now)
  })

  it('leaves no file open', () => {
    const { dir, open } = marks()
    const files = new Set<number>()
    patchFs('openSync', (real) => (...given) => {
      const fd = (real as (...all: unknown[]) => number)(...given)
      files.add(fd)
      return fd
    })
    patchFs('closeSync', (real) => (fd) => {
      files.delete(fd)
      real(fd)
    })
    const mark = open()
    mark.write(head(1))
    expect(files.size).toBe(1)
    mark.close()
    expect([readHead(dir)!.seq, files.size]).toEqual([1, 0])
    markFirst(dir, 'ours', { segment: 1, seq: 1 })
    expect([readFirst(dir, 'ours'), files.size]).toEqual([{ segment: 1, seq: 1 }, 0])
    patchFs('readSync', () => () => {
      throw systemError('EIO')
    })
    expect([readHead(dir), readFirst(dir, 'ours'), files.size]).toEqual([undefined, undefined, 0])
    // It goes on where it was.
    mark.write(head(2))
    expect(files.size).toBe(1)
  })

  it('that cannot be written stays as it was, and is tried again', () => {
    const { dir, open } = marks()
    const mark = open()
    mark.write(head(1))
    let fails = true
    patchFs('writeSync', (real) => (...given) => {
      if (fails) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      return (real as (...all: unknown[]) => number)(...given)
    })
    mark.write(head(2))
    expect(readHead(dir)!.seq).toBe(1)
    fails = false
    mark.write(head(2))
    expect(readHead(dir)!.seq).toBe(2)
  })
})

describe('the mark of where the journal begins', () => {
  const blank = () => {
    const { dir, path, open } = marks()
    for (const segment of [3, 4]) writeFileSync(segmentPath(dir, segment), '')
    return { dir, path, open }
  }

  it('is read as it was written, of this space only', () => {
    const { dir, path } = blank()
    expect(readFirst(dir, 'ours')).toBeUndefined()
    markFirst(dir, 'ours', { segment: 123_456_789, seq: 42 })
    expect(readFirst(dir, 'ours')).toEqual({ segment: 123_456_789, seq: 42 })
    expect([readFirst(dir, 'theirs'), readFirst(dir, undefined)]).toEqual([undefined, undefined])
    expect([statSync(path).mode & 0o777, statSync(path).size]).toEqual([0o600, 4_096 + 128])
    // What was acknowledged is marked in the same file.
    expect(readHead(dir)).toBeUndefined()
  })

  it('is none if any byte of it was changed', () => {
    const { dir, path } = blank()
    markFirst(dir, 'ours', { segment: 3, seq: 42 })
    const good = readFileSync(path)
    const text = good.subarray(4_096).toString().trimEnd()
    for (let at = 4_096; at < 4_096 + text.length; at++) {
      const bytes = Buffer.from(good)
      bytes[at]! ^= 1
      writeFileSync(path, bytes)
      expect(readFirst(dir, 'ours')).toBeUndefined()
    }
  })

  it('is the lowest segment there is, if that tells its seq, and the first one without asking', () => {
    const { dir, open } = blank()
    const write = (seqOf: (segment: number) => number | undefined) => {
      const mark = new HeadMark(dir, 'ours', (fd) => writeLowest(fd, dir, 'ours', seqOf))
      mark.write(head(50))
      mark.close()
      return readFirst(dir, 'ours')
    }
    expect(write(() => undefined)).toBeUndefined()
    expect(write((segment) => segment * 10)).toEqual({ segment: 3, seq: 30 })
    // Whoever comes next leaves it as it is.
    writeFileSync(segmentPath(dir, 1), '')
    expect(write((segment) => segment * 10)).toEqual({ segment: 3, seq: 30 })
    rmSync(headPath(dir))
    expect(write(() => undefined)).toEqual({ segment: 1, seq: 1 })
    expect(open().beyond(0)).toMatchObject({ seq: 50 })
  })
})

describe('the order of files', () => {
  it('is that of their numbers, unless what they begin with says otherwise', () => {
    const order = new SegmentOrder()
    const find = (seqs: (number | undefined)[]) =>
      order.find(
        seqs.map((_, at) => at + 1),
        (file) => seqs[file - 1],
      )
    const files = () => [1, 2, 3, 4].map((segment) => order.fileOf(segment))
    expect([find([1, 5, 9, 13]), files(), order.version]).toEqual([false, [1, 2, 3, 4], 0])
    expect([find([1, 9, 5, 13]), files(), order.version]).toEqual([true, [1, 3, 2, 4], 1])
    expect([find([1, 9, 5, 13]), order.version]).toEqual([false, 1])
    expect([find([9, 1, 5, 13]), files(), order.version]).toEqual([true, [2, 3, 1, 4], 2])
    // A file that does not tell stays where it is, and of two that begin alike the lower number is the first.
    expect([find([9, undefined, 1, 13]), files()]).toEqual([true, [3, 2, 1, 4]])
    expect([find([5, 5, 1, undefined]), files()]).toEqual([true, [3, 1, 2, 4]])
    order.forget()
    expect([files(), order.version]).toEqual([[1, 2, 3, 4], 5])
    order.forget()
    expect(order.version).toBe(5)
  })
})
