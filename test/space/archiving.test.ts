import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { archiveIfDue, archivingState, describeRun } from '../../src/space/archiving.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { archivedFiles, day, everythingIn } from '../helpers/archive.ts'
import { stageHub } from '../helpers/hub.ts'
import { segmentFiles } from '../helpers/segments.ts'
import { patientSettings, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const retention = { 'retention.gzipAfterDays': 30, 'retention.removeAfterDays': 0 }

/** A space of six files, 40 days ago, with a clock that a test moves. */
async function oldSpace(settings: object = retention) {
  const clock = { now: Date.parse('2026-10-01T12:00:00.000Z') }
  const all = { ...patientSettings, 'retention.segmentEntries': 6, ...settings }
  const space = await tempSpace({ now: () => clock.now, settings: all })
  const ada = await space.mailbox('ada')
  while (segmentFiles(space.dir).length < 6) {
    const { id } = await ada.send({ to: 'ada', body: 'some words in the body' })
    await ada.done(id)
  }
  clock.now += 40 * day
  const again = (more: object = {}) =>
    tempSpace({ dir: space.dir, now: () => clock.now, settings: { ...all, ...more } })
  return { space, clock, again }
}

const stateOf = ({ dir }: DiskSpace) => archivingState(dir)

describe('archiving by itself', () => {
  it('does what the settings say, once a day, and says what it did', async () => {
    const { space, clock } = await oldSpace()
    const before = await everythingIn(space, ['ada'])
    expect(await archiveIfDue(space.core)).toMatchObject({ at: clock.now, compressed: 4, removed: 0 })
    expect(archivedFiles(space.dir)).toHaveLength(4)
    expect(await everythingIn(space, ['ada'])).toEqual(before)
    const run = stateOf(space)!.lastDone!
    expect(describeRun(run)).toMatch(/^4 files compressed, \d+ KiB to \d+ KiB$/)

    // Within a day nobody looks again; after a day somebody does, and what was done before is still known.
    clock.now += day - 1
    expect(await archiveIfDue(space.core)).toBeUndefined()
    clock.now += 1
    expect(await archiveIfDue(space.core)).toMatchObject({ compressed: 0, removed: 0 })
    expect(stateOf(space)).toEqual({ last: expect.objectContaining({ at: clock.now }), lastDone: run })
  })

  it('removes what is old enough and finished, where a setting says so', async () => {
    const { space, clock } = await oldSpace({ ...retention, 'retention.removeAfterDays': 60 })
    await archiveIfDue(space.core)
    clock.now += 30 * day
    expect(await archiveIfDue(space.core)).toMatchObject({ removed: 4 })
    expect(archivedFiles(space.dir)).toEqual([])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('does nothing in a space that nobody has configured, and leaves no trace there', async () => {
    const { space } = await oldSpace({})
    expect(await archiveIfDue(space.core)).toBeUndefined()
    expect(existsSync(join(space.dir, 'archiving.json'))).toBe(false)
    expect(existsSync(join(space.dir, 'archiving.lock'))).toBe(false)
  })

  it('is done by one of several processes', async () => {
    const { space, again } = await oldSpace()
    const others = await Promise.all([again(), again()])
    const runs = await Promise.all([space, ...others].map(({ core }) => archiveIfDue(core)))
    expect(runs.filter((run) => run !== undefined)).toEqual([expect.objectContaining({ compressed: 4 })])
  })

  it('goes on where a process that was killed has left it', async () => {
    const { space } = await oldSpace()
    await archiveIfDue(space.core)
    // As a kill leaves it: two files are archived, a third is half written, and nobody has said what was done.
    const [, , third, fourth] = archivedFiles(space.dir).map((name) => join(space.dir, 'archive', name))
    for (const [at, path] of [third!, fourth!].entries())
      writeFileSync(join(space.dir, 'journal', `0000000${at + 3}.jsonl`), gunzipSync(readFileSync(path)))
    writeFileSync(`${third!}.tmp`, readFileSync(third!).subarray(0, 20))
    rmSync(fourth!)
    rmSync(join(space.dir, 'archiving.json'))
    expect(await archiveIfDue(space.core)).toMatchObject({ compressed: 2 })
    expect(archivedFiles(space.dir)).toHaveLength(4)
    expect(segmentFiles(space.dir)).toHaveLength(2)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('says why it could not, and tries again the next day', async () => {
    const { space, clock } = await oldSpace()
    writeFileSync(join(space.dir, 'archive'), 'in the way')
    const failed = await archiveIfDue(space.core)
    expect(failed).toMatchObject({ compressed: 0, problem: expect.stringMatching(/\S/) })
    expect(describeRun(failed!)).toMatch(/^could not archive: /)
    rmSync(join(space.dir, 'archive'))
    clock.now += day
    expect(await archiveIfDue(space.core)).toMatchObject({ compressed: 4 })
  })

  it('is no matter of a state file that makes no sense, or comes from the future', async () => {
    const { space } = await oldSpace()
    for (const text of ['', '[]', '{"last":{}}', '{"last":{"at":9999999999999}}']) {
      writeFileSync(join(space.dir, 'archiving.json'), text)
      expect(await archiveIfDue(space.core), text).toBeDefined()
    }
  })

  it('is done while a process stays, and a hub writes it to its log', async () => {
    const { space } = await oldSpace()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stage = await stageHub({ space })
    vi.advanceTimersByTime(60_000)
    vi.useRealTimers()
    const line = await until(() => stage.lines.find(({ event }) => event === 'archive'))
    expect(line).toMatchObject({
      level: 30,
      compressed: 4,
      msg: expect.stringContaining('4 files compressed'),
    })
  })
})
