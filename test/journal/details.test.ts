import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MailboxError } from '../../src/base/errors.ts'
import { decodeGist, decodeLine, noSum, prevText, refuseOtherFormat, sumOf } from '../../src/journal/codec.ts'
import { type Damage, sentenceOf } from '../../src/journal/damage.ts'
import { LineCounter } from '../../src/journal/file/line-counter.ts'
import { OpenSegments } from '../../src/journal/file/open-segments.ts'
import {
  archiveDirOf,
  archivedName,
  lastSegment,
  listArchived,
  listPlain,
  listSegments,
  openForAppend,
  segmentPath,
} from '../../src/journal/file/segment.ts'
import { Archive, type SegmentBytes } from '../../src/journal/file/segment-bytes.ts'
import { SegmentOrder } from '../../src/journal/file/segment-order.ts'
import { Wake } from '../../src/journal/file/wake.ts'
import {
  isMisplaced,
  misplacedError,
  syncing,
  upkeepError,
  writeError,
} from '../../src/journal/file/write-error.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { patchFs, systemError } from '../helpers/fs-faults.ts'
import { refusal } from '../helpers/refusal.ts'
import { encodeLine, withOwnSum } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const at = '2026-01-02T03:04:05.678Z'
const header = (format = 1) => {
  const draft = { kind: 'segment', format: 1, space: 's', reason: 'size' } as const
  const line = encodeLine(draft, 12, at, noSum).text.toString().trimEnd()
  return Buffer.from(format === 1 ? line : withOwnSum(line.replace('"format":1', `"format":${format}`)))
}

describe('a line', () => {
  it('of a later format is refused, if it is whole, and no other', () => {
    const error = refusal(() => refuseOtherFormat(header(27)))
    expect([error.code, error.message]).toEqual([
      'invalid',
      expect.stringMatching(/^this journal has format 27; this version reads \d( and \d)*$/),
    ])
    expect(error.hint).not.toBe('')
    const broken = Buffer.from(header(27))
    broken[20]! ^= 1
    const message = encodeLine(messageDraft({ body: header(27).toString() }), 1, at, noSum).text
    for (const other of [header(), broken, message, Buffer.from(`x${header(27)}`), Buffer.alloc(0)])
      expect(() => refuseOtherFormat(other)).not.toThrow()
  })

  it('tells the sum of the line before it, even if it is damaged', () => {
    const first = encodeLine(messageDraft({ subject: 'a' }), 1, at, noSum)
    const { text } = encodeLine(messageDraft({ subject: 'b' }), 2, at, first.sum)
    const line = Buffer.from(text.subarray(0, -1))
    expect(prevText(line)).toBe(first.sum)
    line[5]! ^= 1
    expect(prevText(line)).toBe(first.sum)
  })

  it('is decoded to its gist, whatever is in it', () => {
    const gist = (line: Buffer) => decodeGist(line)?.entry
    const message = encodeLine(messageDraft({ subject: 'a', body: 'long' }), 3, at, noSum).text.subarray(
      0,
      -1,
    )
    expect(gist(message)).toMatchObject({ seq: 3, kind: 'message' })
    expect(gist(message)).not.toHaveProperty('message.body')
    expect(decodeGist(message)?.sum).toBe(sumOf(message))
    expect(gist(header())).toEqual(decodeLine(header())!.entry)
    // The mark of the rest stands at the very beginning, or in another order: it is no gist, and maybe no line.
    for (const odd of [',"createdAt":"x"}', '{"seq":1,"createdAt":"x"}']) {
      const line = Buffer.from(withOwnSum(odd.slice(0, -1)))
      expect(gist(line)).toBeUndefined()
    }
    const reordered = JSON.parse(message.toString())
    const moved = { ...reordered, message: { createdAt: reordered.message.createdAt, ...reordered.message } }
    delete moved.sum
    const other = Buffer.from(withOwnSum(JSON.stringify(moved).slice(0, -1)))
    expect(gist(other)).toMatchObject({ seq: 3, kind: 'message' })
    const broken = Buffer.from(message)
    broken[10]! ^= 1
    expect([gist(broken), gist(message.subarray(0, -1)), gist(Buffer.alloc(0))]).toEqual([
      ...[undefined, undefined, undefined],
    ])
  })

  it('with the right sum and the wrong shape is none', () => {
    const line = (text: string) => decodeLine(Buffer.from(withOwnSum(text)))
    const good = '{"seq":1,"at":"x","kind":"torn","offset":1,"bytes":1,"digest":"d","prev":"p"'
    expect(line(good)).toMatchObject({ prev: 'p', entry: { seq: 1, at: 'x' } })
    expect(line(good)!.entry).not.toHaveProperty('sum')
    for (const [from, to] of [
      ['"seq":1', '"seq":1.5'],
      ['"at":"x"', '"at":5'],
      ['"prev":"p"', '"prev":5'],
      ['"torn"', '"worn"'],
      ['{"seq"', '{{"seq"'],
    ] as const)
      expect(line(good.replace(from, to)), to).toBeUndefined()
  })
})

describe('what is wrong with a journal is said', () => {
  const found: Damage = { name: 'changed_line', segment: 3, what: 'it was changed' }
  it.each<[Partial<Damage>, string]>([
    [{}, 'segment 3: it was changed'],
    [{ offset: 0 }, 'segment 3, byte 0: it was changed'],
    [{ offset: 77, line: 4 }, 'segment 3, byte 77: it was changed (line 4)'],
    [{ line: 4, lines: 1 }, 'segment 3: it was changed (line 4)'],
    [{ line: 4, lines: 2 }, 'segment 3: it was changed (2 lines, the first is line 4)'],
    [{ lost: { from: 5, to: 5 } }, 'segment 3: it was changed (entry 5 is lost)'],
    [{ lost: { from: 5, to: 7 } }, 'segment 3: it was changed (entries 5 to 7 are lost)'],
    [{ line: 4, since: at }, 'segment 3: it was changed (line 4; known since 2026-01-02 03:04)'],
    [{ name: 'missing_segment', line: 4 }, 'it was changed'],
    [{ name: 'missing_segment', since: at }, 'it was changed (known since 2026-01-02 03:04)'],
  ])('%j', (fields, sentence) => {
    expect(sentenceOf({ ...found, ...fields })).toBe(sentence)
  })
})

describe('an error of the disk', () => {
  it('says what to do next', () => {
    const full = writeError(systemError('ENOSPC'))
    const broken = writeError(systemError('EIO'))
    expect([full.hint, broken.hint].map((hint) => /free some disk space/.test(hint!))).toEqual([true, false])
    expect(broken.hint).toContain('dmesg')
    expect(broken.message).toContain('writing the journal')
    expect(writeError(new Error('odd')).code).toBe('damaged')
  })

  it('in work on old files says to run it again, and other errors stay as they are', () => {
    const [full, broken] = ['ENOSPC', 'EIO'].map((code) =>
      upkeepError(systemError(code), 'packing failed', 'nothing is lost'),
    ) as [MailboxError, MailboxError]
    expect(full.message).toContain('packing failed')
    expect([full.code, full.hint]).toEqual([
      ...['disk_full', 'free some disk space and run it again; nothing is lost'],
    ])
    expect(broken.hint).toMatch(/^check the disk \(dmesg\).* and run it again; nothing is lost$/)
    expect(broken.cause).toMatchObject({ code: 'EIO' })
    for (const other of [full, new Error('odd')]) expect(upkeepError(other, 'x', 'y')).toBe(other)
  })

  it('while something is synced is one of the sync', () => {
    const cause = systemError('EIO')
    expect(
      refusal(() =>
        syncing(() => {
          throw cause
        }),
      ),
    ).toMatchObject({ code: 'sync_failed', cause })
    const done: string[] = []
    syncing(() => void done.push('synced'))
    expect(done).toEqual(['synced'])
  })

  it('is another than that a file is not in its place', () => {
    const error = misplacedError('/space/journal', 7)
    expect([error.code, error.message]).toEqual([
      'damaged',
      expect.stringContaining('00000007.jsonl was moved'),
    ])
    expect(error.hint).toContain('mailbox verify')
    expect([isMisplaced(error), isMisplaced(writeError(systemError('EIO')))]).toEqual([true, false])
  })
})

describe('the files of a journal', () => {
  it('are gone with their space, and are not guessed where they cannot be listed', () => {
    const dir = join(tempDir(), 'space', 'journal')
    const error = refusal(() => listPlain(dir))
    expect([error.code, error.message]).toEqual([
      'damaged',
      expect.stringMatching(/the space in .*space is gone/),
    ])
    expect(error.hint).toContain('--space')
    expect(refusal(() => openForAppend(dir, 1)).message).toBe(error.message)
    patchFs('readdirSync', () => () => {
      throw systemError('EACCES')
    })
    expect(() => listPlain(dir)).toThrow('EACCES')
  })

  it('are in order, however the disk lists them', () => {
    const space = tempDir()
    const dir = join(space, 'journal')
    const archive = archiveDirOf(dir)
    for (const folder of [dir, archive]) mkdirSync(folder)
    for (const segment of [3, 4, 10]) writeFileSync(segmentPath(dir, segment), '')
    const names: Record<string, string[]> = {
      [dir]: ['00000010.jsonl', '00000003.jsonl', '00000004.jsonl'],
      [archive]: ['2026-12-00000002.jsonl.gz', '2026-11-00000001.jsonl.gz', '2026-11-00000002.jsonl.gz'],
    }
    patchFs('readdirSync', () => (path) => names[String(path)]!)
    expect(listPlain(dir)).toEqual([3, 4, 10])
    expect(listSegments(dir)).toEqual([1, 2, 3, 4, 10])
    // Of two under one number the later month counts.
    expect(listArchived(dir).get(2)).toBe(join(archive, '2026-12-00000002.jsonl.gz'))
    expect(lastSegment(space)).toMatchObject({ name: '00000010.jsonl', next: '00000011.jsonl' })
    rmSync(archive, { recursive: true })
    expect([...listArchived(dir)]).toEqual([])
  })
})

describe('a count of lines', () => {
  const text = 'one\ntwo\n\nfour\n'
  const bytes = (content: string): SegmentBytes => ({
    look: () => ({ size: content.length, live: true }),
    read: (offset, length) => Buffer.from(content).subarray(offset, offset + length),
  })
  const place = (segment: number, offset: number) => ({ segment, offset, bytes: 1 })

  it('begins with one, and again where it has to', () => {
    const counter = new LineCounter()
    const lines = (segment: number, ...offsets: number[]) =>
      offsets.map((offset) => counter.lineOf(place(segment, offset), bytes(text)))
    expect(lines(1, 0, 3, 4, 8, 9, 14)).toEqual([1, 1, 2, 3, 4, 5])
    expect(lines(1, 4, 4, 0)).toEqual([2, 2, 1])
    expect(lines(1, 9)).toEqual([4])
    expect(lines(2, 9, 4)).toEqual([4, 2])
    expect(lines(1, 9)).toEqual([4])
    // A file that begins with an empty line.
    expect(new LineCounter().lineOf(place(1, 2), bytes('\n\nx'))).toBe(3)
  })

  it('ends with the file', () => {
    const counter = new LineCounter()
    expect(counter.lineOf(place(1, 1_000), bytes(text))).toBe(5)
    expect(new LineCounter().lineOf(place(1, 1_000), undefined)).toBe(1)
    expect(new LineCounter().lineOf(place(0, 9), bytes(text))).toBe(4)
  })

  it('goes on from where it was', () => {
    const counter = new LineCounter()
    const read: number[] = []
    const counted: SegmentBytes = {
      ...bytes(text),
      read: (offset, length) => {
        read.push(offset)
        return bytes(text).read(offset, length)
      },
    }
    for (const offset of [4, 9, 9]) counter.lineOf(place(1, offset), counted)
    expect(read).toEqual([0, 4])
  })
})

describe('the wake', () => {
  it('watches once, while somebody listens', () => {
    const dir = tempDir()
    const watchers: { closed: number; fail: () => void }[] = []
    patchFs('watch', (real) => (...given) => {
      const watcher = (real as (...all: unknown[]) => import('node:fs').FSWatcher)(...given)
      const one = { closed: 0, fail: () => void watcher.emit('error', systemError('ENOSPC')) }
      const close = watcher.close.bind(watcher)
      watcher.close = () => {
        one.closed++
        close()
      }
      watchers.push(one)
      return watcher
    })
    const wake = new Wake(dir, 3_600_000)
    onTestFinished(() => wake.stop())
    const off = [wake.on(() => {}), wake.on(() => {})]
    expect(watchers).toHaveLength(1)
    off[0]!()
    expect(watchers[0]!.closed).toBe(0)
    // A watch that fails is no reason to end: it is looked now and then.
    watchers[0]!.fail()
    expect(watchers[0]!.closed).toBe(1)
    off[1]!()
    expect(watchers[0]!.closed).toBe(2)
    wake.on(() => {})
    expect(watchers).toHaveLength(2)
    wake.stop()
    expect(watchers[1]!.closed).toBe(1)
  })

  it('does not ring any more when nobody listens', async () => {
    const wake = new Wake(join(tempDir(), 'nowhere'), 1)
    onTestFinished(() => wake.stop())
    let [rung, other] = [0, 0]
    const off = wake.on(() => void rung++)
    await until(() => rung >= 2)
    off()
    const before = rung
    const second = new Wake(join(tempDir(), 'nowhere'), 1)
    onTestFinished(() => second.stop())
    second.on(() => void other++)
    await until(() => other >= 3)
    expect(rung).toBe(before)
  })
})

describe('open segments', () => {
  /** Six segments, of which the first three are archived; and the files that are open. */
  function setUp() {
    const dir = join(tempDir(), 'journal')
    mkdirSync(dir)
    mkdirSync(archiveDirOf(dir))
    for (const segment of [1, 2, 3])
      writeFileSync(
        join(archiveDirOf(dir), archivedName(segment, '2026-01')),
        gzipSync(`archived ${segment}`),
      )
    for (let segment = 4; segment <= 12; segment++)
      writeFileSync(segmentPath(dir, segment), `plain ${segment}`)
    const files = new Set<number>()
    let opened = 0
    patchFs('openSync', (real) => (...given) => {
      const fd = (real as (...all: unknown[]) => number)(...given)
      files.add(fd)
      opened++
      return fd
    })
    patchFs('closeSync', (real) => (fd) => {
      files.delete(fd)
      real(fd)
    })
    let unpacked = 0
    const archive = new Archive(dir)
    const unpack = archive.unpack.bind(archive)
    archive.unpack = (segment) => {
      unpacked++
      return unpack(segment)
    }
    const order = new SegmentOrder()
    const segments = new OpenSegments(dir, archive, order)
    onTestFinished(() => segments.close())
    const text = (segment: number) => segments.any(segment)?.read(0, 99).toString()
    const counts = () => ({ files: files.size, opened, unpacked })
    return { dir, segments, order, text, counts }
  }

  it('are read, plain or archived, and few are kept open', () => {
    const { segments, text, counts } = setUp()
    expect([text(4), text(1), text(99)]).toEqual(['plain 4', 'archived 1', undefined])
    for (const segment of [5, 6, 7, 4, 5, 6, 7]) text(segment)
    expect(counts().files).toBe(4)
    const before = counts().opened
    for (const segment of [4, 5, 6, 7]) text(segment)
    expect(counts().opened).toBe(before)
    text(8)
    expect(counts().files).toBe(1)
    for (let segment = 4; segment <= 12; segment++)
      expect(segments.start(segment).toString()).toBe(`plain ${segment}`)
    expect(counts().files).toBe(1)
    segments.forget(8)
    segments.forget(99)
    expect([counts().files, text(8)]).toEqual([0, 'plain 8'])
    segments.close()
    expect(counts().files).toBe(0)
  })

  it('stay unpacked, two of them', () => {
    const { text, counts } = setUp()
    for (const segment of [1, 2, 1, 2, 1]) text(segment)
    expect(counts().unpacked).toBe(2)
    text(3)
    expect([text(3), text(1), counts().unpacked]).toEqual(['archived 3', 'archived 1', 3])
    text(2)
    expect(counts().unpacked).toBe(4)
  })

  it('are others when the order changes', () => {
    const { segments, order, text } = setUp()
    expect([text(4), text(5), segments.isInPlace(4)]).toEqual(['plain 4', 'plain 5', true])
    expect(
      segments.reorder((start) =>
        start.toString().endsWith(' 4') ? 9 : start.toString().endsWith(' 5') ? 8 : undefined,
      ),
    ).toBe(true)
    expect([text(4), text(5), segments.isInPlace(4), segments.isInPlace(6)]).toEqual([
      ...['plain 5', 'plain 4', false, true],
    ])
    segments.forgetOrder()
    expect([text(4), order.version]).toEqual(['plain 4', 2])
  })

  it('are known to be replaced', () => {
    const { dir, segments, text } = setUp()
    text(4)
    expect([segments.isReplaced(4), segments.isReplaced(5)]).toEqual([false, false])
    rmSync(segmentPath(dir, 4))
    expect(segments.isReplaced(4)).toBe(true)
    symlinkSync(segmentPath(dir, 5), segmentPath(dir, 4))
    expect(segments.isReplaced(4)).toBe(true)
  })
})
