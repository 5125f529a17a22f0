import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import {
  archivedPath,
  packSegment,
  removeArchived,
  syncSegment,
  withArchive,
} from '../../src/journal/file/archive.ts'
import { WriterLock } from '../../src/journal/file/lock.ts'
import { isBeginning, Mirror, strangenessOf } from '../../src/journal/file/mirror.ts'
import { copyClosed, mirrorState, removeMirrored } from '../../src/journal/file/mirror-upkeep.ts'
import { archiveDirOf, archivedName, listPlain, segmentPath } from '../../src/journal/file/segment.ts'
import { failCall, patchFs, systemError } from '../helpers/fs-faults.ts'
import { refusal } from '../helpers/refusal.ts'
import { tempDir } from '../helpers/temp.ts'

/** A journal and the directory of its mirror, with nothing in either. */
function setUp() {
  const dir = join(tempDir(), 'journal')
  const mirror = join(tempDir(), 'mirror')
  const copies = join(mirror, 'journal')
  mkdirSync(dir)
  mkdirSync(copies, { recursive: true })
  writeFileSync(join(mirror, 'mirror.json'), JSON.stringify({ space: 'ours' }))
  const write = (segment: number, text: string) => appendFileSync(segmentPath(dir, segment), text)
  const copyOf = (segment: number) => readFileSync(segmentPath(copies, segment), 'utf8')
  const archive = (segment: number, text: string) => {
    mkdirSync(archiveDirOf(dir), { recursive: true })
    writeFileSync(join(archiveDirOf(dir), archivedName(segment, '2026-01')), gzipSync(text))
  }
  const aside = () => {
    const damaged = join(copies, 'damaged')
    return existsSync(damaged)
      ? readdirSync(damaged).map((name) => [name.slice(0, 14), readFileSync(join(damaged, name), 'utf8')])
      : []
  }
  return { dir, mirror, copies, write, copyOf, archive, aside }
}

/** The time that a mirror sees. */
function clock() {
  const real = performance.now
  onTestFinished(() => void Object.assign(performance, { now: real }))
  const at = { ms: 100_000 }
  performance.now = () => at.ms
  return at
}

/** The files that are open. */
function openFiles(): Set<number> {
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
  return files
}

describe('a mirror', () => {
  function follower(durability: 'os' | 'disk' = 'os') {
    const files = openFiles()
    const all = setUp()
    const mirror = new Mirror(all.dir, all.mirror, 'ours', durability)
    onTestFinished(() => mirror.close())
    const send = (segment: number, text: string) => {
      all.write(segment, text)
      return mirror.follow(segment, Buffer.from(text))
    }
    return { ...all, files, follower: mirror, send }
  }

  it('gets what was written, and what others have written without it', () => {
    const { write, copyOf, send, files, follower: mirror, aside } = follower()
    expect([send(1, 'one\n'), send(1, 'two\n'), copyOf(1)]).toEqual([0, 0, 'one\ntwo\n'])
    write(1, 'three\n')
    expect([send(1, 'four\n'), copyOf(1)]).toEqual([0, 'one\ntwo\nthree\nfour\n'])
    write(1, 'five\n')
    expect([mirror.follow(1), copyOf(1).endsWith('five\n'), mirror.follow(1)]).toEqual([0, true, 0])
    // The end of a segment may be missing when the next one begins.
    write(1, 'six\n')
    expect([send(2, 'seven\n'), copyOf(1).endsWith('six\n'), copyOf(2)]).toEqual([0, true, 'seven\n'])
    expect([send(4, 'eight\n'), copyOf(4), aside(), mirror.fault]).toEqual([0, 'eight\n', [], undefined])
    expect(files.size).toBe(1)
    mirror.close()
    expect(files.size).toBe(0)
  })

  it('does not copy a whole segment again', () => {
    const { dir, write, send, copies } = follower()
    write(1, 'one\n')
    send(2, 'two\n')
    const { ino } = statSync(segmentPath(copies, 1))
    rmSync(segmentPath(copies, 2))
    truncateSync(segmentPath(dir, 1), 0)
    send(2, 'three\n')
    expect([statSync(segmentPath(copies, 1)).ino, statSync(segmentPath(copies, 1)).size]).toEqual([ino, 4])
  })

  it.each([
    ['is no beginning of the segment', 'others\n', 'one\ntwo\nthree\n'],
    ['is longer than the segment', 'one\ntwo\nthree\nfour\n', 'one\ntwo\nthree\n'],
  ])('sets a copy aside that %s', (_, copy, text) => {
    const { copies, write, copyOf, aside, follower: mirror } = follower()
    write(1, text)
    writeFileSync(segmentPath(copies, 1), copy)
    expect([mirror.follow(1), copyOf(1), aside()]).toEqual([0, text, [['00000001.jsonl', copy]]])
    expect(statSync(join(copies, 'damaged')).mode & 0o777).toBe(0o700)
    const [name] = readdirSync(join(copies, 'damaged'))
    expect(name).toMatch(/^00000001\.jsonl\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/)
  })

  it('sets a copy aside when the journal loses something', () => {
    const { dir, copyOf, send, aside, follower: mirror } = follower()
    send(1, 'one\ntwo\n')
    truncateSync(segmentPath(dir, 1), 4)
    expect([mirror.follow(1), copyOf(1), aside()]).toEqual([0, 'one\n', [['00000001.jsonl', 'one\ntwo\n']]])
  })

  it('begins again where its copy is gone or another', () => {
    const { copies, copyOf, send } = follower()
    send(1, 'one\n')
    rmSync(segmentPath(copies, 1))
    expect([send(1, 'two\n'), copyOf(1)]).toEqual([0, 'one\ntwo\n'])
    writeFileSync(join(copies, 'x'), 'one\n')
    renameSync(join(copies, 'x'), segmentPath(copies, 1))
    expect([send(1, 'three\n'), copyOf(1)]).toEqual([0, 'one\ntwo\nthree\n'])
  })

  it('that is not there or not ours is left alone for five seconds', () => {
    const at = clock()
    const { mirror, copies, copyOf, send, follower: one } = follower()
    const identity = join(mirror, 'mirror.json')
    const good = readFileSync(identity)
    rmSync(identity)
    expect([send(1, 'one\n'), String(one.fault)]).toEqual([
      undefined,
      expect.stringContaining(`no mirror in ${mirror}`),
    ])
    expect(readdirSync(copies)).toEqual([])
    writeFileSync(identity, JSON.stringify({ space: 'theirs' }))
    at.ms += 5_000
    expect(send(1, 'two\n')).toBeUndefined()
    expect(String(one.fault)).toContain(`${mirror} is the mirror of another space`)
    expect([strangenessOf(mirror, 'theirs'), strangenessOf(mirror, 'ours')]).toEqual([
      undefined,
      expect.any(String),
    ])
    writeFileSync(identity, good)
    at.ms += 4_999
    expect([send(1, 'three\n'), existsSync(segmentPath(copies, 1))]).toEqual([undefined, false])
    at.ms += 1
    expect([send(1, 'four\n'), copyOf(1)]).toEqual([0, 'one\ntwo\nthree\nfour\n'])
  })

  it('whose disk fails to write is tried again later, and goes on from what it has', () => {
    const at = clock()
    const { copyOf, send, copies, aside, follower: mirror } = follower()
    send(1, 'one\n')
    failCall('writeSync', 'EIO')
    expect([send(1, 'two\n'), mirror.fault]).toEqual([undefined, expect.objectContaining({ code: 'EIO' })])
    at.ms += 5_000
    expect([send(1, 'three\n'), copyOf(1), aside()]).toEqual([0, 'one\ntwo\nthree\n', []])
    expect(readdirSync(copies)).toEqual(['00000001.jsonl'])
  })

  it('whose disk does not confirm is not trusted: its copy is made again', async () => {
    const at = clock()
    const { copyOf, send, aside, follower: mirror } = follower('disk')
    // There is nothing to confirm yet.
    mirror.syncNow()
    expect(mirror.fault).toBeUndefined()
    send(1, 'one\n')
    mirror.syncNow()
    await new Promise<void>((resolve) => mirror.sync(resolve))
    expect(mirror.fault).toBeUndefined()
    send(1, 'two\n')
    failCall('fdatasyncSync', 'EIO')
    mirror.syncNow()
    expect(mirror.fault).toMatchObject({ code: 'sync_failed' })
    at.ms += 5_000
    expect([send(1, 'three\n'), copyOf(1)]).toEqual([0, 'one\ntwo\nthree\n'])
    expect(aside()).toEqual([['00000001.jsonl', 'one\ntwo\n']])
    // It is trusted now.
    expect([send(1, 'four\n'), aside().length]).toEqual([0, 1])
  })

  it('has a beginning of the segment, as far as its last bytes tell', () => {
    const { dir, copies, write } = setUp()
    const copy = (text: string) => {
      writeFileSync(segmentPath(copies, 1), text)
      return isBeginning(dir, copies, 1)
    }
    const long = `${'x'.repeat(5_000)}\n`
    write(1, long)
    expect([copy(''), copy('x'), copy(long.slice(0, -1)), copy(long)]).toEqual([true, true, true, true])
    expect([copy('y'), copy(`${long}y`), copy(`${long.slice(0, -2)}y`)]).toEqual([false, false, false])
    // The last 4,096 are compared.
    const changed = (at: number) => copy(`${long.slice(0, at)}y${long.slice(at + 1)}`)
    expect([changed(long.length - 4_096), changed(long.length - 4_097)]).toEqual([false, true])
    rmSync(segmentPath(dir, 1))
    expect([isBeginning(dir, copies, 1), copy('')]).toEqual([false, false])
  })
})

describe('the state of a mirror', () => {
  it('is found by the sizes of its files', () => {
    const { dir, mirror, copies, write, archive } = setUp()
    const state = (space = 'ours') => mirrorState(dir, mirror, space)
    expect(state()).toEqual({ state: 'current', missingBytes: 0 })
    archive(1, 'archived')
    write(2, 'second')
    write(3, 'third')
    expect(state()).toEqual({
      state: 'behind',
      missingBytes: 19,
      problem: expect.stringContaining('lacks 19 bytes'),
    })
    writeFileSync(segmentPath(copies, 1), 'archived')
    writeFileSync(segmentPath(copies, 2), 'sec')
    expect(state()).toMatchObject({ state: 'behind', missingBytes: 8 })
    writeFileSync(segmentPath(copies, 3), 'third and more')
    expect(state()).toEqual({ state: 'ahead', missingBytes: 3, problem: expect.stringContaining(mirror) })
    expect(state('theirs')).toEqual({
      state: 'away',
      missingBytes: 0,
      problem: expect.stringMatching(/^no mirror: /),
    })
    // An archive that is cut short does not tell its size.
    const path = join(archiveDirOf(dir), archivedName(1, '2026-01'))
    truncateSync(path, 17)
    rmSync(segmentPath(copies, 1))
    rmSync(segmentPath(copies, 3))
    expect(state()).toMatchObject({ missingBytes: 8 })
    writeFileSync(path, Buffer.alloc(18, 1))
    expect(state()).toMatchObject({ missingBytes: 8 + 0x01010101 })
    expect(openFiles().size).toBe(0)
  })

  it('is brought up to date with the closed segments', async () => {
    const files = openFiles()
    const { dir, mirror, copies, write, archive, copyOf, aside } = setUp()
    archive(1, 'archived')
    write(2, 'second')
    write(3, 'third')
    write(4, 'fourth')
    write(5, 'open')
    writeFileSync(segmentPath(copies, 2), 'second')
    writeFileSync(segmentPath(copies, 3), 'thi')
    writeFileSync(segmentPath(copies, 4), 'no')
    const { ino } = statSync(segmentPath(copies, 2))
    const seen: object[] = []
    await copyClosed(dir, mirror, { onProgress: (done) => seen.push(done) })
    expect([1, 2, 3, 4].map(copyOf)).toEqual(['archived', 'second', 'third', 'fourth'])
    expect([existsSync(segmentPath(copies, 5)), statSync(segmentPath(copies, 2)).ino]).toEqual([false, ino])
    expect(aside()).toEqual([['00000004.jsonl', 'no']])
    expect(seen).toEqual([8, 13, 19].map((bytes) => ({ bytes, total: 19 })))
    expect(files.size).toBe(0)
    // There is nothing left to do, and nobody has to look on.
    seen.length = 0
    await copyClosed(dir, mirror)
    rmSync(segmentPath(copies, 3))
    await copyClosed(dir, mirror)
    expect([seen, copyOf(3)]).toEqual([[], 'third'])
  })

  it('stays as it was when copying is ended', async () => {
    const { dir, mirror, copies, write } = setUp()
    write(1, 'first')
    write(2, 'open')
    await expect(copyClosed(dir, mirror, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
    expect(existsSync(segmentPath(copies, 1))).toBe(false)
  })

  it('loses what was removed from the space, unless it is of another', () => {
    const { mirror, copies } = setUp()
    for (const segment of [1, 2, 3]) writeFileSync(segmentPath(copies, segment), '')
    removeMirrored(mirror, 'theirs', 9)
    removeMirrored('', 'ours', 9)
    expect(listPlain(copies)).toEqual([1, 2, 3])
    removeMirrored(mirror, 'ours', 2)
    expect(listPlain(copies)).toEqual([3])
  })
})

describe('the archive', () => {
  const text = 'line\n'.repeat(50)

  it('is for one process at a time, who clears away what was left', async () => {
    const { dir } = setUp()
    const files = openFiles()
    const archive = archiveDirOf(dir)
    mkdirSync(archive)
    for (const name of ['x.tmp', 'x.gz']) writeFileSync(join(archive, name), '')
    const inside = await withArchive(dir, async () => {
      expect(readdirSync(archive).filter((name) => name.startsWith('x'))).toEqual(['x.gz'])
      const error: unknown = await withArchive(dir, async () => 'never').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'conflict', hint: expect.stringContaining('try again') })
      return 5
    })
    expect(inside).toBe(5)
    await expect(
      withArchive(dir, async () => {
        throw new Error('failed')
      }),
    ).rejects.toThrow('failed')
    expect([await withArchive(dir, async () => 6), files.size]).toEqual([6, 0])
    rmSync(archive, { recursive: true })
    writeFileSync(archive, 'a file')
    await expect(withArchive(dir, async () => 7)).rejects.toBeInstanceOf(MailboxError)
  })

  it('has a segment in place of the journal, under the month of its last line', async () => {
    const { dir, write } = setUp()
    const path = archivedPath(dir, 7, '2026-11-30T23:59:59.999Z')
    expect(path).toBe(join(archiveDirOf(dir), '2026-11-00000007.jsonl.gz'))
    mkdirSync(dirname(path))
    write(7, text)
    expect(await packSegment(dir, 7, path, undefined)).toBe(statSync(path).size)
    expect([gunzipSync(readFileSync(path)).toString(), listPlain(dir)]).toEqual([text, []])
    // Left by a process that was killed: a good copy stays, and a bad one is made again.
    const { ino } = statSync(path)
    write(7, text)
    await packSegment(dir, 7, path, undefined)
    expect([statSync(path).ino, listPlain(dir)]).toEqual([ino, []])
    write(7, `${text}more\n`)
    await packSegment(dir, 7, path, undefined)
    expect(gunzipSync(readFileSync(path)).toString()).toBe(`${text}more\n`)
    write(7, text)
    writeFileSync(path, 'not gzip')
    await packSegment(dir, 7, path, undefined)
    expect(gunzipSync(readFileSync(path)).toString()).toBe(text)
  })

  it('leaves the journal as it was when it is ended, or the disk fails', async () => {
    const { dir, write } = setUp()
    const path = archivedPath(dir, 1, '2026-11-30T23:59:59.999Z')
    mkdirSync(dirname(path))
    write(1, text)
    await expect(packSegment(dir, 1, path, AbortSignal.abort())).rejects.toThrow(/abort/i)
    expect([listPlain(dir), existsSync(path)]).toEqual([[1], false])
    for (const [code, mine, next] of [
      ['ENOSPC', 'disk_full', 'free some disk space'],
      ['EIO', 'damaged', 'check the disk'],
    ] as const) {
      failCall('unlinkSync', code)
      const error: unknown = await packSegment(dir, 1, path, undefined).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ hint: expect.stringContaining(next), cause: { code } })
      if (code === 'ENOSPC') expect(error).toMatchObject({ code: mine })
      expect((error as MailboxError).message).toContain('archiving failed')
      expect((error as MailboxError).hint).toContain('no mail is lost')
    }
    expect(listPlain(dir)).toEqual([1])
  })

  it('loses the segments that are removed, every copy of them', () => {
    const { dir, archive } = setUp()
    for (const segment of [1, 2, 3]) archive(segment, text)
    writeFileSync(join(archiveDirOf(dir), archivedName(2, '2026-02')), gzipSync(text))
    removeArchived(dir, [1, 2])
    expect(readdirSync(archiveDirOf(dir))).toEqual([archivedName(3, '2026-01')])
    failCall('unlinkSync', 'EIO')
    expect(refusal(() => removeArchived(dir, [3])).message).toContain('archiving failed')
  })

  it('takes what the disk has confirmed', () => {
    const { dir, write } = setUp()
    const files = openFiles()
    let synced = 0
    patchFs('fsyncSync', (real) => (fd) => {
      synced++
      real(fd)
    })
    syncSegment(dir, 1)
    expect(synced).toBe(0)
    write(1, text)
    files.clear()
    syncSegment(dir, 1)
    expect([synced, files.size]).toEqual([1, 0])
    failCall('fsyncSync', 'EIO')
    expect(refusal(() => syncSegment(dir, 1)).message).toContain('archiving failed')
    expect(files.size).toBe(0)
  })
})

describe('the file of the lock', () => {
  function lock(onNew?: () => void) {
    const path = join(tempDir(), 'lock')
    const one = new WriterLock(path, onNew)
    onTestFinished(() => one.close())
    return { path, one, take: () => one.withSync(() => 'taken', 1_000) }
  }

  it('is for its owner alone', () => {
    const { path, take } = lock()
    expect([take(), statSync(path).mode & 0o777]).toEqual(['taken', 0o600])
  })

  it('is asked about when it is taken first, and once each time that it was replaced', () => {
    let asked = 0
    const { path, take } = lock(() => void asked++)
    take()
    take()
    expect(asked).toBe(1)
    rmSync(path)
    take()
    take()
    expect(asked).toBe(2)
    renameSync(path, `${path}-aside`)
    take()
    expect([asked, existsSync(path)]).toEqual([3, true])
  })

  it('that is not to be trusted is not taken, and is asked about again', () => {
    let isTrusted = true
    const { path, take } = lock(() => {
      if (!isTrusted) throw new MailboxError('damaged', 'not ours', { hint: 'look' })
    })
    take()
    isTrusted = false
    rmSync(path)
    for (let n = 0; n < 2; n++) expect(refusal(take).message).toBe('not ours')
    const other = new WriterLock(path)
    expect(other.withSync(() => 'free', 0)).toBe('free')
    other.close()
    isTrusted = true
    expect(take()).toBe('taken')
  })

  it('that cannot be one is named', () => {
    const { path, take } = lock()
    writeFileSync(path, 'this is no database, and never was one'.repeat(50))
    const error = refusal(take)
    expect([error.code, error.message]).toEqual([
      'damaged',
      expect.stringContaining(`${path} cannot be locked`),
    ])
    expect([error.hint, error.cause]).toEqual([expect.stringContaining('delete it'), expect.anything()])
    rmSync(path)
    expect(take()).toBe('taken')
    rmSync(path)
    rmSync(dirname(path), { recursive: true })
    expect(refusal(take).message).toBe(`the space in ${dirname(path)} is gone`)
  })

  it('that may not be changed is the fault of its directory', () => {
    const { take } = lock()
    patchFs('chmodSync', () => () => {
      throw systemError('EACCES')
    })
    expect(refusal(take).message).toContain('EACCES')
    // It was removed at that moment: it is opened again.
    patchFs('chmodSync', () => () => {
      throw systemError('ENOENT')
    })
    expect(take()).toBe('taken')
  })
})
