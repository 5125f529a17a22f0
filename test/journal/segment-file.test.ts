import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MailboxError } from '../../src/base/errors.ts'
import { decodeGist } from '../../src/journal/codec.ts'
import { archivedPath } from '../../src/journal/file/archive.ts'
import { closeDamaged, findLoss } from '../../src/journal/file/loss.ts'
import { archiveDirOf, listPlain, segmentPath } from '../../src/journal/file/segment.ts'
import { type Durability, SegmentFile } from '../../src/journal/file/segment-file.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { isMisplaced } from '../../src/journal/file/write-error.ts'
import { patchFs, systemError } from '../helpers/fs-faults.ts'
import { HandMade, timeOf } from '../helpers/hand-made.ts'
import { refusal } from '../helpers/refusal.ts'
import { tempDir } from '../helpers/temp.ts'

/** A file of a segment, and what is asked of the disk meanwhile. */
function setUp(durability: Durability = 'disk') {
  const dir = join(tempDir(), 'journal')
  mkdirSync(dir)
  const calls: string[] = []
  const closed: number[] = []
  /** Syncs in the background that are not over yet. */
  const running: ((error?: Error) => void)[] = []
  let failure: Error | undefined
  let now = 0
  let takesMs = 0
  const clock = performance.now
  performance.now = () => now
  onTestFinished(() => {
    performance.now = clock
  })
  patchFs('fsyncSync', (real) => (fd) => {
    calls.push('name')
    real(fd)
  })
  patchFs('fdatasyncSync', () => () => {
    calls.push('here')
    now += takesMs
    if (failure !== undefined) throw failure
  })
  patchFs('fdatasync', () => (_, done) => {
    calls.push('behind')
    running.push((error) => done((error ?? null) as NodeJS.ErrnoException | null))
  })
  patchFs('closeSync', (real) => (fd) => {
    closed.push(fd)
    real(fd)
  })
  const file = new SegmentFile(dir, durability)
  onTestFinished(() => file.close())
  const taken = () => calls.splice(0)
  const answers: (MailboxError | undefined)[] = []
  const sync = (alone = true) => file.sync(alone, (error) => answers.push(error))
  return {
    ...{ dir, file, taken, sync, running, answers, closed },
    path: (segment: number) => segmentPath(dir, segment),
    failWith: (error: Error | undefined) => {
      failure = error
    },
    take: (ms: number) => {
      takesMs = ms
    },
  }
}

const line = Buffer.from('0123456789')

describe('the file that is appended to', () => {
  it('is open under its number', () => {
    const { file, path } = setUp()
    writeFileSync(path(2), 'abc')
    expect([file.segment, file.isOpen(0), file.isOpen(1)]).toEqual([0, false, false])
    file.open(1)
    expect([file.segment, file.isOpen(1), file.isOpen(2), file.size]).toEqual([1, true, false, 0])
    file.open(2)
    expect([file.segment, file.isOpen(1), file.isOpen(2), file.size]).toEqual([2, false, true, 3])
    file.write(line)
    expect(file.size).toBe(13)
    file.truncate(4)
    expect(readFileSync(path(2), 'latin1')).toBe('abc0')
    file.close()
    expect([file.isOpen(2), file.segment]).toEqual([false, 2])
  })

  it('is written as a whole, however little the disk takes at once', () => {
    const { file, path } = setUp()
    file.open(1)
    expect(file.write(line)).toEqual({ bytes: 10, error: undefined })
    const asked: number[][] = []
    let most = 4
    patchFs('writeSync', (real) => (...given) => {
      const [fd, data, offset, length] = given as unknown as [number, Buffer, number, number]
      asked.push([offset, length])
      return most === 0 ? 0 : real(fd, data, offset, Math.min(length, most))
    })
    expect(file.write(line)).toEqual({ bytes: 10, error: undefined })
    expect(asked).toEqual([
      [0, 10],
      [4, 6],
      [8, 2],
    ])
    expect(readFileSync(path(1), 'latin1')).toBe('01234567890123456789')
    most = 0
    expect(file.write(line)).toMatchObject({ bytes: 0, error: { code: 'ENOSPC', message: 'no progress' } })
  })

  it('says how far a write came that failed', () => {
    const { file } = setUp()
    file.open(1)
    let calls = 0
    const failure = systemError('EIO')
    patchFs('writeSync', (real) => (...given) => {
      if (calls++ === 1) throw failure
      const [fd, data, offset] = given as unknown as [number, Buffer, number]
      return real(fd, data, offset, 3)
    })
    expect(file.write(line)).toEqual({ bytes: 3, error: failure })
  })

  it('has its name synced once, if it may be new', () => {
    const { file, path, taken } = setUp()
    writeFileSync(path(2), 'abc')
    file.open(1)
    expect(taken()).toEqual([])
    file.syncName()
    expect(taken()).toEqual(['name'])
    file.syncName()
    file.open(2)
    file.syncName()
    expect(taken()).toEqual([])
    file.open(3)
    file.open(2)
    file.syncName()
    expect(taken()).toEqual(['name'])
    const hasty = setUp('os')
    hasty.file.open(1)
    hasty.file.syncName()
    expect(hasty.taken()).toEqual([])
  })

  it('says that its name could not be synced', () => {
    const { file } = setUp()
    file.open(1)
    patchFs('fsyncSync', () => () => {
      throw systemError('EIO')
    })
    expect(refusal(() => file.syncName()).code).toBe('sync_failed')
  })
})

describe('a sync', () => {
  it('that is waited for asks the disk, unless that is not wanted', () => {
    const { file, taken, failWith } = setUp()
    file.open(1)
    file.write(line)
    file.syncNow()
    expect([taken(), file.syncFailed]).toEqual([['here'], false])
    failWith(systemError('EIO'))
    expect(refusal(() => file.syncNow())).toMatchObject({ code: 'sync_failed' })
    expect(file.syncFailed).toBe(true)
    const hasty = setUp('os')
    hasty.file.open(1)
    hasty.file.syncNow()
    expect(hasty.taken()).toEqual([])
  })

  it.each(['disk', 'os'] as const)('finds that the file is not in its place: %s', (durability) => {
    const { file, dir, path, sync, answers } = setUp(durability)
    file.open(1)
    file.write(line)
    sync()
    expect(answers.splice(0)).toEqual([undefined])
    rmSync(path(1))
    expect(isMisplaced(refusal(() => file.syncNow()))).toBe(true)
    sync()
    expect(isMisplaced(answers.splice(0)[0])).toBe(true)
    writeFileSync(path(1), line)
    sync()
    expect(isMisplaced(answers.splice(0)[0])).toBe(true)
    // In the archive it is whole.
    rmSync(path(1))
    mkdirSync(archiveDirOf(dir))
    writeFileSync(archivedPath(dir, 1, timeOf(1)), '')
    expect(() => file.syncNow()).not.toThrow()
    sync()
    expect(answers).toEqual([undefined])
  })

  it('says why it cannot tell whether the file is in its place', () => {
    const { file, sync, answers } = setUp('os')
    file.open(1)
    patchFs('statSync', () => () => {
      throw systemError('EACCES')
    })
    sync()
    expect(answers[0]?.message).toContain('writing the journal')
  })

  it('of nothing is done', () => {
    const { sync, answers, taken } = setUp()
    sync()
    expect([answers, taken()]).toEqual([[undefined], []])
  })

  it('is done in place while the disk is quick and nobody else waits', () => {
    const { file, sync, answers, taken, running, take } = setUp()
    file.open(1)
    sync()
    sync()
    expect([taken(), answers.length]).toEqual([['here', 'here'], 2])
    sync(false)
    expect([taken(), answers.length]).toEqual([['behind'], 2])
    // One is running: another does not block.
    sync()
    expect([taken(), answers.length]).toEqual([['behind'], 2])
    for (const done of running.splice(0)) done()
    expect(answers).toEqual([undefined, undefined, undefined, undefined])
    // Of 8 ms the average gets one, and each quick one takes an eighth of the rest.
    take(8)
    sync()
    take(0)
    expect(taken()).toEqual(['here'])
    const ways: string[] = []
    for (let times = 0; times < 8; times++) {
      sync()
      ways.push(...taken())
      running.pop()?.()
    }
    expect(ways).toEqual([...Array<string>(6).fill('behind'), 'here', 'here'])
  })

  it('is not in place if the average is half a millisecond', () => {
    const { file, sync, taken, take } = setUp()
    file.open(1)
    take(4)
    sync()
    sync()
    expect(taken()).toEqual(['here', 'behind'])
  })

  it.each([true, false])('that fails says so, and marks the file: alone %s', (alone) => {
    const { file, sync, answers, running, failWith } = setUp()
    file.open(1)
    failWith(systemError('EIO'))
    sync(alone)
    running.pop()?.(systemError('EIO'))
    expect(answers).toMatchObject([{ code: 'sync_failed' }])
    expect(file.syncFailed).toBe(true)
  })

  it('is about the file that was open when it began', () => {
    const { file, sync, answers, running, path } = setUp()
    file.open(1)
    sync(false)
    file.open(2)
    rmSync(path(2))
    running.pop()!()
    expect(answers).toEqual([undefined])
    sync(false)
    file.open(3)
    running.pop()!()
    expect(isMisplaced(answers[1])).toBe(true)
  })

  it('keeps the file open until it is over', () => {
    const { file, sync, running, closed } = setUp()
    file.open(1)
    sync(false)
    sync(false)
    const before = closed.length
    file.close()
    expect(closed).toHaveLength(before)
    running.pop()!()
    expect(closed).toHaveLength(before)
    running.pop()!()
    expect(closed).toHaveLength(before + 1)
    file.close()
    expect(closed).toHaveLength(before + 1)
    file.open(2)
    file.close()
    expect(closed).toHaveLength(before + 2)
  })
})

describe('a file that is left for the next one', () => {
  it('is synced, if something was written to it since', () => {
    const { file, sync, taken } = setUp()
    file.open(1)
    file.open(2)
    expect(taken()).toEqual([])
    file.write(line)
    file.open(3)
    expect(taken()).toEqual(['here'])
    file.write(line)
    sync()
    file.write(line)
    file.syncNow()
    taken()
    file.open(4)
    expect(taken()).toEqual([])
    const hasty = setUp('os')
    hasty.file.open(1)
    hasty.file.write(line)
    hasty.file.open(2)
    hasty.sync()
    expect([hasty.taken(), hasty.answers]).toEqual([[], [undefined]])
  })

  it('has failed for the one who asks next, once', () => {
    const { file, sync, answers, failWith, taken } = setUp()
    file.open(1)
    file.write(line)
    failWith(systemError('EIO'))
    file.open(2)
    failWith(undefined)
    taken()
    sync()
    expect([answers.splice(0), taken()]).toMatchObject([[{ code: 'sync_failed' }], []])
    sync()
    expect([answers, taken()]).toEqual([[undefined], ['here']])
  })

  it('may have been moved away', () => {
    const { file, sync, answers, path } = setUp('os')
    file.open(1)
    file.write(line)
    renameSync(path(1), `${path(1)}.away`)
    file.open(2)
    sync()
    expect(isMisplaced(answers[0])).toBe(true)
    expect(answers[0]!.message).toContain('00000001')
  })
})

describe('a loss', () => {
  const find = (made: HandMade, segment: number) => {
    const reader = new SegmentReader(made.dir, decodeGist)
    onTestFinished(() => reader.close())
    return findLoss(reader, made.dir, { seq: 12, sum: made.lines[11]?.sum ?? '', segment })
  }

  it('is everything behind the last line that can be read', () => {
    const made = new HandMade()
    made.write(3, ...made.in(3).slice(0, 2))
    const offset = made.text(3).length
    const draft = { kind: 'damage', from: 11, to: 12, segment: 3, offset, bytes: 0 }
    expect(find(made, 3)).toMatchObject({ next: 4, draft, remains: Buffer.alloc(0) })
    expect(find(made, 3).draft).not.toHaveProperty('kept')
    expect(find(made, 7).next).toBe(8)
    made.edit(3, (text) => `${text}{"seq"`)
    expect(find(made, 3)).toMatchObject({
      known: { seq: 12, sum: made.lines[11]!.sum },
      draft: { ...draft, bytes: 6, kept: `00000003-${offset}-before-4.bytes` },
      remains: Buffer.from('{"seq"'),
    })
    made.write(3)
    const end = { from: 9, segment: 2, offset: made.text(2).length, bytes: 0 }
    expect(find(made, 3)).toMatchObject({ next: 4, draft: end })
  })

  it('is all, if nothing can be read', () => {
    const made = new HandMade(0)
    expect(find(made, 3)).toMatchObject({
      next: 4,
      draft: { from: 1, to: 12, segment: 1, offset: 0, bytes: 0 },
    })
    made.writeText(2, 'nothing')
    expect(find(made, 2)).toMatchObject({ next: 3, draft: { from: 1, segment: 2, offset: 0, bytes: 7 } })
  })

  it('is closed with what is left of it, and files up to the next one', () => {
    const made = new HandMade()
    made.edit(3, (text) => `${text}rest`)
    const loss = find(made, 5)
    closeDamaged(made.dir, loss)
    expect(listPlain(made.dir)).toEqual([1, 2, 3, 4, 5])
    expect([made.text(4), made.text(5)]).toEqual(['', ''])
    expect(readFileSync(join(made.dir, 'damaged', loss.draft.kept!), 'latin1')).toBe('rest')
    // Again, as after a crash.
    closeDamaged(made.dir, loss)
    const whole = new HandMade()
    closeDamaged(whole.dir, find(whole, 3))
    expect([listPlain(whole.dir), existsSync(join(whole.dir, 'damaged'))]).toEqual([[1, 2, 3], false])
    const empty = new HandMade(0)
    closeDamaged(empty.dir, find(empty, 2))
    expect(listPlain(empty.dir)).toEqual([1, 2])
  })
})
