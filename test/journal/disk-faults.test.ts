import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import type { FileJournalOptions } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { appendMessage, messageDraft, readAll, seqsOf, subjectsIn, typeOf, upTo } from '../helpers/drafts.ts'
import { failCall, patchFs, shortWrites, systemError } from '../helpers/fs-faults.ts'
import { linesIn, segmentFile, segmentFiles, verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** A disk that takes so many bytes more, the last of them in a short write, and then says that it is full. */
function fullDisk(room: number, code = 'ENOSPC'): { room: number } {
  const disk = { room }
  patchFs('writeSync', (real) => (...args) => {
    const [fd, data, offset, length] = args as unknown as [number, Buffer | string, number?, number?]
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    const wanted = length ?? bytes.length
    if (disk.room === 0) throw systemError(code)
    const taken = real(fd, bytes, offset ?? 0, Math.min(wanted, disk.room))
    disk.room -= taken
    return taken
  })
  return disk
}

const asTyped = (error: unknown) => {
  expect(error).toBeInstanceOf(MailboxError)
  return error as MailboxError
}

describe('a write that is cut short', () => {
  it.each([1, 7, 100])('is completed, %i bytes at a time', async (atMost) => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    shortWrites(atMost)
    for (const subject of ['one', 'two']) await appendMessage(journal, { subject })
    expect(await subjectsIn(journal)).toEqual(['one', 'two'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })
})

describe('a full disk', () => {
  it('refuses with a typed error and leaves the file as it was, however much it took', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const before = readFileSync(segmentFile(dir))
    const length = Buffer.byteLength(linesIn(dir).at(-1)!)
    const disk = fullDisk(0)
    for (let room = 0; room <= length; room += 5) {
      disk.room = room
      const error = asTyped(
        await appendMessage(journal, { subject: 'before' }).catch((cause: unknown) => cause),
      )
      expect(error).toMatchObject({ code: 'disk_full', hint: expect.any(String) })
      expect(readFileSync(segmentFile(dir)).equals(before)).toBe(true)
    }
    disk.room = Number.POSITIVE_INFINITY
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['before', 'after'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })

  it('refuses exactly those of a batch that are not in the file', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const line = Buffer.byteLength(linesIn(dir).at(-1)!)
    const disk = fullDisk(0)
    const acknowledged: string[] = ['before']
    for (let room = 0; room < 4 * line; room += 97) {
      disk.room = room
      const subjects = ['a', 'b', 'c'].map((name) => `${room}${name}`)
      const results = await Promise.allSettled(subjects.map((subject) => appendMessage(journal, { subject })))
      for (const [at, result] of results.entries()) {
        if (result.status === 'fulfilled') acknowledged.push(subjects[at]!)
        else expect(asTyped(result.reason).code).toBe('disk_full')
      }
    }
    disk.room = Number.POSITIVE_INFINITY
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual([...acknowledged, 'after'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })

  it('may cut a call of several entries, but only between two of them', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const line = Buffer.byteLength(linesIn(dir).at(-1)!)
    const disk = fullDisk(line + 20)
    const both = journal.append(() => [messageDraft({ subject: 'one' }), messageDraft({ subject: 'two' })])
    await expect(both).rejects.toMatchObject({ code: 'disk_full' })
    disk.room = Number.POSITIVE_INFINITY
    expect(await subjectsIn(journal)).toEqual(['before', 'one'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })

  it('raises the epoch when a decision was told of something that is not there after all', async () => {
    const journal = tempJournal()
    await appendMessage(journal, { subject: 'before' })
    const { epoch } = journal
    const disk = fullDisk(0)
    const results = await Promise.allSettled([appendMessage(journal), appendMessage(journal)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(journal.epoch).toBeGreaterThan(epoch)
    disk.room = Number.POSITIVE_INFINITY
    let tail: (string | undefined)[] = []
    await journal.append((entries) => {
      tail = entries.map(typeOf)
      return []
    })
    expect(tail).toEqual([])
  })

  it('leaves a torn tail that it found as it was, wherever sealing it was cut short', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const fragment = '{"seq":3,"at":"2026-01-02T0'
    appendFileSync(segmentFile(dir), fragment)
    const before = readFileSync(segmentFile(dir))
    const disk = fullDisk(0)
    for (let room = 0; room < 200; room += 3) {
      disk.room = room
      await expect(appendMessage(journal, { subject: 'no room' })).rejects.toMatchObject({
        code: 'disk_full',
      })
      expect(readFileSync(segmentFile(dir)).equals(before)).toBe(true)
    }
    disk.room = Number.POSITIVE_INFINITY
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['before', 'after'])
    const torn = [{ bytes: fragment.length, sealed: true }]
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn })
  })

  it('that does not even let us take the half line back leaves a torn tail for the next to seal', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const disk = fullDisk(100)
    failCall('ftruncateSync', 'EIO')
    await expect(appendMessage(journal, { subject: 'half' })).rejects.toMatchObject({ code: 'disk_full' })
    disk.room = Number.POSITIVE_INFINITY
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['before', 'after'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [{ sealed: true }] })
  })

  it('that leaves a torn tail in the middle of a batch harms none that are acknowledged later in it', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    const disk = fullDisk(100)
    failCall('ftruncateSync', 'EIO')
    const half = appendMessage(journal, { subject: 'half' })
    // A settled decision has what is before it written first; by the time it decides, there is room again.
    const settled = journal.append(
      () => {
        disk.room = Number.POSITIVE_INFINITY
        return [messageDraft({ subject: 'settled' })]
      },
      { settled: true },
    )
    const [first, second] = await Promise.allSettled([half, settled])
    expect(first.status).toBe('rejected')
    const expected = second.status === 'fulfilled' ? ['before', 'settled'] : ['before']
    expect(await subjectsIn(journal)).toEqual(expected)
    await appendMessage(journal, { subject: 'after' })
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('that takes the seal of a torn tail in the middle of a batch harms none that are acknowledged later in it', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    appendFileSync(segmentFile(dir), '{"seq":3,"at":"2026-01-02T0')
    // Room for the note that seals the tear, and for a part of the message behind it.
    const disk = fullDisk(500)
    const half = appendMessage(journal, { subject: 'half' })
    const settled = journal.append(
      () => {
        disk.room = Number.POSITIVE_INFINITY
        return [messageDraft({ subject: 'settled' })]
      },
      { settled: true },
    )
    const [first, second] = await Promise.allSettled([half, settled])
    expect(first.status).toBe('rejected')
    if (second.status === 'fulfilled') {
      for (const { entry, place } of second.value) expect(journal.at(place)).toEqual(entry)
    }
    expect(await subjectsIn(journal)).toEqual(
      second.status === 'fulfilled' ? ['before', 'settled'] : ['before'],
    )
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('refuses with a typed error when a newline that a killed writer left out cannot be written', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    for (const subject of ['one', 'two']) await appendMessage(journal, { subject })
    await journal.close()
    truncateSync(segmentFile(dir), statSync(segmentFile(dir)).size - 1)
    const next = tempJournal({ dir })
    const disk = fullDisk(0)
    const error = asTyped(await appendMessage(next, { subject: 'three' }).catch((cause: unknown) => cause))
    expect(error.code).toBe('disk_full')
    disk.room = Number.POSITIVE_INFINITY
    await appendMessage(next, { subject: 'four' })
    expect(await subjectsIn(next)).toEqual(['one', 'two', 'four'])
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })

  it('refuses with a typed error when the next segment cannot be made, and goes on when it can', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, segmentBytes: 300 })
    await appendMessage(journal, { subject: 'before' })
    failCall('openSync', 'ENOSPC')
    const error = asTyped(
      await appendMessage(journal, { subject: 'no room' }).catch((cause: unknown) => cause),
    )
    expect(error.code).toBe('disk_full')
    await appendMessage(journal, { subject: 'after' })
    expect(await subjectsIn(journal)).toEqual(['before', 'after'])
    expect(await verifyDir(dir)).toMatchObject({ segments: 2, problems: [], torn: [] })
  })

  it('answers every caller when the segment cannot be opened in the middle of a batch', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    failCall('openSync', 'EMFILE')
    const plain = appendMessage(journal, { subject: 'plain' })
    const settled = journal.append(() => [messageDraft({ subject: 'settled' })], { settled: true })
    const results = await Promise.allSettled([plain, settled])
    const acknowledged = ['plain', 'settled'].filter((_, at) => results[at]!.status === 'fulfilled')
    expect(await subjectsIn(journal)).toEqual(acknowledged)
  })

  it('at the very first line is a typed error, and the journal can be made later', async () => {
    const dir = tempDir()
    const disk = fullDisk(50)
    let error: unknown
    try {
      tempJournal({ dir })
    } catch (cause) {
      error = cause
    }
    expect(asTyped(error).code).toBe('disk_full')
    disk.room = Number.POSITIVE_INFINITY
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'now' })
    const again = tempJournal({ dir })
    expect(again.space).toBe(journal.space)
    expect(await subjectsIn(again)).toEqual(['now'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })
})

/** Takes the syncs of one journal into the test's hands, whichever of their two forms is used. */
function heldSyncs(options: Partial<FileJournalOptions> = {}) {
  const held: { fd: number; finish: (code?: string) => void }[] = []
  let arrived: () => void = () => {}
  const control = {
    calls: 0,
    hold: true,
    failNext: undefined as string | undefined,
    held,
    arrival: () => new Promise<void>((resolve) => (arrived = resolve)),
  }
  const failure = (): NodeJS.ErrnoException | null => {
    control.calls++
    const code = control.failNext
    control.failNext = undefined
    return code === undefined ? null : systemError(code)
  }
  patchFs('fdatasyncSync', () => () => {
    const error = failure()
    if (error !== null) throw error
  })
  patchFs('fdatasync', () => (fd, callback) => {
    const done = callback as (error: NodeJS.ErrnoException | null) => void
    const error = failure()
    if (!control.hold) return setImmediate(() => done(error))
    held.push({ fd, finish: (code) => done(code === undefined ? null : systemError(code)) })
    arrived()
  })
  const journal = tempJournal({ ...options, durability: 'disk' })
  // A test that fails in the middle must not leave the journal waiting when it is closed.
  onTestFinished(() => {
    control.hold = false
    for (const { finish } of held) finish()
  })
  return { journal, syncs: control }
}

/** Appends of which there are several at once, so that they are confirmed by way of a thread. */
const appendSeveral = (journal: ReturnType<typeof tempJournal>, names: readonly string[]) =>
  Promise.allSettled(names.map((subject) => appendMessage(journal, { subject })))

describe('a sync that fails', () => {
  it('is a typed error that says what is not known', async () => {
    const { journal, syncs } = heldSyncs()
    syncs.hold = false
    syncs.failNext = 'EIO'
    const error = asTyped(await appendMessage(journal).catch((cause: unknown) => cause))
    expect(error).toMatchObject({ code: 'sync_failed', hint: expect.any(String), cause: { code: 'EIO' } })
  })

  it('is never tried again: the next line opens a new segment, which says why', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir })
    syncs.hold = false
    await appendMessage(journal, { subject: 'before' })
    syncs.failNext = 'EIO'
    await expect(appendMessage(journal, { subject: 'unsure' })).rejects.toMatchObject({ code: 'sync_failed' })
    await appendMessage(journal, { subject: 'after' })
    expect(segmentFiles(dir)).toHaveLength(2)
    expect(JSON.parse(linesIn(dir, 2)[0]!)).toMatchObject({ kind: 'segment', reason: 'sync_failed' })
    expect(await subjectsIn(journal)).toEqual(['before', 'unsure', 'after'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('is not hidden by a second one that covers lines written before it failed', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir })
    const arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    const written = new Promise<void>((resolve) => void journal.onWake(resolve))
    const second = appendSeveral(journal, ['c', 'd'])
    await written
    // The pages of both count as clean now; whatever the disk says from here on, it does not speak of them.
    syncs.hold = false
    syncs.held[0]!.finish('EIO')
    const outcome = (results: PromiseSettledResult<unknown>[]) => results.map(({ status }) => status)
    expect(outcome(await first)).toEqual(['rejected', 'rejected'])
    expect(outcome(await second)).toEqual(['rejected', 'rejected'])
  })

  it('of somebody else, who gives the segment up, does not hide that ours would have failed as well', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir })
    const other = tempJournal({ dir, durability: 'disk' })
    const arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    const written = new Promise<void>((resolve) => void journal.onWake(resolve))
    const second = appendSeveral(journal, ['c', 'd'])
    await written
    syncs.failNext = 'EIO'
    await expect(appendMessage(other, { subject: 'x' })).rejects.toMatchObject({ code: 'sync_failed' })
    await appendMessage(other, { subject: 'y' })
    expect(segmentFiles(dir)).toHaveLength(2)
    // The next line of ours goes into the new segment. No sync of that one speaks of what is in the old.
    syncs.failNext = 'EIO'
    const third = appendSeveral(journal, ['e', 'f'])
    await until(() => linesIn(dir, 2).join().includes('"subject":"f"'))
    syncs.failNext = undefined
    syncs.hold = false
    syncs.held[0]!.finish()
    await Promise.all([first, third])
    expect((await second).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('when a full segment is closed is a typed error and is not tried again', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir, segmentBytes: 300 })
    syncs.hold = false
    await appendMessage(journal, { subject: 'before' })
    const calls = syncs.calls
    syncs.failNext = 'EIO'
    const error = asTyped(
      await appendMessage(journal, { subject: 'unsure' }).catch((cause: unknown) => cause),
    )
    expect(error.code).toBe('sync_failed')
    await appendMessage(journal, { subject: 'after' })
    // One that failed for the old segment, one for the new line in the new segment.
    expect(syncs.calls - calls).toBe(2)
    expect(await subjectsIn(journal)).toContain('after')
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('is remembered when the journal is told to seek', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir })
    syncs.hold = false
    syncs.failNext = 'EIO'
    await appendMessage(journal, { subject: 'unsure' }).catch(() => {})
    journal.seek(journal.read(startCursor).cursor)
    await appendMessage(journal, { subject: 'after' })
    expect(segmentFiles(dir)).toHaveLength(2)
  })
})

describe('a sync under way', () => {
  it('has nobody acknowledged before its end', async () => {
    const { journal, syncs } = heldSyncs()
    const arrival = syncs.arrival()
    let settled = 0
    const appends = ['a', 'b'].map((subject) => appendMessage(journal, { subject }).finally(() => settled++))
    await arrival
    await new Promise(setImmediate)
    expect(settled).toBe(0)
    syncs.held[0]!.finish()
    await Promise.all(appends)
  })

  it('counts as an append under way: seeking is refused', async () => {
    const { journal, syncs } = heldSyncs()
    const arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    await new Promise(setImmediate)
    expect(journal.seek(startCursor)).toBe(false)
    syncs.held[0]!.finish()
    await first
    expect(journal.seek(startCursor)).toBe(true)
  })

  it('does not cover what was written after it began, even when the journal is told to seek', async () => {
    const { journal, syncs } = heldSyncs()
    let arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    const written = new Promise<void>((resolve) => void journal.onWake(resolve))
    let acknowledged = false
    const second = appendSeveral(journal, ['c', 'd']).finally(() => (acknowledged = true))
    await written
    await new Promise(setImmediate)
    journal.seek(journal.read(startCursor).cursor)
    arrival = syncs.arrival()
    syncs.held[0]!.finish()
    await first
    await Promise.race([arrival, second])
    expect({ acknowledged, syncs: syncs.held.length }).toEqual({ acknowledged: false, syncs: 2 })
    syncs.held[1]?.finish()
    await second
  })

  it('is waited for when the journal is closed', async () => {
    const { journal, syncs } = heldSyncs()
    const arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    let closed = false
    const closing = journal.close().then(() => (closed = true))
    await new Promise(setImmediate)
    expect(closed).toBe(false)
    syncs.held[0]!.finish()
    await closing
    expect((await first).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })

  it('is not disturbed by a new segment begun meanwhile', async () => {
    const dir = tempDir()
    const { journal, syncs } = heldSyncs({ dir, segmentBytes: 300 })
    const arrival = syncs.arrival()
    const first = appendSeveral(journal, ['a', 'b'])
    await arrival
    const closedUnderSync: number[] = []
    patchFs('closeSync', (real) => (fd) => {
      if (syncs.held.some((one) => one.fd === fd)) closedUnderSync.push(fd)
      return real(fd)
    })
    const written = new Promise<void>((resolve) => void journal.onWake(resolve))
    const second = appendSeveral(journal, ['c', 'd'])
    await written
    expect(closedUnderSync).toEqual([])
    syncs.hold = false
    for (const { finish } of syncs.held.splice(0)) finish()
    await Promise.all([first, second])
    const all = (await readAll(journal)).map(({ entry }) => entry)
    expect(seqsOf(all)).toEqual(upTo(all.length))
  })
})

describe('a new segment', () => {
  it('whose directory could not be synced is not trusted without another sync of it', async () => {
    const dir = tempDir()
    let directorySyncs = 0
    let fail = false
    patchFs('fsyncSync', (real) => (fd) => {
      directorySyncs++
      if (fail) throw systemError('EIO')
      return real(fd)
    })
    const { journal, syncs } = heldSyncs({ dir, segmentBytes: 300 })
    syncs.hold = false
    await appendMessage(journal, { subject: 'before' })
    const before = directorySyncs
    fail = true
    const error = asTyped(
      await appendMessage(journal, { subject: 'unsure' }).catch((cause: unknown) => cause),
    )
    expect(error.code).toBe('sync_failed')
    fail = false
    await appendMessage(journal, { subject: 'after' })
    expect(directorySyncs - before).toBeGreaterThanOrEqual(2)
    expect((await verifyDir(dir)).problems).toEqual([])
  })
})

describe('a file that cannot be looked at after it was written', () => {
  it.each(['disk', 'os'] as const)('is told to whoever waits, with durability %s', async (durability) => {
    const journal = tempJournal({ durability })
    await appendMessage(journal, { subject: 'before' })
    let [isWritten, isFailed] = [false, false]
    patchFs('writeSync', (real) => (...args) => {
      isWritten = true
      return (real as (...all: unknown[]) => unknown)(...args)
    })
    patchFs('statSync', (real) => (...args) => {
      if (isWritten && !isFailed && String(args[0]).endsWith('.jsonl')) {
        isFailed = true
        throw systemError('EIO')
      }
      return (real as (...all: unknown[]) => unknown)(...args)
    })
    const sent = ['one', 'two'].map((subject) => appendMessage(journal, { subject }))
    for (const { status, ...rest } of await Promise.allSettled(sent))
      expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: { code: 'damaged' } })
    await appendMessage(journal, { subject: 'after' })
    expect((await subjectsIn(journal)).at(-1)).toBe('after')
  })
})
