import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { archiveIfDue } from '../../src/space/archiving.ts'
import { openDisk } from '../../src/space/open.ts'
import { archivedFiles, day, listingOf } from '../helpers/archive.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { upTo } from '../helpers/drafts.ts'

/** A box with mail in several files of the journal; bob has finished all but the last of it. */
async function filledBox(): Promise<{ box: Box; ids: string[] }> {
  const box = await createBox('ada', 'bob')
  await using space = await openDisk({ dir: box.dir, settings: { 'retention.segmentEntries': 10 } })
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  const ids: string[] = []
  for (const n of upTo(20)) {
    ids.push((await ada.send({ to: 'bob', subject: `Plan ${n}`, body: `word${n}` })).id)
    if (n < 20) await bob.done(ids.at(-1)!)
  }
  await bob.search('word1')
  return { box, ids }
}

interface Report {
  dryRun: boolean
  gzipped: { segment: number; file: string; bytes: number; gzippedBytes: number | null; lastAt: string }[]
  removed: Report['gzipped']
  kept: { segment: number; reason: string }[]
}

const report = async (box: Box, ...words: string[]) =>
  JSON.parse(await box.ok('archive-old', ...words, '--json')) as Report

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

it('archives nothing by default, and says how to begin', async () => {
  const { box } = await filledBox()
  const before = listingOf(box.dir)
  expect(await box.ok('archive-old')).toBe(
    'nothing is compressed by default; to change that: mailbox config set retention.gzipAfterDays 30\n',
  )
  expect(await report(box)).toEqual({ dryRun: false, gzipped: [], removed: [], kept: [] })
  expect(await box.ok('archive-old', '--remove-after', '1ms')).toContain(
    'only compressed files can be removed',
  )
  expect(listingOf(box.dir)).toEqual(before)
})

it('says what it would do, on 80 columns, and does nothing when it is told so', async () => {
  const { box } = await filledBox()
  const before = listingOf(box.dir)
  const ages = ['--gzip-after', '1ms', '--remove-after', '1ms', '--dry-run']
  const text = await box.ok('archive-old', ...ages)
  expect(text).toMatch(
    /^FILE {2}LAST ENTRY {2}SIZE +ACTION\n1 +\d{4}-\d\d-\d\d +\d+ KiB +would be compressed\n/,
  )
  expect(text).toMatch(/^3 +\S+ +\d+ KiB +would be removed$/m)
  expect(text).toMatch(/^\d kept: it is being written\ndry run: nothing was changed\n$/m)
  expect(widest(text)).toBeLessThanOrEqual(80)
  const { dryRun, gzipped } = await report(box, ...ages)
  expect({ dryRun, first: gzipped[0] }).toMatchObject({
    dryRun: true,
    first: {
      segment: 1,
      file: expect.stringMatching(/^archive\/.*-00000001\.jsonl\.gz$/),
      gzippedBytes: null,
    },
  })
  expect(listingOf(box.dir)).toEqual(before)
})

it('gzips what is old enough; all verbs answer as before', async () => {
  const { box, ids } = await filledBox()
  const [first] = ids
  const questions = [
    ['search', 'word7', '--json'],
    ['thread', first!, '--json'],
    ['show', first!, '--json'],
    ['inbox', '--as', 'bob', '--all', '--limit', '100', '--json'],
    ['log', '--json'],
    ['export'],
    ['verify', '--deep', '--json'],
  ]
  const answers = () => Promise.all(questions.map((words) => box.ok(...words)))
  // An export has the settings, so they are changed first.
  await box.ok('config', 'set', 'retention.gzipAfterDays', '30')
  const before = await answers()
  expect(await box.ok('archive-old')).toMatch(
    /^nothing to do\n1 kept: its last entry is from \S+\n2 to 3 kept: an/,
  )

  const text = await box.ok('archive-old', '--gzip-after', '1ms')
  expect(text).toMatch(/^1 +\S+ +\d+ KiB +compressed to \d+ KiB$/m)
  expect(archivedFiles(box.dir).length).toBeGreaterThan(1)
  expect(await answers()).toEqual(before)
  expect(await box.run(['archive-old', '--gzip-after', '1ms', '--quiet'])).toMatchObject({
    code: 0,
    stdout: '',
  })
})

it('removes what is older still and finished, and names what keeps the rest', async () => {
  const { box, ids } = await filledBox()
  const ages = ['--gzip-after', '1ms', '--remove-after', '1ms']
  expect(await box.refused(2, 'archive-old', '--remove-after', '0d')).toMatchObject({ code: 'invalid' })
  const { removed } = await report(box, ...ages)
  expect(removed.map(({ segment }) => segment)).toEqual([1, 2, 3])
  expect(await box.refused(3, 'show', ids[0]!)).toMatchObject({ code: 'not_found' })
  expect((await box.json('agents')).agents.map(({ name }) => name)).toEqual(['user', 'ada', 'bob'])
  expect((await box.json('inbox', '--as', 'bob')).messages).toMatchObject([
    { id: ids.at(-1), subject: 'Plan 20' },
  ])
  expect(await box.ok('verify', '--deep')).toMatch(/^OK: /)

  // Enough new mail that the file with the unread message is closed as well.
  await box.ok('config', 'set', 'retention.segmentEntries', '2')
  for (const n of upTo(3)) await box.ok('send', 'user', '--subject', `${n}`)
  const text = await box.ok('archive-old', ...ages)
  expect(text).toContain(`kept: message ${ids.at(-1)} is unread or open`)
  expect(widest(text)).toBeLessThanOrEqual(80)
})

it('reads what is left of a damaged archive', async () => {
  const { box, ids } = await filledBox()
  await box.ok('archive-old', '--gzip-after', '1ms')
  const file = join(box.dir, 'archive', archivedFiles(box.dir)[0]!)
  writeFileSync(file, readFileSync(file).subarray(0, -50))
  expect((await box.json('show', ids[0]!)).message).toMatchObject({ subject: 'Plan 1' })
  expect(await box.ok('inbox', '--as', 'bob', '--all')).toContain('could not be read')
  const { code, stdout } = await box.run(['verify'])
  expect(code).toBe(1)
  expect(stdout).toContain(`segment 1: ${file} cannot be unpacked`)
  await box.ok('send', 'bob', '--subject', 'goes on')
})

it('tells doctor what was archived by itself, and what was not', async () => {
  const { box } = await filledBox()
  const line = async () => /^.*\barchive {2}.*$/m.exec((await box.run(['doctor'])).stdout)?.[0]
  expect(await line()).toBeUndefined()
  await box.ok('config', 'set', 'retention.gzipAfterDays', '1')
  expect(await line()).toMatch(/^ok +archive +not yet: /)
  const later = Date.now() + 2 * day
  await using space = await openDisk({ dir: box.dir, now: () => later })
  await archiveIfDue(space.core)
  await space.close()
  expect(await line()).toMatch(/^ok +archive +3 files compressed, \d+ KiB to \d+ KiB, .*; last looked /)
  const last = { at: Date.now() - day, compressed: 0, bytes: 0, compressedBytes: 0, removed: 0 }
  writeFileSync(join(box.dir, 'archiving.json'), JSON.stringify({ last: { ...last, problem: 'no room' } }))
  expect(await line()).toMatch(/^warn +archive +could not archive: no room, 1 d ago/)
})

it('does not make a space only to archive it', async () => {
  const box = await createBox()
  expect(await box.refused(3, 'archive-old')).toMatchObject({ code: 'not_found' })
  expect(readdirSync(join(box.dir, '..'))).toEqual([])
})
