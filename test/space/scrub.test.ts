import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { person } from '../../src/model/agent.ts'
import { keepScrubbing, scrubAll, scrubState } from '../../src/space/scrub.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { linesIn, segmentFile, writeLines } from '../helpers/segments.ts'
import { patientSettings, tempDir, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const settings = { ...patientSettings, 'retention.segmentEntries': 5 }

async function withSegments(mirrored = false): Promise<{ space: DiskSpace; mirror: string }> {
  const mirror = join(tempDir(), 'mirror')
  const first = await tempSpace({ settings })
  if (mirrored) await first.setMirror(mirror)
  await first.close()
  const space = await tempSpace({ dir: first.dir, settings })
  const ada = await space.mailbox('ada')
  for (let n = 1; n <= 16; n++) await ada.send({ to: 'ada', subject: `s${n}`, body: 'some words' })
  return { space, mirror }
}

const spoil = (dir: string, segment: number, line: number) =>
  writeLines(
    dir,
    linesIn(dir, segment).map((text, at) => (at === line ? text.replace('words', 'noise') : text)),
    segment,
  )

/** What the person was told of. */
const told = async (space: DiskSpace): Promise<string[]> => {
  const mailbox = await space.mailbox(person)
  return (await mailbox.inbox()).messages.flatMap(({ from, subject, body }) =>
    from === 'system' ? `${subject}: ${body.match(/^- .*$/gm)?.join('; ')}` : [],
  )
}

describe('the reading of old files', () => {
  it('finds nothing in a journal that is sound, cut-off writes and archived files included', async () => {
    const { space } = await withSegments(true)
    await space.close()
    const file = segmentFile(space.dir, 4)
    if (existsSync(file)) writeFileSync(file, `${readFileSync(file, 'latin1')}{"seq":99,"at":"20`)
    const again = await tempSpace({ dir: space.dir, settings })
    const ada = await again.mailbox('ada')
    for (let n = 1; n <= 8; n++) await ada.send({ to: 'ada', body: 'more' })
    await again.archiveOld({ gzipAfterMs: 1, now: Date.now() + 1_000 })
    expect(await scrubAll(again.core)).toMatchObject({ findings: [] })
    expect(scrubState(again.dir)?.finishedAt).toBeGreaterThan(0)
    expect(await told(again)).toEqual([])
  })

  it('tells the person once of each damage, and doctor knows of it until it is repaired', async () => {
    const { space, mirror } = await withSegments(true)
    spoil(space.dir, 2, 2)
    const { findings } = await scrubAll(space.core)
    expect(findings).toMatchObject([{ segment: 2, where: 'journal' }])
    const [known] = (await space.verify()).damage
    expect(known).toMatchObject({ name: 'changed_line', since: findings[0]!.at })
    await scrubAll(space.core)
    expect(await told(space)).toEqual([
      `The journal is damaged: - journal, file 2, from byte ${findings[0]!.offset} on`,
    ])
    expect((await space.stats()).warnings.join()).toContain('1 damaged place')

    spoil(mirror, 1, 2)
    expect((await scrubAll(space.core)).findings).toMatchObject([
      { segment: 2 },
      { segment: 1, where: 'mirror' },
    ])
    expect(await told(space)).toHaveLength(2)
    await space.repair()
    expect(scrubState(space.dir)).toMatchObject({ findings: [] })
    expect((await space.stats()).warnings).toEqual([])
    expect(await scrubAll(space.core)).toMatchObject({ findings: [] })
  })

  it('finds lines that are missing, and an archived file that cannot be unpacked', async () => {
    const { space } = await withSegments()
    writeLines(space.dir, linesIn(space.dir, 2).toSpliced(2, 1), 2)
    const packed = gzipSync(readFileSync(segmentFile(space.dir, 1)))
    packed[packed.length >> 1]! ^= 4
    await space.close()
    rmSync(segmentFile(space.dir, 1))
    const archive = join(space.dir, 'archive')
    mkdirSync(archive, { mode: 0o700 })
    writeFileSync(join(archive, '2026-01-00000001.jsonl.gz'), packed)
    const again = await tempSpace({ dir: space.dir, settings })
    expect((await scrubAll(again.core)).findings).toMatchObject([
      { segment: 1, where: 'archive' },
      { segment: 2, where: 'journal' },
    ])
  })

  it('goes on where it was interrupted, and is done by one process at a time', async () => {
    const { space } = await withSegments()
    spoil(space.dir, 3, 2)
    writeFileSync(join(space.dir, 'scrub.json'), '{"segment":2,"sum":"","finishedAt":0,"findings":[]}')
    const other = await tempSpace({ dir: space.dir, settings })
    const options = { pauseMs: 0, everyMs: 3_600_000 }
    void keepScrubbing(space.core, options)
    void keepScrubbing(other.core, options)
    await until(() => (scrubState(space.dir)?.finishedAt ?? 0) > 0)
    expect(scrubState(space.dir)?.findings).toMatchObject([{ segment: 3 }])
    expect(await told(space)).toHaveLength(1)
  })
})
