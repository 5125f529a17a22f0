import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bootId } from '../../src/base/process.ts'
import { BrokenLine, LineCopy, Unconnected } from '../../src/journal/copy/line-copy.ts'
import { lineStart, placesAfter } from '../../src/journal/copy/line-place.ts'
import { readHead } from '../../src/journal/file/head-mark.ts'
import { archivedName, listArchived, listPlain, segmentPath } from '../../src/journal/file/segment.ts'
import type { Cursor } from '../../src/journal/journal.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { failCall, patchFs, shortWrites, systemError } from '../helpers/fs-faults.ts'
import { chain, header, type MadeLine, madeSpace, numbered, usualLines } from '../helpers/hand-made.ts'
import { refusal } from '../helpers/refusal.ts'
import { withOwnSum } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'

/** Three segments of four lines each. */
const lines = usualLines(3)
const texts = lines.map(({ text }) => text)
/** Where the line with a number ends, when four of them are in each segment. */
function endOf(seq: number, all: readonly MadeLine[] = lines, firstSegment = 1): Cursor {
  const at = all.findIndex((line) => line.seq === seq)
  const begins = at - (at % 4)
  const offset = all.slice(begins, at + 1).reduce((sum, { text }) => sum + text.length + 1, 0)
  return { seq, segment: firstSegment + begins / 4, offset, sum: all[at]!.sum }
}
const segmentText = (segment: number) =>
  texts
    .slice((segment - 1) * 4, segment * 4)
    .map((text) => `${text}\n`)
    .join('')

/** A line with the right checksum that does not say which entry it is. */
const unplaced = withOwnSum(texts[2]!.replace('"seq":3', '"seq":"3"'))

function openCopy(dir = tempDir()) {
  const copy = new LineCopy(dir)
  onTestFinished(() => copy.close())
  const journal = join(dir, 'journal')
  const text = (segment: number) => readFileSync(segmentPath(journal, segment), 'utf8')
  const path = (segment: number) => segmentPath(journal, segment)
  return { dir, copy, journal, text, path }
}

/** A copy with the first lines of the journal in it. */
function filled(count: number) {
  const all = openCopy()
  all.copy.add(texts.slice(0, count), madeSpace)
  return all
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a copy of lines', () => {
  it('has each line where it is in any other copy', () => {
    const { copy, journal, text } = openCopy()
    expect(copy.end()).toEqual({ seq: 0, segment: 1, offset: 0, sum: '' })
    expect(copy.add(texts.slice(0, 2), madeSpace)).toBe(true)
    expect(copy.end()).toEqual(endOf(2))
    expect(copy.add(texts.slice(2, 7), madeSpace)).toBe(true)
    expect(copy.end()).toEqual(endOf(7))
    expect(copy.add(texts.slice(7), madeSpace)).toBe(true)
    expect(copy.end()).toEqual(endOf(12))
    expect(listPlain(journal)).toEqual([1, 2, 3])
    for (const segment of [1, 2, 3]) expect(text(segment)).toBe(segmentText(segment))
    expect(statSync(journal).mode & 0o777).toBe(0o700)
    expect(readHead(journal)).toEqual({
      ...{ seq: 12, segment: 3, end: endOf(12).offset, sum: lines[11]!.sum, space: madeSpace },
    })
  })

  it('passes over lines that it has', () => {
    const { copy, text } = filled(6)
    expect(copy.add(texts.slice(0, 6), madeSpace)).toBe(true)
    expect(copy.add(texts.slice(2, 8), madeSpace)).toBe(true)
    expect([text(1), text(2)]).toEqual([segmentText(1), segmentText(2)])
    expect(copy.add([], madeSpace)).toBe(true)
    expect(copy.end()).toEqual(endOf(8))
  })

  it('keeps what comes before a gap, and says that something is missing', () => {
    const { copy, text } = filled(1)
    expect(copy.add([...texts.slice(1, 3), texts[4]!], madeSpace)).toBe(false)
    expect(copy.end()).toEqual(endOf(3))
    expect(copy.add(texts.slice(3), madeSpace)).toBe(true)
    expect(text(2)).toBe(segmentText(2))
  })

  it('begins with the header of a segment and with nothing else', () => {
    const { copy, journal } = openCopy()
    expect(copy.add(texts.slice(1), madeSpace)).toBe(false)
    expect(listPlain(journal)).toEqual([])
    expect(readHead(journal)).toBeUndefined()
  })

  it('begins with the file that the journal begins with', () => {
    const { copy, journal, text } = openCopy()
    copy.firstSegment = 2
    expect(copy.end()).toEqual({ seq: 0, segment: 2, offset: 0, sum: '' })
    copy.add(texts.slice(4), madeSpace)
    expect(listPlain(journal)).toEqual([2, 3])
    expect([text(2), text(3)]).toEqual([segmentText(2), segmentText(3)])
    expect(copy.end()).toEqual(endOf(12))
  })

  it('takes no line that does not follow the one before, and keeps those that do', () => {
    const { copy } = filled(1)
    const [other] = chain([numbered(4)], { seq: 3, sum: 'f'.repeat(32) })
    const error = thrownBy(() => copy.add([...texts.slice(1, 3), other!.text, texts[4]!], madeSpace))
    expect(error).toBeInstanceOf(Unconnected)
    expect(error).toMatchObject({ seq: 4, message: 'entry 4 does not follow the one before' })
    expect(copy.end()).toEqual(endOf(3))
  })

  it('takes no line that has another checksum than its own', () => {
    const { copy } = filled(2)
    const broken = texts[3]!.replace('some words', 'some WORDS')
    const error = thrownBy(() => copy.add([texts[2]!, broken], madeSpace))
    expect(error).toBeInstanceOf(BrokenLine)
    expect(error).toMatchObject({ seq: 4, message: 'entry 4 has another checksum than its own' })
    expect(thrownBy(() => copy.add(['no line'], madeSpace))).toMatchObject({ seq: 3 })
    expect(thrownBy(() => copy.add([texts[2]!, 'no line'], madeSpace))).toMatchObject({ seq: 4 })
    expect(thrownBy(() => copy.add([unplaced], madeSpace))).toMatchObject({ seq: 3 })
    // Nothing of such an answer is taken.
    expect(copy.end()).toEqual(endOf(2))
  })

  it('cuts off what a killed process has left of a line', () => {
    const { copy, path, text } = filled(3)
    appendFileSync(path(1), texts[3]!.slice(0, 40))
    expect(copy.end()).toEqual(endOf(3))
    copy.add(texts.slice(3, 6), madeSpace)
    expect(text(1)).toBe(segmentText(1))
    // A file with nothing but a part of its header is no segment yet.
    writeFileSync(path(3), texts[8]!.slice(0, 20))
    expect(copy.end()).toEqual(endOf(6))
    copy.add(texts.slice(6), madeSpace)
    expect([text(2), text(3)]).toEqual([segmentText(2), segmentText(3)])
  })

  it('is the same for all processes of the machine', () => {
    const first = filled(2)
    const second = openCopy(first.dir)
    expect(second.copy.end()).toEqual(endOf(2))
    first.copy.add(texts.slice(2, 3), madeSpace)
    expect(second.copy.end()).toEqual(endOf(3))
    first.copy.add(texts.slice(3, 5), madeSpace)
    expect(second.copy.end()).toEqual(endOf(5))
    second.copy.add(texts.slice(3, 8), madeSpace)
    first.copy.add(texts.slice(5), madeSpace)
    expect(second.copy.end()).toEqual(endOf(12))
    for (const segment of [1, 2, 3]) expect(first.text(segment)).toBe(segmentText(segment))
  })

  it('does not read its files again while they are as it left them', () => {
    const { copy } = filled(6)
    let opened = 0
    patchFs('openSync', (real) => (...given) => {
      opened++
      return (real as (...all: unknown[]) => number)(...given)
    })
    expect([copy.end(), opened]).toEqual([endOf(6), 0])
  })

  it.each([10, 65_536 * 3, 65_536 * 40])('finds its end behind a line of %s characters', (length) => {
    const { copy, dir, path } = openCopy()
    const long = chain([header('created'), messageDraft({ body: 'x'.repeat(length) })])
    copy.add(
      long.map(({ text }) => text),
      madeSpace,
    )
    expect(openCopy(dir).copy.end()).toEqual({ ...endOf(2, long), offset: statSync(path(1)).size })
  })

  it('finds its end if all there is of a segment is one line', () => {
    const { dir } = filled(5)
    expect(openCopy(dir).copy.end()).toEqual(endOf(5))
  })

  it('whose last line is damaged gives no end until it is dropped', () => {
    const { copy, dir, journal, text, path } = filled(7)
    writeFileSync(path(2), text(2).replace(/words(?=[^\n]*\n$)/, 'WORDS'))
    const next = openCopy(dir).copy
    const error = refusal(() => next.end())
    expect([error.code, error.hint]).toEqual(['damaged', 'fetch it again: mailbox rebuild'])
    for (const last of ['not a line', unplaced, '']) {
      writeFileSync(path(2), `${last}\n`)
      expect(refusal(() => openCopy(dir).copy.end()).code).toBe('damaged')
    }
    next.drop()
    expect(listPlain(journal)).toEqual([])
    expect(next.end()).toEqual({ seq: 0, segment: 1, offset: 0, sum: '' })
    expect(existsSync(join(dir, 'head'))).toBe(false)
    // The other one had it open.
    expect(copy.end().seq).toBe(0)
    expect(next.add(texts, madeSpace)).toBe(true)
    expect(text(2)).toBe(segmentText(2))
    expect(readHead(journal)?.seq).toBe(12)
  })

  it('that somebody has removed begins again', () => {
    const { copy, journal, text } = filled(7)
    rmSync(journal, { recursive: true })
    expect(copy.end().seq).toBe(0)
    expect(copy.add(texts, madeSpace)).toBe(true)
    expect(text(3)).toBe(segmentText(3))
    expect(statSync(journal).mode & 0o777).toBe(0o700)
    rmSync(journal, { recursive: true })
    copy.drop()
    expect(copy.end().seq).toBe(0)
  })

  it('that is dropped loses its archive too', () => {
    const { copy, dir, journal } = openCopy()
    copy.addPacked(packed(1), texts.slice(0, 4))
    copy.drop()
    expect([...listArchived(journal)]).toEqual([])
    expect(existsSync(join(dir, 'archive'))).toBe(true)
    expect(copy.end().seq).toBe(0)
  })

  it('that the disk refuses says so, and has nothing of the line', () => {
    const { copy, text } = filled(2)
    let left = 1
    patchFs('writeSync', (real) => (...given) => {
      if (left-- > 0) return (real as (...all: unknown[]) => number)(given[0], given[1], 0, 30)
      throw systemError('ENOSPC')
    })
    const error = refusal(() => copy.add(texts.slice(2, 4), madeSpace))
    expect(error.code).toBe('disk_full')
    expect(text(1)).toBe(
      texts
        .slice(0, 2)
        .map((line) => `${line}\n`)
        .join(''),
    )
    expect(copy.end()).toEqual(endOf(2))
  })

  it('that the disk refuses to cut as well is put right by the next one who writes', () => {
    const { copy, text } = filled(2)
    patchFs('writeSync', (real) => {
      let calls = 0
      return (...given) => {
        calls++
        if (calls === 1) return (real as (...all: unknown[]) => number)(given[0], given[1], 0, 30)
        if (calls === 2) throw systemError('EIO')
        return (real as (...all: unknown[]) => number)(...given)
      }
    })
    failCall('ftruncateSync', 'EIO')
    expect(refusal(() => copy.add(texts.slice(2, 4), madeSpace)).message).toMatch(/EIO/)
    expect(text(1)).toHaveLength(endOf(2).offset + 30)
    copy.add(texts.slice(2, 4), madeSpace)
    expect(text(1)).toBe(segmentText(1))
  })

  it('writes all of it, however little the disk takes at once', () => {
    const { copy, text } = openCopy()
    shortWrites(100)
    copy.add(texts, madeSpace)
    for (const segment of [1, 2, 3]) expect(text(segment)).toBe(segmentText(segment))
  })

  it('closes every file it opens', () => {
    const open = new Set<number>()
    patchFs('openSync', (real) => (...given) => {
      const fd = (real as (...all: unknown[]) => number)(...given)
      open.add(fd)
      return fd
    })
    patchFs('closeSync', (real) => (fd) => {
      open.delete(fd)
      real(fd)
    })
    const dir = tempDir()
    for (const count of [6, 12]) {
      const copy = new LineCopy(dir)
      copy.add(texts.slice(0, count), madeSpace)
      copy.end()
      copy.close()
      writeFileSync(join(dir, 'boot'), 'another\n')
    }
    expect(open.size).toBe(0)
  })

  it('remembers for all processes when the journal was last asked for', () => {
    const { copy, dir } = openCopy()
    expect(copy.checkedAt).toBeUndefined()
    copy.checked()
    expect(statSync(join(dir, 'checked')).mode & 0o777).toBe(0o600)
    utimesSync(join(dir, 'checked'), 1_000, 2_000)
    expect(openCopy(dir).copy.checkedAt).toBe(2_000_000)
    copy.checked()
    expect(copy.checkedAt).toBeGreaterThan(2_000_000)
    rmSync(join(dir, 'checked'))
    mkdirSync(join(dir, 'checked'))
    copy.checked()
  })
})

const packed = (segment: number) => ({
  name: archivedName(segment, '2026-01'),
  content: gzipSync(segmentText(segment)),
})
const linesOf = (segment: number) => texts.slice((segment - 1) * 4, segment * 4)

describe('an archived segment', () => {
  it('comes into a new copy as it is, and lines follow it', () => {
    const { copy, dir, journal, text } = openCopy()
    expect(copy.addPacked(packed(1), linesOf(1))).toBe(true)
    expect(basename(listArchived(journal).get(1)!)).toBe('2026-01-00000001.jsonl.gz')
    expect(readFileSync(listArchived(journal).get(1)!).equals(packed(1).content)).toBe(true)
    expect(statSync(join(dir, 'archive')).mode & 0o777).toBe(0o700)
    expect(copy.end()).toEqual(endOf(4))
    // The clock went back meanwhile, so its name comes first.
    expect(copy.addPacked({ ...packed(2), name: archivedName(2, '2025-12') }, linesOf(2))).toBe(true)
    expect(copy.end()).toEqual(endOf(8))
    expect(copy.add(texts.slice(8), madeSpace)).toBe(true)
    expect([listPlain(journal), text(3)]).toEqual([[3], segmentText(3)])
    expect(copy.end()).toEqual(endOf(12))
  })

  it('is not taken where plain lines are, or where something is missing before it', () => {
    const plain = filled(4)
    expect(plain.copy.addPacked(packed(2), linesOf(2))).toBe(false)
    expect([...listArchived(plain.journal)]).toEqual([])
    const { copy } = openCopy()
    copy.addPacked(packed(1), linesOf(1))
    expect(copy.addPacked(packed(3), linesOf(3))).toBe(false)
    expect(copy.end()).toEqual(endOf(4))
  })

  it('that does not follow what is here, or has no name of one, is refused', () => {
    const { copy, dir } = openCopy()
    const error = (name: string, given: readonly string[]) =>
      thrownBy(() => copy.addPacked({ name, content: packed(1).content }, given))
    expect(error('../00000001.jsonl.gz', linesOf(1))).toBeInstanceOf(BrokenLine)
    expect(error(packed(1).name, [])).toBeInstanceOf(BrokenLine)
    expect(error(packed(1).name, ['no line'])).toMatchObject({ seq: 1 })
    expect(existsSync(join(dir, 'archive'))).toBe(false)
    copy.addPacked(packed(1), linesOf(1))
    expect(error(packed(2).name, ['no line'])).toMatchObject({ seq: 5 })
    const others = chain([header()], { seq: 4, sum: 'f'.repeat(32) }).map(({ text }) => text)
    const unconnected = error(packed(2).name, others)
    expect(unconnected).toBeInstanceOf(Unconnected)
    expect(unconnected).toMatchObject({ seq: 5 })
    expect(copy.end()).toEqual(endOf(4))
  })

  it('may be the first that the journal still has', () => {
    const { copy } = openCopy()
    copy.firstSegment = 2
    expect(copy.addPacked(packed(2), linesOf(2))).toBe(true)
    expect(copy.end()).toEqual(endOf(8))
  })
})

describe('after the machine was started', () => {
  /** A copy that another process left, before the machine was started again. */
  function left(change: (all: ReturnType<typeof filled>) => void, boot: string | undefined = 'another\n') {
    const all = filled(10)
    all.copy.close()
    change(all)
    if (boot !== undefined) writeFileSync(join(all.dir, 'boot'), boot)
    return openCopy(all.dir)
  }

  it('a copy that is whole stays', () => {
    const { copy, dir } = left(({ path }) => appendFileSync(path(3), texts[10]!.slice(0, 30)))
    expect(copy.end()).toEqual(endOf(10))
    expect(readFileSync(join(dir, 'boot'), 'utf8')).toBe(`${bootId() ?? 'unknown'}\n`)
  })

  it.each([1, 2, 3])('a copy with a hole in segment %s is fetched again', (segment) => {
    const { journal } = left(({ path, text }) => {
      const holes = text(segment).replace('prev', '\0\0\0\0')
      writeFileSync(path(segment), holes)
    })
    expect(listPlain(journal)).toEqual([])
  })

  it('a hole at its beginning is found too', () => {
    const { journal } = left(({ path, text }) => writeFileSync(path(1), `\n${text(1).slice(1)}`))
    expect(listPlain(journal)).toEqual([])
  })

  it('a hole in the last of many lines is found too', () => {
    const { journal } = left(({ path, text }) => writeFileSync(path(1), text(1).replace(/"\}\n$/, '\0\0\n')))
    expect(listPlain(journal)).toEqual([])
  })

  it('it is looked at once, not by every process', () => {
    const { dir, path, text } = filled(10)
    writeFileSync(path(1), text(1).replace('some', 'SOME'))
    expect(openCopy(dir).copy.end()).toEqual(endOf(10))
  })
})

describe('the place of a line', () => {
  it('follows from where the one before ends', () => {
    const from = endOf(2)
    const places = placesAfter(from, texts.slice(2, 6))
    const offsets = [from.offset, endOf(3).offset, 0, endOf(5).offset]
    expect(places).toEqual(
      texts.slice(2, 6).map((text, at) => ({
        ...{ segment: at < 2 ? 1 : 2, offset: offsets[at], bytes: Buffer.byteLength(text) },
      })),
    )
    const start = { seq: 0, segment: 1, offset: 0, sum: '' }
    expect(placesAfter(start, texts.slice(0, 1))).toEqual([
      { segment: 1, offset: 0, bytes: Buffer.byteLength(texts[0]!) },
    ])
  })

  it('is counted in bytes', () => {
    const [one] = chain([messageDraft({ subject: 'x' })], { seq: 4, sum: 'a'.repeat(32) })
    const wide = one!.text.replace('"x"', '"Ω"')
    expect(placesAfter(endOf(4), [wide])[0]!.bytes).toBe(one!.text.length + 1)
  })

  it('is what the line says at its beginning, and only there', () => {
    expect(lineStart(texts[0]!)).toEqual({ seq: 1, kind: 'segment' })
    expect(lineStart(texts[10]!)).toEqual({ seq: 11, kind: 'message' })
    for (const bad of [
      ` ${texts[0]}`,
      texts[0]!.replace('{"seq":1,', '{"seq":x,'),
      texts[0]!.replace('"kind"', '"sort"'),
      '',
    ])
      expect(lineStart(bad)).toBeUndefined()
  })
})
