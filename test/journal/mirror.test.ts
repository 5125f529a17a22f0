import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listPlain } from '../../src/journal/file/segment.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { day } from '../helpers/archive.ts'
import { patchFs, systemError } from '../helpers/fs-faults.ts'
import { startScript } from '../helpers/processes.ts'
import { segmentFile } from '../helpers/segments.ts'
import { patientSettings, tempDir, tempSpace, testSettings } from '../helpers/temp.ts'

/** A space with a mirror, and some mail in several segments. */
async function mirrored(options: Parameters<typeof tempSpace>[0] = {}) {
  const mirror = join(tempDir(), 'mirror')
  const first = await tempSpace(options)
  await first.setMirror(mirror)
  await first.close()
  const space = await tempSpace({ ...options, dir: first.dir })
  return { space, mirror, dir: first.dir }
}

async function fill(space: DiskSpace, count: number, body = 'x'.repeat(8_000)) {
  const ada = await space.mailbox('ada')
  for (let n = 1; n <= count; n++) await ada.send({ to: 'ada', subject: `${n}`, body })
}

/** Segments whose copy is not the same, byte for byte. */
function differing(dir: string, mirror: string): number[] {
  return listPlain(join(dir, 'journal')).filter((segment) => {
    const copy = segmentFile(mirror, segment)
    return !existsSync(copy) || !readFileSync(copy).equals(readFileSync(segmentFile(dir, segment)))
  })
}

const asideIn = (mirror: string): string[] => {
  const dir = join(mirror, 'journal', 'damaged')
  return existsSync(dir) ? readdirSync(dir) : []
}

describe('a mirror', () => {
  it('has every byte of the journal at the moment a send returns, through new segments', async () => {
    const { space, mirror, dir } = await mirrored({ settings: { segmentBytes: 65_536, durability: 'disk' } })
    const ada = await space.mailbox('ada')
    for (let n = 1; n <= 20; n++) {
      await ada.send({ to: 'ada', body: 'x'.repeat(8_000) })
      expect(differing(dir, mirror)).toEqual([])
    }
    expect(listPlain(join(dir, 'journal')).length).toBeGreaterThan(2)
    expect(await space.mirror()).toEqual({ state: 'current', missingBytes: 0 })
    // It can be read as a space of its own.
    const copy = await tempSpace({ dir: mirror })
    expect(await copy.lastSeq()).toBe(await space.lastSeq())
    expect((await copy.verify()).problems).toEqual([])
  })

  it('is filled with what there is when it is set, archived files included', async () => {
    const clock = { now: Date.parse('2026-01-10T12:00:00.000Z') }
    const settings = { ...patientSettings, 'retention.segmentEntries': 6 }
    const space = await tempSpace({ now: () => clock.now, settings })
    await fill(space, 30, 'words')
    clock.now += 60 * day
    const whole = listPlain(join(space.dir, 'journal')).map((n) => readFileSync(segmentFile(space.dir, n)))
    const { gzipped } = await space.archiveOld({ gzipAfterMs: 30 * day, now: clock.now })
    expect(gzipped.length).toBeGreaterThan(2)
    const mirror = join(tempDir(), 'mirror')
    const seen: number[] = []
    const { bytes } = await space.setMirror(mirror, { onProgress: (done) => seen.push(done.bytes) })
    expect(bytes).toBe(whole.reduce((sum, one) => sum + one.length, 0))
    expect(seen.length).toBeGreaterThan(2)
    for (const [at, one] of whole.entries())
      expect(readFileSync(segmentFile(mirror, at + 1)).equals(one)).toBe(true)
    // Archiving leaves it alone; what is removed from the space is removed from it as well.
    const again = await openDisk({
      dir: space.dir,
      now: () => clock.now,
      settings: { ...testSettings, ...settings },
    })
    const ada = await again.mailbox('ada')
    for (const { id } of (await ada.check({ limit: 100 })).messages) await ada.done(id)
    const { removed } = await again.archiveOld({
      gzipAfterMs: 30 * day,
      removeAfterMs: 31 * day,
      now: clock.now,
    })
    await again.close()
    expect(removed.length).toBeGreaterThan(2)
    expect(listPlain(join(mirror, 'journal'))).toEqual(
      listPlain(join(mirror, 'journal')).filter((n) => n > removed.at(-1)!.segment),
    )
  })

  it('that is away makes no send fail, and is brought up to date when it is back', async () => {
    const { space, mirror, dir } = await mirrored({ settings: { segmentBytes: 65_536 } })
    await fill(space, 3)
    renameSync(mirror, `${mirror}-away`)
    await space.close()
    const without = await tempSpace({ dir, settings: { segmentBytes: 65_536 } })
    await fill(without, 12)
    expect(await without.mirror()).toMatchObject({ state: 'away' })
    expect((await without.stats()).warnings.join()).toContain('no mirror')
    // Nothing was put where the disk should have been.
    expect(existsSync(mirror)).toBe(false)
    renameSync(`${mirror}-away`, mirror)
    expect(await without.mirror()).toMatchObject({ state: 'behind' })
    await without.close()
    const back = await tempSpace({ dir, settings: { segmentBytes: 65_536 } })
    await fill(back, 1)
    // The segment being written and the one before it are complete with the next send.
    expect(differing(dir, mirror).every((n) => n < listPlain(join(dir, 'journal')).at(-1)! - 1)).toBe(true)
    await back.setMirror(mirror)
    expect(differing(dir, mirror)).toEqual([])
    expect(asideIn(mirror)).toEqual([])
  })

  it('whose disk fails makes no send fail', async () => {
    const { space, mirror, dir } = await mirrored({ settings: { durability: 'disk' } })
    await fill(space, 1)
    let isBroken = true
    patchFs('writeSync', (real) => (...args) => {
      const fd = args[0] as number
      if (isBroken && readFdPath(fd).startsWith(mirror)) throw systemError('EIO')
      return (real as (...all: unknown[]) => unknown)(...args)
    })
    await fill(space, 2)
    expect(await space.mirror()).toMatchObject({ state: 'behind' })
    isBroken = false
    await space.close()
    const again = await tempSpace({ dir })
    await fill(again, 1)
    expect(differing(dir, mirror)).toEqual([])
  })

  it('keeps what the journal has lost', async () => {
    const { space, mirror, dir } = await mirrored()
    await fill(space, 3, 'words')
    const whole = readFileSync(segmentFile(mirror))
    await space.close()
    truncateSync(segmentFile(dir), whole.length - 700)
    const again = await tempSpace({ dir })
    expect(await again.mirror()).toMatchObject({ state: 'ahead' })
    await fill(again, 1, 'words')
    const kept = [
      segmentFile(mirror),
      ...asideIn(mirror).map((name) => join(mirror, 'journal', 'damaged', name)),
    ]
    expect(kept.some((path) => readFileSync(path).subarray(0, whole.length).equals(whole))).toBe(true)
    expect((await again.mirror())?.state).not.toBe('behind')
  })

  it('is continued where a writer was killed between the journal and the mirror', async () => {
    const { space, mirror, dir } = await mirrored()
    await fill(space, 2, 'words')
    await space.close()
    const copy = segmentFile(mirror)
    // In the middle of a line: what came of a write that was cut off.
    truncateSync(copy, readFileSync(copy).length - 100)
    const again = await tempSpace({ dir })
    await fill(again, 1, 'words')
    expect(differing(dir, mirror)).toEqual([])
    expect(asideIn(mirror)).toEqual([])
  })

  it('has all that was acknowledged by a process that was killed', async () => {
    const { space, mirror, dir } = await mirrored()
    await space.mailbox('ada')
    await space.close()
    const writer = startScript(new URL('../crash/obey.mjs', import.meta.url), [dir])
    await writer.line('ready')
    for (let n = 1; n <= 5; n++) {
      writer.tell(JSON.stringify({ send: { subject: `s${n}` } }))
      await writer.line(`acked s${n}`)
    }
    writer.process.kill('SIGKILL')
    await writer.exit
    const copied = readFileSync(segmentFile(mirror), 'utf8')
    for (let n = 1; n <= 5; n++) expect(copied).toContain(`"subject":"s${n}"`)
  })
})

describe('a directory is refused as a mirror', () => {
  it.each<[string, string, (dir: string, space: DiskSpace) => string]>([
    [
      'of another space',
      'conflict',
      (dir) => {
        writeFileSync(join(dir, 'mirror.json'), '{"space":"other"}')
        return dir
      },
    ],
    [
      'with files in it',
      'conflict',
      (dir) => {
        appendFileSync(join(dir, 'notes.txt'), 'mine')
        return dir
      },
    ],
    ['inside the space', 'invalid', (_, space) => join(space.dir, 'mirror')],
    ['around the space', 'invalid', (_, space) => join(space.dir, '..')],
    [
      'that others can read',
      'not_permitted',
      (dir) => {
        chmodSync(dir, 0o755)
        return dir
      },
    ],
  ])('%s', async (_, code, make) => {
    const outer = tempDir()
    const dir = join(outer, 'space')
    mkdirSync(dir, { mode: 0o700 })
    const space = await tempSpace({ dir })
    await expect(space.setMirror(make(tempDir(), space))).rejects.toMatchObject({ code })
    expect(existsSync(join(space.dir, 'config.json'))).toBe(false)
    expect(existsSync(join(space.dir, 'mirror'))).toBe(false)
  })
})

const readFdPath = (fd: number): string => {
  try {
    return process.getBuiltinModule('node:fs').readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
