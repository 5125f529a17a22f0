import { cpSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openSpace } from '../../src/space.ts'
import { runScript, startScript } from '../helpers/processes.ts'
import { segmentFile, segmentFiles } from '../helpers/segments.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { cameToPass, ensureTool, type Fault, filesOf, straceWith } from '../helpers/tools.ts'

const writer = new URL('disk-writer.mjs', import.meta.url)

interface Step {
  step: string
  ok: boolean
  code?: string
  typed?: boolean
  message?: string
}

const stepsOf = (stdout: string): Step[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Step)

const sentIn = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ step, ok }) => (ok && step.startsWith('send ') ? [step.slice('send '.length)] : []))

/** A space in which some mail already is, to be copied for each fault. */
async function template(): Promise<string> {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  for (const subject of ['first', 'second']) await ada.send({ to: 'ada', subject })
  await ada.count()
  await space.close()
  return space.dir
}

/** What is wrong with a space after a process met a fault in it; empty when nothing is. */
async function wrongAfter(dir: string, steps: readonly Step[], before: readonly string[]): Promise<string[]> {
  const wrong = steps
    .filter(({ ok, typed }) => !ok && !typed)
    .map(({ step, code, message }) => `${step}: untyped ${code} ${message}`)
  const space = await openSpace({ dir })
  try {
    const { problems } = await space.verify({ deep: true })
    wrong.push(...problems)
    const ada = await space.mailbox('ada')
    const { messages } = await ada.sent({ limit: 1_000 })
    const found = messages.map(({ subject }) => subject)
    for (const subject of [...before, ...sentIn(steps)]) {
      const times = found.filter((one) => one === subject).length
      if (times !== 1) wrong.push(`${subject}: acknowledged, and there ${times} times`)
    }
    await ada.send({ to: 'ada', subject: 'afterwards' })
  } finally {
    await space.close()
  }
  return wrong
}

/** Runs the writer once for every call that can fail, on a copy of the same space each. */
async function failEach(from: string | undefined, call: string, what: string) {
  const root = tempDir()
  const wrong: string[] = []
  const seen: Step[] = []
  let when = 0
  for (let passed = true; passed; ) {
    when++
    const dir = join(root, `${when}`)
    if (from !== undefined) cpSync(from, dir, { recursive: true })
    const log = join(root, `${when}.log`)
    // The paths must be there to be resolved, so a new space gets its directory from the first file in it.
    const paths = filesOf(root).map((path) => path.replace(root, dir))
    const fault: Fault = { call, what, when: `${when}` }
    const env = { UV_THREADPOOL_SIZE: '1' }
    const { stdout, stderr, status } = runScript(writer, [dir, 'run'], {
      under: straceWith(fault, paths, log),
      env,
    })
    passed = cameToPass(log)
    const steps = stepsOf(stdout)
    seen.push(...steps)
    if (status !== 0 && what.startsWith('error'))
      wrong.push(`${call} ${when}: ended with ${status} ${stderr}`)
    const before = from === undefined ? [] : ['first', 'second']
    for (const what of await wrongAfter(dir, steps, before)) wrong.push(`${call} ${when}: ${what}`)
    if (!passed) expect(steps.filter(({ ok }) => !ok)).toEqual([])
  }
  return { wrong, seen, tried: when - 1 }
}

beforeAll(() => ensureTool('strace'), 300_000)

describe('whichever call fails while mail is sent, what was acknowledged is there and nothing is broken', () => {
  it.each([
    ['write', 'error=ENOSPC', 'disk_full'],
    ['write', 'error=EIO', 'damaged'],
    ['fdatasync', 'error=EIO', 'sync_failed'],
    ['fdatasync', 'error=ENOSPC', 'sync_failed'],
    ['fsync', 'error=EIO', 'sync_failed'],
    ['pwrite64', 'error=ENOSPC', 'disk_full'],
    ['pwrite64', 'error=EIO', undefined],
    ['pread64', 'error=EIO', undefined],
    ['openat', 'error=EMFILE', undefined],
    ['ftruncate', 'error=EIO', undefined],
  ])('%s %s', async (call, what, code) => {
    const { wrong, seen, tried } = await failEach(await template(), call, what)
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(0)
    const codes = new Set(seen.flatMap((step) => step.code ?? []))
    if (code !== undefined) expect([...codes]).toEqual([code])
  })

  it.each(['write', 'pwrite64', 'fdatasync'])(
    '%s ENOSPC, in a space that is only being made',
    async (call) => {
      const { wrong, tried } = await failEach(undefined, call, 'error=ENOSPC')
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(0)
    },
  )
})

describe('whichever call a process is killed at, what was acknowledged is there and nothing is broken', () => {
  it.each(['write', 'fdatasync', 'fsync', 'pwrite64', 'ftruncate', 'openat', 'unlink'])(
    '%s',
    async (call) => {
      const { wrong } = await failEach(await template(), call, 'signal=KILL')
      expect(wrong).toEqual([])
    },
  )

  it.each(['write', 'pwrite64', 'fdatasync'])('%s, in a space that is only being made', async (call) => {
    const { wrong, tried } = await failEach(undefined, call, 'signal=KILL')
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(0)
  })
})
