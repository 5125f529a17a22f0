import { hash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import { HeadMark } from '../../src/journal/file/head-mark.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { flipped } from '../helpers/damage-space.ts'
import { appendMessage, messageDraft } from '../helpers/drafts.ts'
import { patchFs } from '../helpers/fs-faults.ts'
import { chain, HandMade, header, madeSpace, numbered } from '../helpers/hand-made.ts'
import { refusal } from '../helpers/refusal.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

const open = (made: HandMade) => tempJournal({ dir: made.space })
const ofSpace = (space: string) => chain([header('created', space), numbered(2)]).map(({ text }) => text)

/** Says whose journal it is. */
function markAs(made: HandMade, space: string): void {
  const head = new HeadMark(made.dir, space)
  head.write({ seq: 1, segment: 1, end: 1, sum: '0'.repeat(32) })
  head.close()
}

describe('whose journal it is', () => {
  it('is in the first line that can be read', () => {
    const made = new HandMade()
    made.write(1, '#', ...made.in(1).slice(1))
    expect(open(made).space).toBe(madeSpace)
    made.write(1, ...ofSpace('another'))
    expect(open(made).space).toBe('another')
  })

  it('is what the mark says, if any file is of that space', () => {
    const made = new HandMade()
    made.write(1, ...ofSpace('another'))
    made.write(2, ...ofSpace('third'))
    markAs(made, madeSpace)
    expect(open(made).space).toBe(madeSpace)
    const other = new HandMade(0)
    other.write(1, ...ofSpace('another'))
    other.write(2, ...ofSpace('third'))
    markAs(other, madeSpace)
    expect(open(other).space).toBe('another')
    const empty = new HandMade(0)
    markAs(empty, 'marked')
    expect(open(empty).space).toBe('marked')
  })

  it('is found in a line with one wrong bit, or made of a line that is damaged more', () => {
    const made = new HandMade(1)
    const line = Buffer.from(made.line(1), 'latin1')
    const one = flipped(line, 8 * 30)
    made.write(1, one.toString('latin1'))
    expect(open(made).space).toBe(madeSpace)
    const two = flipped(one, 8 * 40)
    made.write(1, two.toString('latin1'))
    expect(open(made).space).toBe(hash('sha256', two, 'hex').slice(0, 32))
    // A message with a wrong bit says nothing of it, and the rest of a line even less.
    const message = flipped(Buffer.from(made.line(2), 'latin1'), 8 * 30)
    made.write(1, '#')
    made.write(2, message.toString('latin1'))
    expect(open(made).space).toBe(hash('sha256', message, 'hex').slice(0, 32))
    made.write(3, one.toString('latin1'))
    expect(open(made).space).toBe(madeSpace)
  })

  it('must stay the same while it is in use', () => {
    const made = new HandMade()
    const journal = open(made)
    expect(() => journal.mustBeInPlace()).not.toThrow()
    for (const segment of [1, 2, 3]) made.write(segment, ...ofSpace('another'))
    const error = refusal(() => journal.mustBeInPlace())
    expect(error).toMatchObject({ code: 'damaged', message: `${made.space} is another space now` })
    expect(error.hint).toMatch(/./)
    for (const segment of [1, 2, 3]) rmSync(made.path(segment))
    expect(refusal(() => journal.mustBeInPlace()).message).toContain('is gone')
  })
})

describe('a journal of files', () => {
  it('is on disk with the way to it before its first line, if it is to be durable', () => {
    const synced: number[] = []
    patchFs('fsyncSync', (real) => (fd) => {
      synced.push(fd)
      real(fd)
    })
    const [hasty, durable] = ['hasty', 'durable'].map((name) => join(tempDir(), 'a', name))
    mkdirSync(hasty!, { recursive: true })
    tempJournal({ dir: hasty!, durability: 'os' })
    const before = synced.length
    tempJournal({ dir: durable!, durability: 'disk' })
    // The file's own directory is synced too: what is above it makes the difference.
    expect(synced.length - before).toBeGreaterThan(before + 2)
  })

  it('refuses who wants to write, if it is only to be read', async () => {
    const made = new HandMade(1)
    const no = new MailboxError('invalid', 'only for reading', { hint: 'read it' })
    const journal = tempJournal({ dir: made.space, refusal: no })
    expect(refusal(() => journal.withLock(() => 1))).toBe(no)
    await expect(journal.append(() => [messageDraft()])).rejects.toBe(no)
    expect(open(made).withLock(() => 1)).toBe(1)
  })

  it('tells whether a place is in its last file', () => {
    const made = new HandMade()
    const journal = open(made)
    const inLast = (segment: number) => journal.inLast({ ...startCursor, segment })
    expect([1, 2, 3, 4].map(inLast)).toEqual([false, false, true, true])
  })

  it('tells what is damaged at a place', () => {
    const made = new HandMade(1)
    made.edit(1, (text) => text.replace('words', 'noise'))
    const { segment, offset, bytes } = made.place(1, 2)
    const journal = open(made)
    expect(journal.damageAt({ segment, offset, bytes })).toBeDefined()
    const whole = made.place(1, 3)
    expect(journal.at({ segment, offset: whole.offset, bytes: whole.bytes })).toMatchObject({ seq: 3 })
  })

  it('wakes those who listen, and says when something is written', async () => {
    const heard: string[] = []
    const journal = tempJournal({ pollMs: 3_600_000, onWritten: () => heard.push('written') })
    journal.onWake(() => heard.push('wake'))
    await appendMessage(journal)
    expect(heard.slice(0, 2)).toEqual(['wake', 'written'])
  })
})
