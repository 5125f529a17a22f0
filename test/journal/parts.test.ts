import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import { readFully } from '../../src/base/files.ts'
import {
  decodeLine,
  hasItsSum,
  LineBuffer,
  looksWhole,
  noSum,
  sumOf,
  sumText,
} from '../../src/journal/codec.ts'
import { WriterLock } from '../../src/journal/file/lock.ts'
import { Rotation, type RotationOptions } from '../../src/journal/file/rotation.ts'
import {
  archiveDirOf,
  archivedName,
  lastSegment,
  listArchived,
  listPlain,
  listSegments,
  openForAppend,
  openForRead,
  segmentExists,
  segmentPath,
  sizeOf,
} from '../../src/journal/file/segment.ts'
import { Archive, PlainSegment, unpack } from '../../src/journal/file/segment-bytes.ts'
import { Wake } from '../../src/journal/file/wake.ts'
import { syncError, writeError } from '../../src/journal/file/write-error.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { correctBit, salvage, wasNewline } from '../../src/journal/salvage.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { systemError } from '../helpers/fs-faults.ts'
import { encodeLine } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const at = '2026-01-02T03:04:05.678Z'
const lineOf = (seq: number, prev = noSum) => {
  const { text, sum } = encodeLine({ kind: 'torn', offset: seq, bytes: 1, digest: 'd' }, seq, at, prev)
  return { bytes: text.subarray(0, -1), sum }
}

describe('the end of a line', () => {
  const { bytes: line, sum } = lineOf(1)

  it('tells its sum', () => {
    expect(sumOf(line)).toBe(sum)
    expect(sumText(line)).toBe(sum)
    expect(hasItsSum(line)).toBe(true)
  })

  it('is no end where it was cut or changed', () => {
    for (const wrong of [
      line.subarray(0, -1),
      line.subarray(1, 20),
      Buffer.alloc(0),
      Buffer.from(',"sum":"'),
      line.subarray(-42),
    ])
      expect(sumOf(wrong), wrong.toString()).toBeUndefined()
    expect(sumOf(line.subarray(-44))).toBe(sum)
    const flipped = Buffer.from(line)
    flipped[3]! ^= 1
    expect([sumOf(flipped), hasItsSum(flipped), decodeLine(flipped)]).toEqual([sum, false, undefined])
  })

  it.each([
    ['a whole line', line, true],
    ['its last half', line.subarray(line.length >> 1), true],
    ['a sum whose mark is damaged', Buffer.from(`x,"sxm":"${sum}"}`), true],
    ['its first half', line.subarray(0, -1), false],
    ['nothing', Buffer.alloc(0), false],
    ['a sum with another end', Buffer.from(`${sum}"]`), false],
    ['a sum with something after it', Buffer.from(`${sum}"}x`), false],
    ['a sum that is too short', Buffer.from(`${sum.slice(1)}"}`), false],
  ])('looks whole or not: %s', (_, bytes, isWhole) => {
    expect(looksWhole(bytes)).toBe(isWhole)
  })

  it('has something in the place of the sum, whatever it is', () => {
    expect([sumText(Buffer.from('ab"}')), sumText(Buffer.from('x')), sumText(Buffer.alloc(0))]).toEqual([
      'ab',
      '',
      '',
    ])
  })
})

describe('lines in a buffer', () => {
  it('are chained, and go when the buffer is made shorter', () => {
    const buffer = new LineBuffer()
    const first = buffer.add(messageDraft({ subject: 'a' }), 1, at, noSum)
    const length = buffer.length
    const copy = Buffer.from(buffer.bytes)
    buffer.add(messageDraft({ subject: 'b' }), 2, at, first)
    buffer.length = length
    expect(buffer.bytes).toEqual(copy)
    const long = 'ë'.repeat(100_000)
    buffer.add(messageDraft({ body: long }), 2, at, first)
    expect(buffer.bytes.subarray(0, length)).toEqual(copy)
    const second = decodeLine(buffer.bytes.subarray(length, -1))!
    expect([second.prev, second.entry]).toMatchObject([first, { seq: 2, message: { body: long } }])
    buffer.addSeal()
    expect(buffer.bytes.subarray(-2).toString()).toBe('\n\n')
  })

  it('are not made of what could not be read back, or is too long', () => {
    const buffer = new LineBuffer()
    expect(() => buffer.add({ kind: 'gossip' } as never, 1, at, noSum)).toThrow(
      expect.objectContaining({
        code: 'internal',
        message: expect.stringContaining('could not be read back'),
      }),
    )
    const long = messageDraft({ body: 'x'.repeat(9 * 1_048_576) })
    expect(() => buffer.add(long, 1, at, noSum)).toThrow(
      expect.objectContaining({
        code: 'over_limit',
        limit: 'size',
        message: expect.stringMatching(/^an entry of 9\d{6} /),
      }),
    )
    expect(buffer.length).toBe(0)
  })
})

describe('a broken line', () => {
  const [one, two, three] = [lineOf(1), lineOf(2), lineOf(3)].map(({ bytes }) => bytes)
  const pieces = (line: Buffer) =>
    salvage(line, decodeLine).map(({ start, end, decoded }) => [start, end, decoded?.entry.seq])
  const joined = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))
  const length = one!.length

  it.each(['', ' ', '\t', '\r', '\x02', '\b', '\v', '\x0e', '\x1a', '*', 'J', '\x8a'])(
    'whose newline became %j is two lines again',
    (joint) => {
      const mark = Buffer.from(joint, 'latin1')
      expect(pieces(joined(one!, mark, two!))).toEqual([
        [0, length, 1],
        [length + mark.length, 2 * length + mark.length, 2],
      ])
    },
  )

  it('gives what is whole in it, and keeps the rest as one', () => {
    const half = one!.subarray(0, 20)
    expect(pieces(joined(two!, one!.subarray(0, -1), ' ', three!))).toEqual([
      [0, length, 2],
      [length, 3 * length, undefined],
    ])
    expect(pieces(joined(half, '*', three!))).toEqual([
      [0, 20, undefined],
      [21, 21 + length, 3],
    ])
    expect(pieces(half)).toEqual([[0, 20, undefined]])
    expect(pieces(joined(half, '}', half))).toEqual([[0, 41, undefined]])
  })

  it('is whole behind a byte order mark or before a carriage return', () => {
    expect(pieces(joined(Buffer.from([0xef, 0xbb, 0xbf]), one!))).toEqual([[3, 3 + length, 1]])
    expect(pieces(joined(one!, '\r'))).toEqual([[0, length, 1]])
    expect(pieces(joined(Buffer.from([0xef, 0xbb]), one!))).toEqual([[0, 2 + length, undefined]])
  })

  it('cannot be forged within a message', () => {
    const body = `} ${two!.toString()}`
    const line = encodeLine(messageDraft({ body }), 1, at, noSum).text.subarray(0, -1)
    const cut = line.subarray(0, -1)
    expect(pieces(cut)).toEqual([[0, cut.length, undefined]])
  })

  it('is corrected where one bit of it has flipped, and not where two have', () => {
    const flipped = Buffer.from(one!)
    flipped[10]! ^= 0x80
    expect(correctBit(flipped, decodeLine)?.seq).toBe(1)
    flipped[11]! ^= 0x01
    expect(correctBit(flipped, decodeLine)).toBeUndefined()
    const long = Buffer.from(
      encodeLine(messageDraft({ body: 'x'.repeat(1_024) }), 1, at, noSum).text.subarray(0, -1),
    )
    long[10]! ^= 1
    expect(correctBit(long, decodeLine)).toBeUndefined()
  })

  it('a newline with one flipped bit is known', () => {
    const all = Array.from({ length: 256 }, (_, byte) => byte).filter(wasNewline)
    expect(all).toEqual([0x02, 0x08, 0x0b, 0x0e, 0x1a, 0x2a, 0x4a, 0x8a])
    expect(wasNewline(undefined)).toBe(false)
  })
})

describe('a segment is full', () => {
  const cursor = { ...startCursor, segment: 3, offset: 500, seq: 10 }
  const november = '2026-11-30T23:59:59.999Z'
  const rotation = (
    options: Partial<RotationOptions>,
    start: { seq: number; at: string } | undefined = { seq: 6, at: november },
  ) => {
    const asked: number[] = []
    const usual = {
      segmentBytes: 1_000,
      segmentEntries: 0,
      rotate: 'size',
      now: () => Date.parse(november),
    } as const
    return {
      asked,
      rotation: new Rotation({ ...usual, ...options }, (segment) => {
        asked.push(segment)
        return start
      }),
    }
  }
  const fullBy = (options: Partial<RotationOptions>, place = cursor) =>
    rotation(options).rotation.fullBy(place)

  it.each<[string, Partial<RotationOptions>, string | undefined]>([
    ['never by what is in it, within its limits', {}, undefined],
    ['by its size', { segmentBytes: 500 }, 'size'],
    ['not a byte before', { segmentBytes: 501 }, undefined],
    ['by its entries', { segmentEntries: 5 }, 'count'],
    ['not an entry before', { segmentEntries: 6 }, undefined],
    ['by the month', { rotate: 'month', now: () => Date.parse(november) + 1 }, 'month'],
    ['not within the month', { rotate: 'month' }, undefined],
    [
      'not by the month where that does not count',
      { segmentEntries: 99, now: () => Date.parse(november) + 1 },
      undefined,
    ],
  ])('%s', (_, options, reason) => {
    expect(fullBy(options)).toBe(reason)
  })

  it('never while it is empty', () => {
    expect(fullBy({ segmentBytes: 0, segmentEntries: 1 }, { ...cursor, offset: 0 })).toBeUndefined()
  })

  it('and its start is read once', () => {
    const plain = rotation({})
    for (const _ of [1, 2]) plain.rotation.fullBy(cursor)
    expect(plain.asked).toEqual([3])
    const counting = rotation({ segmentEntries: 99 })
    for (const segment of [3, 3, 4, 4]) counting.rotation.fullBy({ ...cursor, segment })
    expect(counting.asked).toEqual([3, 4])
    const unknown = new Rotation(
      { segmentBytes: 1_000, segmentEntries: 1, rotate: 'month', now: Date.now },
      () => undefined,
    )
    expect(unknown.fullBy(cursor)).toBeUndefined()
  })

  it('and the next one says why it was begun', () => {
    const { rotation: it } = rotation({})
    expect(it.reasonFor({ ...cursor, seq: 0 })).toBe('created')
    expect(it.reasonFor(cursor)).toBe('size')
    it.begin(3, 'month')
    expect([it.reasonFor(cursor), it.reasonFor({ ...cursor, segment: 4 })]).toEqual(['month', 'size'])
  })
})

describe('the files of a journal', () => {
  function files() {
    const space = tempDir()
    const dir = join(space, 'journal')
    mkdirSync(dir)
    return { space, dir, archive: archiveDirOf(dir) }
  }

  it('have numbers in their names', () => {
    const { space, dir, archive } = files()
    expect(segmentPath(dir, 7)).toBe(join(dir, '00000007.jsonl'))
    expect(archive).toBe(join(space, 'archive'))
    expect(archivedName(7, '2026-11')).toBe('2026-11-00000007.jsonl.gz')
    expect([listPlain(dir), listSegments(dir), [...listArchived(dir)]]).toEqual([[], [], []])
  })

  it('are listed in order, whatever else is there', () => {
    const { dir, archive } = files()
    mkdirSync(archive)
    for (const name of [
      '00000010.jsonl',
      '00000009.jsonl',
      'x00000001.jsonl',
      '00000001.jsonl.tmp',
      '0000002.jsonl',
      '00000003.jsonlx',
    ])
      writeFileSync(join(dir, name), '')
    for (const name of [
      '2026-12-00000009.jsonl.gz',
      '2026-11-00000008.jsonl.gz',
      '2026-11-00000007.jsonl.gz.tmp',
      'x2026-11-00000001.jsonl.gz',
      '2026-1-00000002.jsonl.gz',
    ])
      writeFileSync(join(archive, name), '')
    expect(listPlain(dir)).toEqual([9, 10])
    expect(listSegments(dir)).toEqual([8, 9, 10])
    expect([...listArchived(dir)]).toEqual([
      [8, join(archive, '2026-11-00000008.jsonl.gz')],
      [9, join(archive, '2026-12-00000009.jsonl.gz')],
    ])
    expect([segmentExists(dir, 9), segmentExists(dir, 8)]).toEqual([true, false])
  })

  it('end with the one that is appended to', () => {
    const { space, dir } = files()
    for (const segment of [1, 2]) writeFileSync(segmentPath(dir, segment), '')
    utimesSync(segmentPath(dir, 2), 5, 5)
    expect(lastSegment(space)).toEqual({ name: '00000002.jsonl', next: '00000003.jsonl', writtenMs: 5_000 })
  })

  it('are for their owner alone, and never behind a link', () => {
    const { dir } = files()
    const fd = openForAppend(dir, 1)
    expect(statSync(segmentPath(dir, 1)).mode & 0o777).toBe(0o600)
    expect([sizeOf(fd), openForRead(segmentPath(dir, 2))]).toEqual([0, undefined])
    symlinkSync(segmentPath(dir, 1), segmentPath(dir, 2))
    expect(() => openForAppend(dir, 2)).toThrow(/is not a regular file/)
    expect(() => openForRead(segmentPath(dir, 2))).toThrow(/is not a regular file/)
  })

  it('are read as far as they go', () => {
    const { dir } = files()
    writeFileSync(segmentPath(dir, 1), '0123456789')
    const fd = openForRead(segmentPath(dir, 1))!
    expect(readFully(fd, 2, 3).toString()).toBe('234')
    expect(readFully(fd, 8, 100).toString()).toBe('89')
    expect(readFully(fd, 10, 5)).toHaveLength(0)
    const plain = new PlainSegment(fd)
    expect(plain.look()).toEqual({ size: 10, live: true })
    unlinkSync(segmentPath(dir, 1))
    expect(plain.look()).toEqual({ size: 10, live: false })
    expect(plain.read(0, 4).toString()).toBe('0123')
  })

  it('are unpacked from the archive, wherever they went meanwhile', () => {
    const { dir, archive } = files()
    const found = new Archive(dir)
    expect([found.has(1), found.unpack(1), found.start(1)]).toEqual([false, undefined, undefined])
    mkdirSync(archive)
    const path = join(archive, archivedName(1, '2026-11'))
    writeFileSync(path, gzipSync('0123456789'))
    const bytes = found.unpack(1)!
    expect([bytes.look(), bytes.read(2, 3).toString(), bytes.read(8, 9).toString()]).toEqual([
      { size: 10, live: false },
      '234',
      '89',
    ])
    expect([found.has(1), found.start(1)!.toString()]).toEqual([true, '0123456789'])
    unlinkSync(path)
    expect([found.has(1), found.unpack(1)]).toEqual([false, undefined])
    writeFileSync(path, 'not gzip')
    expect([found.has(1), found.start(1)]).toEqual([false, Buffer.alloc(0)])
    expect(found.unpack(1)!.look()).toEqual({ size: 0, live: false })
    expect(found.has(1)).toBe(true)
    expect(() => new Archive(dir, unpack).unpack(1)).toThrow(
      expect.objectContaining({
        code: 'damaged',
        message: expect.stringContaining(`${path} cannot be unpacked: `),
        cause: expect.any(Error),
      }),
    )
  })

  it('give what is left of them when the archive is cut', () => {
    const { dir, archive } = files()
    mkdirSync(archive)
    const lines = Array.from({ length: 500 }, (_, n) => `line ${n} ${(n * 7_919) % 10_007}\n`).join('')
    const packed = gzipSync(lines)
    writeFileSync(join(archive, archivedName(1, '2026-11')), packed.subarray(0, packed.length >> 1))
    const left = new Archive(dir).unpack(1)!
    const { size } = left.look()
    expect(size).toBeGreaterThan(lines.length / 4)
    expect(lines.startsWith(left.read(0, size).toString())).toBe(true)
  })

  it('begin with what their first bytes unpack to', () => {
    const { dir, archive } = files()
    mkdirSync(archive)
    const random = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7_919) % 251))
    const text = Buffer.concat([Buffer.from('first line\n'), random])
    const packed = gzipSync(text, { level: 1 })
    writeFileSync(join(archive, archivedName(1, '2026-11')), packed)
    expect(new Archive(dir).start(1)!.subarray(0, 11).toString()).toBe('first line\n')
    const fd = openForRead(join(archive, archivedName(1, '2026-11')))!
    expect(unpack({ path: 'x', fd }).read(0, 50_000)).toEqual(text)
  })
})

describe('an error of the disk', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG'])('%s is a full disk, and nothing was stored', (code) => {
    const cause = systemError(code)
    expect(writeError(cause)).toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(code),
      cause,
    })
  })

  it('of another kind is damage, and an error of ours stays what it is', () => {
    const cause = systemError('EIO')
    expect(writeError(cause)).toMatchObject({ message: expect.stringContaining('EIO'), cause })
    const own = new MailboxError('closed', 'x')
    expect(writeError(own)).toBe(own)
    expect(writeError('odd').message).toContain('odd')
    expect(syncError(cause)).toMatchObject({
      code: 'sync_failed',
      message: expect.stringContaining('EIO'),
      cause,
    })
    expect(syncError('odd').message).toContain('odd')
  })
})

describe('the wake', () => {
  it('rings for what is written here and elsewhere, while somebody listens', async () => {
    const dir = mkdtempSync(join(tempDir(), 'wake-'))
    const wake = new Wake(dir, 3_600_000)
    onTestFinished(() => wake.stop())
    const rung = [0, 0]
    const off = [0, 1].map((at) => wake.on(() => void rung[at]!++))
    wake.ring()
    expect(rung).toEqual([1, 1])
    off[1]!()
    wake.ring()
    expect(rung).toEqual([2, 1])
    writeFileSync(join(dir, 'x'), '')
    await until(() => rung[0]! > 2)
    off[0]!()
    const before = rung[0]!
    wake.ring()
    writeFileSync(join(dir, 'y'), '')
    expect(rung).toEqual([before, 1])
  })

  it('rings now and then where no file can be watched', async () => {
    const wake = new Wake(join(tempDir(), 'nowhere'), 5)
    onTestFinished(() => wake.stop())
    let rung = 0
    wake.on(() => void rung++)
    await until(() => rung >= 2)
    wake.stop()
    const before = rung
    wake.on(() => {})
    expect(rung).toBe(before)
  })
})

describe('the lock', () => {
  function locks() {
    const path = join(tempDir(), 'lock')
    const [mine, other] = [new WriterLock(path), new WriterLock(path)]
    onTestFinished(() => {
      mine.close()
      other.close()
    })
    return { path, mine, other }
  }
  const refused = (timeoutMs: number) =>
    expect.objectContaining({
      code: 'timeout',
      message: `another process has held the writer lock for ${timeoutMs / 1_000} s`,
    })

  it('is for one at a time, and free again when its work is over or fails', async () => {
    const { mine, other } = locks()
    expect(mine.withSync(() => 5, 100)).toBe(5)
    mine.withSync(() => expect(() => other.withSync(() => 6, 0)).toThrow(refused(0)), 100)
    expect(other.withSync(() => 6, 0)).toBe(6)
    expect(() =>
      mine.withSync(() => {
        throw new Error('failed')
      }, 100),
    ).toThrow('failed')
    expect(
      await other.with(
        () => 7,
        0,
        () => {},
      ),
    ).toBe(7)
    expect(mine.withSync(() => 8, 0)).toBe(8)
  })

  it('is taken again for free within its work, and held until the end of that', () => {
    const { mine, other } = locks()
    mine.withSync(() => {
      mine.withSync(() => {}, 0)
      expect(() => other.withSync(() => {}, 0)).toThrow(refused(0))
    }, 0)
    other.withSync(() => {}, 0)
  })

  it('is waited for, with a call for each time it was not free', async () => {
    const { mine, other } = locks()
    let release = () => {}
    const held = mine.tryWith(() => new Promise<string>((resolve) => (release = () => resolve('done'))))
    let waits = 0
    const got = other.with(
      () => 'mine now',
      60_000,
      () => {
        if (++waits === 20) release()
      },
    )
    expect(await held).toEqual({ value: 'done' })
    expect(await got).toBe('mine now')
    expect(waits).toBeGreaterThanOrEqual(20)
  })

  it('is given up after the time that was set', async () => {
    const { mine, other } = locks()
    const held = mine.tryWith(async () => {
      expect(await other.tryWith(async () => 1)).toBeUndefined()
      await expect(
        other.with(
          () => 1,
          30,
          () => {},
        ),
      ).rejects.toEqual(
        expect.objectContaining({ code: 'timeout', hint: expect.stringContaining('stopped') }),
      )
      const began = performance.now()
      expect(() => other.withSync(() => 1, 30)).toThrow(expect.objectContaining({ code: 'timeout' }))
      expect(performance.now() - began).toBeGreaterThanOrEqual(29)
    })
    await held
    expect(await other.tryWith(async () => 1)).toEqual({ value: 1 })
    expect(await mine.tryWith(async () => 2)).toEqual({ value: 2 })
  })

  it('is a file for its owner alone, that stays empty', () => {
    const { path, mine } = locks()
    mine.withSync(() => {}, 0)
    expect([statSync(path).mode & 0o777, readFileSync(path).length]).toEqual([0o600, 0])
  })
})
