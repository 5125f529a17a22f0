import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SendInput } from '../../src/model/fields.ts'
import { openDisk } from '../../src/space/open.ts'
import { agentDraft } from '../helpers/drafts.ts'
import { type FaultyRun, failEach } from '../helpers/faults.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { linesIn, segmentFile, verifyDir } from '../helpers/segments.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'
import { filesOf, needTool } from '../helpers/tools.ts'

const writer = new URL('disk-writer.mjs', import.meta.url)
const obey = new URL('obey.mjs', import.meta.url)

beforeEach(() => {
  needTool('strace')
  needTool('prlimit')
})

/** Has a process send one message, and returns what it said about it. */
function send(running: Running, subject: string, more: Partial<SendInput> = {}): Promise<string> {
  running.tell(JSON.stringify({ send: { subject, ...more } }))
  return running.line(new RegExp(`^(acked|refused) ${subject}( |$)`))
}

/** Has a process count the unread mail; each time of asking has its own name. */
function count(running: Running, name: string): Promise<string> {
  running.tell(JSON.stringify({ count: name }))
  return running.line(new RegExp(`^(counted|refused) ${name} `))
}

const large = { body: 'x'.repeat(50_000) }

/** Puts faults into a process that is already running, until they are lifted. */
async function faultsIn(pid: number, calls: string, error: string, paths: readonly string[]) {
  const only = paths.flatMap((path) => ['-P', path])
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`]
  const tracer: ChildProcess = spawn(
    'strace',
    ['-f', '-o', '/dev/null', ...only, ...inject, '-p', `${pid}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const gone = new Promise((resolve) => tracer.once('close', resolve))
  const lift = async () => {
    tracer.kill('SIGINT')
    await gone
  }
  onTestFinished(lift)
  await new Promise<void>((resolve, reject) => {
    let said = ''
    tracer.stderr!.on('data', (data: Buffer) => {
      said += data.toString()
      if (said.includes('attached')) resolve()
    })
    tracer.once('close', () => reject(new Error(`strace did not attach: ${said}`)))
  })
  return lift
}

// An index that finds no room in its space goes to the cache directory.
beforeEach(() => {
  vi.stubEnv('XDG_CACHE_HOME', tempDir())
  onTestFinished(() => void vi.unstubAllEnvs())
})

describe('a full disk', () => {
  it('refuses mail with `disk_full`, keeps nothing half-written, and takes mail again when there is room', async () => {
    const dir = tempDir()
    // The kernel refuses to let any file grow beyond this; a write that reaches it is cut short there.
    const limit = ['bash', '-c', 'ulimit -S -f 1024; exec "$@"', 'limited']
    const running = startScript(obey, [dir], { under: limit })
    await running.line('ready')
    const acked: string[] = []
    for (let n = 1; ; n++) {
      const answer = await send(running, `fill-${n}`, large)
      if (!answer.startsWith('acked')) {
        expect(answer).toBe(`refused fill-${n} disk_full`)
        break
      }
      acked.push(`fill-${n}`)
    }
    expect(acked.length).toBeGreaterThan(15)
    expect(await send(running, 'still-full', large)).toBe('refused still-full disk_full')
    expect(readFileSync(segmentFile(dir)).at(-1)).toBe(0x0a)
    expect(statSync(segmentFile(dir)).size).toBeLessThan(1_048_576)
    expect(await send(running, 'small')).toBe('acked small')

    spawnSync('prlimit', ['--pid', `${running.process.pid}`, '--fsize=unlimited'])
    expect(await send(running, 'roomy', large)).toBe('acked roomy')
    expect(await count(running, 'all')).toBe(`counted all ${acked.length + 2}`)
    running.tell('{"end":true}')
    expect(await running.exit).toMatchObject({ code: 0 })
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [], messages: acked.length + 2 })
  })

  it('refuses nothing when it only keeps the index from growing', async () => {
    const dir = realpathSync(tempDir())
    const running = startScript(obey, [dir])
    await running.line('ready')
    const index = ['index.db', 'index.db-journal'].map((file) => join(dir, file))
    const lift = await faultsIn(running.process.pid!, 'pwrite64', 'ENOSPC', index)
    for (let n = 1; n <= 20; n++) expect(await send(running, `plain-${n}`)).toBe(`acked plain-${n}`)
    // What needs the index has it somewhere else.
    expect(await count(running, 'full')).toBe('counted full 20')
    expect(await send(running, 'keyed', { key: 'a-key' })).toBe('acked keyed')
    await lift()
    expect(await send(running, 'keyed-again', { key: 'a-key' })).toBe('acked keyed-again')
    expect(await count(running, 'roomy')).toBe('counted roomy 21')
  })

  it('of journal and index alike makes it forget no agent that joined meanwhile', async () => {
    const dir = realpathSync(tempDir())
    const running = startScript(obey, [dir])
    await running.line('ready')
    const files = ['index.db', 'index.db-journal', join('journal', '00000001.jsonl')].map((file) =>
      join(dir, file),
    )
    const lift = await faultsIn(running.process.pid!, 'write,pwrite64', 'ENOSPC', files)
    expect(await send(running, 'no-room')).toBe('refused no-room disk_full')
    // Another process has room: a reserve for the super-user, or another quota.
    const other = tempJournal({ dir })
    await other.append(() => [agentDraft({ name: 'bob' })])
    expect(await send(running, 'still-no-room')).toBe('refused still-no-room disk_full')
    await lift()
    expect(await send(running, 'to-bob', { to: 'bob' })).toBe('acked to-bob')
  })
})

describe('a disk that fails to confirm', () => {
  it('is told of with `sync_failed`, and the next message goes into a new segment', async () => {
    const dir = realpathSync(tempDir())
    const running = startScript(obey, [dir])
    await running.line('ready')
    const lift = await faultsIn(running.process.pid!, 'fdatasync', 'EIO', [
      join(dir, 'journal', '00000001.jsonl'),
    ])
    expect(await send(running, 'unsure')).toBe('refused unsure sync_failed')
    await lift()
    expect(await send(running, 'sure')).toBe('acked sure')
    expect(JSON.parse(linesIn(dir, 2)[0]!)).toMatchObject({ kind: 'segment', reason: 'sync_failed' })
    expect(linesIn(dir, 2)[1]).toContain('"subject":"sure"')
    expect(await verifyDir(dir)).toMatchObject({ problems: [], torn: [] })
  })
})

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
async function wrongAfter(dir: string, expected: readonly string[]): Promise<string[]> {
  const wrong: string[] = []
  const space = await openDisk({ dir })
  try {
    wrong.push(...(await space.verify({ deep: true })).problems)
    const ada = await space.mailbox('ada')
    const { messages } = await ada.sent({ limit: 1_000 })
    for (const subject of expected) {
      const times = messages.filter((one) => one.subject === subject).length
      if (times !== 1) wrong.push(`${subject} was acknowledged, and is there ${times} times`)
    }
    await ada.send({ to: 'ada', subject: 'afterwards' })
  } finally {
    await space.close()
  }
  return wrong
}

const eachTimeoutMs = inStorm(900_000, 180_000)

/** Runs the writer once for each call that can go wrong. */
async function cutOff(from: string | undefined, call: string, what: string) {
  const codes = new Set<string>()
  const judge = async ({ dir, stdout, stderr, status, isFaulty }: FaultyRun) => {
    const steps = stepsOf(stdout)
    const failed = steps.filter(({ ok }) => !ok)
    const wrong: string[] = []
    if (status !== 0 && !what.startsWith('signal')) wrong.push(`ended with ${status}: ${stderr}`)
    for (const { step, typed, code, message } of failed) {
      if (!typed) wrong.push(`${step} failed with an untyped error: ${code} ${message}`)
      else codes.add(code!)
    }
    try {
      const expected = [...(from === undefined ? [] : ['first', 'second']), ...sentIn(steps)]
      wrong.push(...(await wrongAfter(dir, expected)))
    } catch (error) {
      wrong.push(`the space cannot be used any more: ${(error as Error).message}`)
    }
    if (!isFaulty && failed.length > 0) wrong.push(`failed without a fault: ${JSON.stringify(failed)}`)
    return wrong
  }
  const done = await failEach({
    ...{ call, what, from, script: writer, paths: filesOf, judge },
    ...{ step: 288, args: (dir: string) => [dir, 'run'] },
  })
  return { ...done, codes: [...codes].sort() }
}

describe('whichever call fails while mail is sent, what was acknowledged is there and nothing is broken', {
  timeout: eachTimeoutMs,
}, () => {
  it.each([
    ['write', 'ENOSPC', ['disk_full']],
    ['write', 'EIO', ['damaged']],
    ['fdatasync', 'EIO', ['sync_failed']],
    ['fsync', 'EIO', ['sync_failed']],
    ['pwrite64', 'ENOSPC', []],
    ['pwrite64', 'EIO', []],
  ])('%s %s', async (call, error, expected) => {
    const { wrong, codes, tried } = await cutOff(await template(), call, `error=${error}`)
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(0)
    expect(codes).toEqual(expected)
  })

  it.each(['write', 'pwrite64', 'fdatasync'])(
    '%s ENOSPC, in a space that is only being made',
    async (call) => {
      const { wrong, tried } = await cutOff(undefined, call, 'error=ENOSPC')
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(0)
    },
  )
})

describe('whichever call a process is killed at, what was acknowledged is there and nothing is broken', {
  timeout: eachTimeoutMs,
}, () => {
  it.each(['write', 'fdatasync', 'fsync', 'pwrite64', 'openat'])('%s', async (call) => {
    const { wrong, tried } = await cutOff(await template(), call, 'signal=KILL')
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(0)
  })

  it.each(['write', 'pwrite64', 'fdatasync', 'openat'])(
    '%s, in a space that is only being made',
    async (call) => {
      const { wrong, tried } = await cutOff(undefined, call, 'signal=KILL')
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(0)
    },
  )
})
