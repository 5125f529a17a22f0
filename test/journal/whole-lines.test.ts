import { type closeSync, mkdirSync, type openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { wholeLines } from '../../src/journal/copy/whole-lines.ts'
import { archiveDirOf, archivedName } from '../../src/journal/file/segment.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { patchFs } from '../helpers/fs-faults.ts'
import { chain, HandMade, header, numbered } from '../helpers/hand-made.ts'
import { refusal } from '../helpers/refusal.ts'

const whole = ({ lines }: HandMade) => lines.map(({ seq, sum, text }) => ({ seq, sum, text }))
const read = ({ dir }: HandMade, after?: number) => [...wholeLines(dir, after)]
const seqs = (made: HandMade, after?: number) => read(made, after).map(({ seq }) => seq)
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
/** Why a journal is not whole. */
function flaw(made: HandMade): string {
  const { code, message, hint } = refusal(() => read(made))
  expect(code).toBe('damaged')
  expect(hint).toMatch(/mailbox repair/)
  return message.replace('the journal is not whole: ', '')
}

function pack(made: HandMade, segment: number, content = gzipSync(made.text(segment))): void {
  mkdirSync(archiveDirOf(made.dir), { recursive: true })
  writeFileSync(join(archiveDirOf(made.dir), archivedName(segment, '2026-01')), content)
  rmSync(made.path(segment))
}

it('a journal is read line by line, through all its segments', () => {
  const made = new HandMade()
  expect(read(made)).toEqual(whole(made))
  made.mark(12)
  expect(read(made)).toEqual(whole(made))
})

it('what is known already is left out by whole files', () => {
  const made = new HandMade()
  expect(seqs(made, 3)).toEqual(from(1, 12))
  expect(seqs(made, 4)).toEqual(from(5, 12))
  expect(seqs(made, 7)).toEqual(from(5, 12))
  expect(seqs(made, 12)).toEqual(from(9, 12))
})

it('what a write that was cut off has left is no line', () => {
  const made = new HandMade(2)
  const [next] = chain([numbered(9)], made.lines.at(-1)!)
  made.edit(2, (text) => `${text}${next!.text.slice(0, 50)}`)
  expect(seqs(made)).toEqual(from(1, 8))
  // Sealed, with the line after it.
  made.edit(2, (text) => `${text}\n${next!.text}\n`)
  expect(seqs(made)).toEqual(from(1, 9))
})

it('lines of any length are read, wherever a portion of them ends', () => {
  const made = new HandMade(1)
  const drafts = [3, 2, 9, 1].map((megabytes) =>
    messageDraft({ body: 'x'.repeat(megabytes * 1_000_000 - 5_000) }),
  )
  const more = chain(drafts, made.lines.at(-1)!)
  made.lines.push(...more)
  made.write(1, ...made.lines.map(({ text }) => text))
  expect(read(made)).toEqual(whole(made))
})

it('a line that is missing, or follows another one, is told', () => {
  const gone = new HandMade()
  gone.write(1, gone.line(1), gone.line(3), gone.line(4))
  expect(flaw(gone)).toBe('entry 3 does not follow entry 1')
  const forked = new HandMade()
  const [other] = chain([numbered(7)], { seq: 6, sum: 'f'.repeat(32) })
  forked.write(2, forked.line(5), forked.line(6), other!.text, forked.line(8))
  expect(flaw(forked)).toBe('entry 7 does not follow entry 6')
  const segment = new HandMade()
  rmSync(segment.path(2))
  expect(flaw(segment)).toBe('entry 9 does not follow entry 4')
})

it('a journal need not begin with its first entry: older ones may have been removed', () => {
  const made = new HandMade()
  rmSync(made.path(1))
  expect(seqs(made)).toEqual(from(5, 12))
})

it('what was acknowledged and is missing at the end is told', () => {
  const made = new HandMade()
  made.mark(12)
  made.write(3, made.line(9), made.line(10))
  expect(flaw(made)).toBe('entries 11 to 12 are missing')
  made.write(3, made.line(9), made.line(10), made.line(11), made.line(12))
  expect(seqs(made)).toEqual(from(1, 12))
  for (const segment of [1, 2, 3]) rmSync(made.path(segment))
  expect(flaw(made)).toBe('entries 1 to 12 are missing')
})

it('an archived segment is read as any other, unless it is damaged', () => {
  const made = new HandMade()
  pack(made, 1)
  expect(read(made)).toEqual(whole(made))
  pack(made, 2, gzipSync(made.text(2)).subarray(0, -20))
  expect(flaw(made)).toMatch(/00000002\.jsonl\.gz cannot be unpacked/)
})

it('a segment of another space is none of this journal', () => {
  const made = new HandMade(2)
  const [foreign] = chain([header('size', 'other')], { seq: 8, sum: 'f'.repeat(32) })
  made.write(3, foreign!.text)
  made.mark(8)
  expect(seqs(made)).toEqual(from(1, 8))
})

it('segments whose files were swapped are read in the order of their entries', () => {
  const made = new HandMade()
  renameSync(made.path(1), `${made.path(1)}.x`)
  renameSync(made.path(2), made.path(1))
  renameSync(`${made.path(1)}.x`, made.path(2))
  expect(read(made)).toEqual(whole(made))
})

it('closes the files, also when nobody reads to the end', () => {
  const made = new HandMade()
  const open = new Set<number>()
  patchFs('openSync', (real) => (...given) => {
    const fd = (real as typeof openSync)(...(given as Parameters<typeof openSync>))
    open.add(fd)
    return fd
  })
  patchFs('closeSync', (real) => (fd) => {
    open.delete(fd)
    ;(real as typeof closeSync)(fd)
  })
  for (const line of wholeLines(made.dir)) if (line.seq === 6) break
  expect(open.size).toBe(0)
  read(made)
  expect(open.size).toBe(0)
})

it('an empty journal has no lines', () => {
  const made = new HandMade(1)
  made.writeText(1, '')
  expect(read(made)).toEqual([])
})
