import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeLine, noSum } from '../../src/journal/codec.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { startCursor } from '../../src/journal/journal.ts'
import type { Entry } from '../../src/model/entry.ts'
import { messageDraft, subjectOf } from '../helpers/drafts.ts'
import { runScript } from '../helpers/processes.ts'
import { encodeLine, segmentFile } from '../helpers/segments.ts'
import { tempDir } from '../helpers/temp.ts'

/** A directory with segments written by hand, and a reader on it. */
function setUp(): {
  dir: string
  reader: SegmentReader<Entry>
  line: (subject: string, body?: string) => string
} {
  const dir = tempDir()
  mkdirSync(join(dir, 'journal'), { mode: 0o700 })
  let seq = 0
  let prev = noSum
  const line = (subject: string, body = '') => {
    const encoded = encodeLine(messageDraft({ subject, body }), ++seq, '2026-01-02T03:04:05.678Z', prev)
    prev = encoded.sum
    return encoded.text.toString()
  }
  return { dir, reader: new SegmentReader(join(dir, 'journal'), decodeLine), line }
}

function subjects(reader: SegmentReader<Entry>, cursor = startCursor, maxBytes = 1_048_576) {
  const read = reader.read(cursor, maxBytes)
  return { subjects: read.entries.map(({ entry }) => subjectOf(entry)), cursor: read.cursor }
}

describe('a reader', () => {
  it('hands out a half line only when its end has come', () => {
    const { dir, reader, line } = setUp()
    const [first, second] = [line('first'), line('second')]
    writeFileSync(segmentFile(dir), first + second.slice(0, 100))
    const before = subjects(reader)
    expect(before.subjects).toEqual(['first'])
    expect(subjects(reader, before.cursor)).toEqual({ subjects: [], cursor: before.cursor })
    appendFileSync(segmentFile(dir), second.slice(100))
    expect(subjects(reader, before.cursor).subjects).toEqual(['second'])
  })

  it('forgets a half line that its writer took back', () => {
    const { dir, reader, line } = setUp()
    const [first, second] = [line('first'), line('second')]
    writeFileSync(segmentFile(dir), `${first}{"seq":2,"at":"a line that never came to be`)
    const before = subjects(reader)
    truncateSync(segmentFile(dir), first.length)
    appendFileSync(segmentFile(dir), second)
    expect(subjects(reader, before.cursor).subjects).toEqual(['second'])
  })

  it('is not held up when a half line is taken back in the middle of reading it', () => {
    // In a process of its own: a reader that runs in circles cannot be stopped from within.
    const { status, stdout } = runScript(new URL('taken-back.mjs', import.meta.url), [tempDir()], {
      timeoutMs: 10_000,
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'read on: second\n' })
  })

  it('reads a line that is much longer than it was asked to read at once', () => {
    const { dir, reader, line } = setUp()
    writeFileSync(segmentFile(dir), line('long', 'x'.repeat(1_000_000)) + line('short'))
    const first = subjects(reader, startCursor, 10)
    expect(first.subjects[0]).toBe('long')
    const second = subjects(reader, first.cursor, 10)
    expect([...first.subjects, ...second.subjects]).toEqual(['long', 'short'])
  })

  it('waits at half of a line that is much longer than it was asked to read at once', () => {
    const { dir, reader, line } = setUp()
    const long = line('long', 'x'.repeat(1_000_000))
    writeFileSync(segmentFile(dir), long.slice(0, -1))
    expect(subjects(reader, startCursor, 10)).toEqual({ subjects: [], cursor: startCursor })
  })

  it('goes on with the next segment', () => {
    const { dir, reader, line } = setUp()
    writeFileSync(segmentFile(dir, 1), line('one'))
    writeFileSync(segmentFile(dir, 2), line('two'))
    writeFileSync(segmentFile(dir, 3), line('three'))
    expect(subjects(reader).subjects).toEqual(['one', 'two', 'three'])
    expect(subjects(reader, startCursor, 1).subjects).toEqual(['one'])
  })

  it('goes on with the next segment behind a half line that nobody will finish', () => {
    const { dir, reader, line } = setUp()
    writeFileSync(segmentFile(dir, 1), `${line('one')}{"seq":2,"at":"20`)
    const before = subjects(reader)
    writeFileSync(segmentFile(dir, 2), line('two'))
    expect(subjects(reader, before.cursor).subjects).toEqual(['two'])
  })

  it('goes on with the first segment that is there when its own is gone', () => {
    const { dir, reader, line } = setUp()
    for (const segment of [1, 2, 3]) writeFileSync(segmentFile(dir, segment), line(`${segment}`))
    rmSync(segmentFile(dir, 1))
    rmSync(segmentFile(dir, 2))
    expect(subjects(reader).subjects).toEqual(['3'])
  })

  it('steps over a line that does not decode and reads what is behind it', () => {
    const { dir, reader, line } = setUp()
    writeFileSync(segmentFile(dir), `${line('one')}not a line\n\n${line('two')}`)
    expect(subjects(reader).subjects).toEqual(['one', 'two'])
  })

  it('is at the end only when neither this segment nor a later one has more', () => {
    const { dir, reader, line } = setUp()
    writeFileSync(segmentFile(dir, 1), line('one'))
    const { cursor } = subjects(reader)
    expect(reader.atEnd(cursor)).toBe(true)
    writeFileSync(segmentFile(dir, 2), '')
    expect(reader.atEnd(cursor)).toBe(false)
    expect(reader.atEnd(subjects(reader, cursor).cursor)).toBe(true)
  })
})
