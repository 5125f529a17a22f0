import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { entriesIn } from '../helpers/drafts.ts'
import { failEach } from '../helpers/faults.ts'
import { linesIn, segmentFile, writeLines } from '../helpers/segments.ts'
import { inStorm } from '../helpers/storm.ts'
import { patientSettings, tempDir, tempSpace, testSettings } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const repairer = new URL('repairer.mjs', import.meta.url)
const now = Date.parse('2026-12-01T00:00:00.000Z')
const stamp = '2026-12-01T00-00-00-000Z'

beforeEach(() => needTool('strace'))

interface Template {
  dir: string
  copy: string
  entries: string[]
}

/** Four segments, the first of them archived, each with a record that only the copy has. */
async function template(): Promise<Template> {
  const root = realpathSync(tempDir())
  const [dir, copy] = [join(root, 'space'), join(root, 'copy')]
  mkdirSync(dir, { mode: 0o700 })
  const space = await tempSpace({
    dir,
    now: () => now,
    settings: { ...patientSettings, 'retention.segmentEntries': 5 },
  })
  const ada = await space.mailbox('ada')
  for (let n = 1; n <= 14; n++) await ada.send({ to: 'ada', subject: `s${n}`, body: 'words' })
  await space.close()
  cpSync(dir, copy, { recursive: true })
  const entries = await textsIn(dir)
  for (const n of [1, 2, 3, 4])
    writeLines(
      dir,
      linesIn(dir, n).map((line, at) => (at === 2 ? line.replace('words', 'noise') : line)),
      n,
    )
  mkdirSync(join(dir, 'archive'), { mode: 0o700 })
  writeFileSync(archived(dir), gzipSync(readFileSync(segmentFile(dir, 1))))
  rmSync(segmentFile(dir, 1))
  return { dir, copy, entries }
}

const archived = (dir: string): string => join(dir, 'archive', '2026-12-00000001.jsonl.gz')

/** To be compared as they are written. */
const textsIn = async (dir: string): Promise<string[]> =>
  (await entriesIn(dir)).map((entry) => JSON.stringify(entry))

/** Where a repair leaves its traces. */
function pathsOf(dir: string): string[] {
  const files = [archived(dir), ...[2, 3, 4, 5].map((n) => segmentFile(dir, n))]
  const kept = files.map((path) =>
    join(dir, 'journal', 'damaged', `${path.slice(path.lastIndexOf('/') + 1)}.${stamp}`),
  )
  const dirs = ['', 'journal', 'journal/damaged', 'archive', 'archive/lock', 'index.db'].map((name) =>
    join(dir, name),
  )
  return [...files, ...kept, ...[...files, ...kept].map((path) => `${path}.tmp`), ...dirs]
}

/** What is wrong with a space whose repair was cut off; empty when nothing is. */
async function wrongIn(
  dir: string,
  before: readonly string[],
  { copy, entries }: Template,
): Promise<string[]> {
  const wrong: string[] = []
  const readable = new Set(await textsIn(dir))
  for (const entry of before) if (!readable.has(entry)) wrong.push(`it lost ${entry.slice(0, 60)}`)
  const space = await openDisk({ dir, settings: { ...testSettings, ...patientSettings } })
  try {
    const { lost } = await space.repair({ from: [copy] })
    if (lost.length > 0) wrong.push(`lost: ${JSON.stringify(lost)}`)
    const found = await textsIn(dir)
    if (found.slice(0, entries.length).join() !== entries.join()) wrong.push('the entries are not the same')
    wrong.push(...(await space.verify({ deep: true })).problems)
    const stray = ['journal', 'journal/damaged', 'archive'].flatMap((name) =>
      existsSync(join(dir, name)) ? readdirSync(join(dir, name)).filter((file) => file.endsWith('.tmp')) : [],
    )
    if (stray.length > 0) wrong.push(`left over: ${stray.join()}`)
    await (await space.mailbox('ada')).send({ to: 'ada', subject: 'afterwards' })
  } finally {
    await space.close()
  }
  return wrong
}

/** Runs a repair once for each call that can go wrong. */
async function cutOff(call: string, what: string, step: number) {
  const from = await template()
  const before = await textsIn(from.dir)
  const codes = new Set<string>()
  const done = await failEach({
    ...{ call, what, step, script: repairer, from: from.dir, paths: pathsOf },
    args: (dir) => [dir, from.copy, `${now}`],
    judge: async ({ dir, stdout, isFaulty }) => {
      if (stdout.startsWith('refused')) codes.add(stdout.trim().slice('refused '.length))
      const wrong = await wrongIn(dir, before, from)
      return isFaulty || stdout === 'done 4 0\n' ? wrong : [...wrong, `without a fault: ${stdout}`]
    },
  })
  return { ...done, codes: [...codes] }
}

describe('wherever a repair is cut off, nothing is lost by it, and the next one finishes it', {
  timeout: inStorm(900_000, 180_000),
}, () => {
  it.each([
    ['write', 18],
    ['fsync', 34],
    ['rename', 8],
  ])('killed at a %s', async (call, step) => {
    const { wrong, tried } = await cutOff(call, 'signal=KILL', step)
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(1)
  })

  it('a full disk', async () => {
    const { wrong, codes, tried } = await cutOff('write', 'error=ENOSPC', 18)
    expect(wrong).toEqual([])
    expect(codes).toEqual(['disk_full'])
    expect(tried).toBeGreaterThan(1)
  })
})
