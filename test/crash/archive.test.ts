import { cpSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { listArchived, listPlain } from '../../src/journal/file/segment.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { Entry } from '../../src/model/entry.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { day } from '../helpers/archive.ts'
import { entriesIn, seqsOf, upTo } from '../helpers/drafts.ts'
import { failEach } from '../helpers/faults.ts'
import { runScript } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { patientSettings, tempDir, tempSpace, testSettings } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const archiver = new URL('archiver.mjs', import.meta.url)

beforeEach(() => needTool('strace'))

const now = Date.parse('2026-12-01T00:00:00.000Z')
const ages = { gzipAfterMs: 30 * day, removeAfterMs: 200 * day }

interface Template {
  dir: string
  entries: Entry[]
  agents: Agent[]
}

/** Six segments: two of January, to be removed, two of June, to be gzipped, and two that stay. */
async function template(): Promise<Template> {
  const clock = { now: Date.parse('2026-01-10T12:00:00.000Z') }
  const space = await tempSpace({
    now: () => clock.now,
    settings: { ...patientSettings, 'retention.segmentEntries': 6 },
  })
  const ada = await space.mailbox('ada', { join: { roles: ['architect'] } })
  await space.join('bob')
  const fill = async (segments: number) => {
    while (listPlain(join(space.dir, 'journal')).length < segments) {
      const { id } = await ada.send({ to: 'ada', body: 'some words' })
      await ada.done(id)
    }
  }
  await fill(2)
  await ada.send({ to: 'all', subject: 'its life ends by itself', ttlMs: day })
  await fill(3)
  clock.now = Date.parse('2026-06-10T12:00:00.000Z')
  await fill(6)
  await ada.search('words')
  const agents = await space.agents()
  await space.close()
  return { dir: space.dir, entries: await entriesIn(space.dir), agents }
}

/** Where archiving leaves its traces. */
function pathsOf(dir: string): string[] {
  const numbers = upTo(6).map((n) => `0000000${n}.jsonl`)
  const months = ['2026-01', '2026-06']
  const archived = numbers.flatMap((name) => months.map((month) => `archive/${month}-${name}.gz`))
  const plain = numbers.map((name) => `journal/${name}`)
  const rest = ['head', 'journal', 'archive', 'archive/lock', 'index.db', 'index-search.db']
  return ['', ...plain, ...archived, ...archived.map((path) => `${path}.tmp`), ...rest].map((path) =>
    join(dir, path),
  )
}

/** What is wrong with a space that was being archived; empty when nothing is. */
async function wrongIn(dir: string, { entries, agents }: Template): Promise<string[]> {
  const wrong: string[] = []
  const check = async (when: string, space: DiskSpace) => {
    const found = await entriesIn(dir)
    const first = found[0]?.seq ?? 0
    if (
      seqsOf(found).join() !==
      upTo(found.length)
        .map((n) => first + n - 1)
        .join()
    )
      wrong.push(`${when}: there is a gap or a double`)
    const kept = found.filter(({ seq }) => seq <= entries.length)
    if (JSON.stringify(kept) !== JSON.stringify(entries.slice(first - 1)))
      wrong.push(`${when}: entries from ${first} on have changed`)
    // Only what stands in the two oldest segments may be gone, and these only as a whole.
    const starts = entries.filter(({ kind }) => kind === 'segment').slice(0, 3)
    if (!starts.some(({ seq }) => seq === first)) wrong.push(`${when}: the journal begins at ${first}`)
    if (JSON.stringify(await space.agents()) !== JSON.stringify(agents))
      wrong.push(`${when}: the roster has changed`)
    const { problems } = await space.verify({ deep: true })
    for (const problem of problems) wrong.push(`${when}: ${problem}`)
  }
  const space = await openDisk({ dir, settings: { ...testSettings, ...patientSettings } })
  try {
    await check('before', space)
    await space.archiveOld({ ...ages, now })
    await check('after', space)
    const journal = join(dir, 'journal')
    const where = { plain: listPlain(journal), archived: [...listArchived(journal).keys()] }
    if (JSON.stringify(where) !== '{"plain":[5,6],"archived":[3,4]}')
      wrong.push(`it ended with ${JSON.stringify(where)}`)
    const stray = readdirSync(join(dir, 'archive')).filter((file) => !/^lock$|\.gz$/.test(file))
    if (stray.length > 0) wrong.push(`left over: ${stray.join()}`)
  } finally {
    await space.close()
  }
  return wrong
}

/** Runs the archiver once for each call that can go wrong. */
async function cutOff(call: string, what: string, step: number) {
  const from = await template()
  const codes = new Set<string>()
  const done = await failEach({
    ...{ call, what, step, script: archiver, from: from.dir, paths: pathsOf },
    args: (dir) => [dir, now, ages.gzipAfterMs, ages.removeAfterMs].map(String),
    judge: async ({ dir, stdout, isFaulty }) => {
      if (stdout.startsWith('refused')) codes.add(stdout.trim().slice('refused '.length))
      const wrong = await wrongIn(dir, from)
      return isFaulty || stdout === 'done 4 2\n' ? wrong : [...wrong, `without a fault: ${stdout}`]
    },
  })
  return { ...done, codes: [...codes] }
}

it('makes the name of the archived copy durable before it deletes the plain one', async () => {
  const { dir } = await template()
  const root = realpathSync(tempDir())
  const log = join(root, 'calls.log')
  const copy = join(root, 'space')
  cpSync(dir, copy, { recursive: true })
  const args = [copy, now, ages.gzipAfterMs, Number.POSITIVE_INFINITY].map(String)
  expect(runScript(archiver, args).stdout).toBe('done 4 0\n')
  // As if that run had been killed after each rename: both copies are there, and no name is known to be durable.
  cpSync(join(dir, 'journal'), join(copy, 'journal'), { recursive: true })
  const under = ['strace', '-f', '--seccomp-bpf', '-qq', '-y', '-o', log, '-e', 'trace=fsync,unlink']
  expect(runScript(archiver, args, { under, env: { UV_THREADPOOL_SIZE: '1' } }).stdout).toBe('done 4 0\n')
  const calls = readFileSync(log, 'latin1').split('\n')
  const unlinks = calls.flatMap((call, at) => (/unlink\(".*\/journal\/\d+\.jsonl"/.test(call) ? [at] : []))
  expect(unlinks).toHaveLength(4)
  for (const [nth, at] of unlinks.entries()) {
    const since = calls.slice((unlinks[nth - 1] ?? -1) + 1, at)
    expect(since.some((call) => /fsync\(\d+<.*\/archive>/.test(call))).toBe(true)
  }
})

const timeout = inStorm(900_000, 180_000)

describe('wherever archiving is cut off, nothing is lost or doubled, and the next run finishes it', {
  timeout,
}, () => {
  it.each([
    ['write', 8],
    ['fsync', 22],
    ['rename', 4],
    ['unlink', 26],
    ['openat', 122],
    ['pwrite64', 202],
  ])('killed at a %s', async (call, step) => {
    const { wrong, tried } = await cutOff(call, 'signal=KILL', step)
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(1)
  })

  it.each([
    ['write', 'ENOSPC', ['disk_full']],
    ['fsync', 'EIO', ['damaged']],
    ['rename', 'EIO', ['damaged']],
  ])('%s says %s', async (call, error, expected) => {
    const { wrong, codes, tried } = await cutOff(call, `error=${error}`, 18)
    expect(wrong).toEqual([])
    expect(codes).toEqual(expected)
    expect(tried).toBeGreaterThan(1)
  })
})
