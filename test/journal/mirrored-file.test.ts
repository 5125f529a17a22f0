import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MailboxError } from '../../src/base/errors.ts'
import { fileIn } from '../../src/journal/file/mirrored-file.ts'
import { segmentPath } from '../../src/journal/file/segment.ts'
import { failCall, patchFs, systemError } from '../helpers/fs-faults.ts'
import { tempDir } from '../helpers/temp.ts'

/** The file of a writer with a copy of it, and what is asked of the disk. */
function setUp({ mirrored = true, durability = 'disk' as 'disk' | 'os' } = {}) {
  const dir = join(tempDir(), 'journal')
  const mirror = tempDir()
  mkdirSync(dir)
  mkdirSync(join(mirror, 'journal'))
  writeFileSync(join(mirror, 'mirror.json'), JSON.stringify({ space: 'ours' }))
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
  /** Syncs in the background that are not over yet. */
  const running: ((error?: Error) => void)[] = []
  let synced = 0
  patchFs('fdatasyncSync', (real) => (fd) => {
    synced++
    real(fd)
  })
  patchFs('fdatasync', () => (_, done) => void running.push((error) => done((error ?? null) as null)))
  const file = fileIn(dir, { mirror: mirrored ? mirror : undefined, space: 'ours', durability })
  onTestFinished(() => file.close())
  file.open(1)
  const at = (path: string) => readFileSync(segmentPath(path, 1), 'utf8')
  const answers: (string | undefined)[] = []
  return {
    ...{ dir, mirror, file, open, running, answers },
    journal: () => at(dir),
    copy: () => at(join(mirror, 'journal')),
    synced: () => synced,
    sync: (alone = false) => file.sync(alone, (error?: MailboxError) => answers.push(error?.code)),
  }
}

describe('a file with a copy', () => {
  it('writes to both, and takes back from both', () => {
    const { file, journal, copy } = setUp()
    expect(file.write(Buffer.from('one\ntwo\n'))).toEqual({ bytes: 8, error: undefined })
    expect([journal(), copy()]).toEqual(['one\ntwo\n', 'one\ntwo\n'])
    file.truncate(4)
    expect([journal(), copy()]).toEqual(['one\n', 'one\n'])
    file.write(Buffer.from('three\n'))
    expect([journal(), copy()]).toEqual(['one\nthree\n', 'one\nthree\n'])
  })

  it('copies nothing of a write that failed before it was taken back', () => {
    const { file, journal, copy } = setUp()
    file.write(Buffer.from('one\n'))
    let calls = 0
    patchFs('writeSync', (real) => (...given) => {
      if (++calls === 2) throw systemError('ENOSPC')
      const [fd, data, offset] = given as unknown as [number, Buffer, number]
      return calls === 1 ? real(fd, data, offset, 2) : (real as (...all: unknown[]) => number)(...given)
    })
    expect(file.write(Buffer.from('two\n'))).toMatchObject({ bytes: 2, error: { code: 'ENOSPC' } })
    expect([journal(), copy()]).toEqual(['one\ntw', 'one\n'])
    file.truncate(4)
    expect([journal(), copy()]).toEqual(['one\n', 'one\n'])
  })

  it('is confirmed when both are, whichever is first', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const { file, sync, running, answers } = setUp()
      file.write(Buffer.from('one\n'))
      sync()
      expect(running).toHaveLength(2)
      running[order[0]]!()
      expect(answers).toEqual([])
      running[order[1]]!()
      expect(answers).toEqual([undefined])
    }
  })

  it('is not confirmed if the journal is not, and is if only the copy is not', () => {
    for (const [failing, code] of [
      ['journal', 'sync_failed'],
      ['copy', undefined],
    ] as const) {
      const { file, sync, running, answers } = setUp()
      file.write(Buffer.from('one\n'))
      sync()
      // The copy is asked first.
      const [copy, journal] = running as [(error?: Error) => void, (error?: Error) => void]
      journal(failing === 'journal' ? systemError('EIO') : undefined)
      copy(failing === 'copy' ? systemError('EIO') : undefined)
      expect(answers).toEqual([code])
    }
  })

  it('waits for both disks where a call does', () => {
    const { file, synced } = setUp()
    file.write(Buffer.from('one\n'))
    const before = synced()
    file.syncNow()
    expect(synced() - before).toBe(2)
    failCall('fdatasyncSync', 'EIO')
    expect(() => file.syncNow()).toThrow(expect.objectContaining({ code: 'sync_failed' }))
  })

  it('writes on when the mirror is gone', () => {
    const { file, mirror, journal, sync, answers } = setUp({ durability: 'os' })
    file.write(Buffer.from('one\n'))
    rmSync(mirror, { recursive: true })
    expect(file.write(Buffer.from('two\n')).error).toBeUndefined()
    file.truncate(4)
    sync()
    expect([journal(), answers]).toEqual(['one\n', [undefined]])
    mkdirSync(mirror)
  })

  it('closes both', () => {
    const { file, open } = setUp()
    file.write(Buffer.from('one\n'))
    expect(open.size).toBe(2)
    file.close()
    expect(open.size).toBe(0)
  })
})

it('a file without a mirror is one file', () => {
  const { file, journal, mirror, open, sync, answers, running } = setUp({ mirrored: false })
  file.write(Buffer.from('one\n'))
  sync()
  expect([journal(), open.size, running.length]).toEqual(['one\n', 1, 1])
  running[0]!()
  expect(answers).toEqual([undefined])
  expect(() => readFileSync(segmentPath(join(mirror, 'journal'), 1))).toThrow()
})
