import { existsSync, realpathSync, statSync, watch } from 'node:fs'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeDoubt } from '../base/clock.ts'
import { unreadableHint } from '../model/unreadable.ts'
import type { Helper } from '../space/helpers.ts'
import { ensureSpaceDir, readSettings, unknownSettings } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import type { FoundSpace } from '../space/trust.ts'
import { bridgeFindings } from './checkup-bridges.ts'
import { checkEncryption } from './checkup-encryption.ts'
import type { Cli } from './cli.ts'
import { translate } from './exit.ts'
import { relative } from './format/time.ts'
import { unreadableRecord } from './format/unreadable.ts'
import { notAgreed, openFiles, spaceExists } from './open.ts'
import { count } from './progress.ts'

export interface Finding {
  check: string
  state: 'ok' | 'warn' | 'fail'
  found: string
  /** What to do about it. */
  next?: string
}

const leastNode = [20, 19] as const
const lockPatienceMs = 3_000
const watchPatienceMs = 1_000
const scantBytes = 512 * 1_048_576
const tooFewBytes = 16 * 1_048_576

/** Checks everything that mail here depends on, dependencies first. */
export async function* checkup(cli: Cli, space: FoundSpace, deep: boolean): AsyncGenerator<Finding> {
  const { dir, passedOver } = space
  yield checkNode()
  for (const one of passedOver) yield { check: 'space', state: 'warn', ...notAgreed(one) }
  yield* checkSpaceIn(cli, dir, deep)
  yield* checkClients(cli, dir)
}

async function* checkSpaceIn(cli: Cli, dir: string, deep: boolean): AsyncGenerator<Finding> {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false) {
    const next = 'move it away, or choose another space with --space DIR'
    yield { check: 'space', state: 'fail', found: `${dir} is not a directory`, next }
    return
  }
  if (!spaceExists(dir)) {
    yield {
      check: 'space',
      state: 'warn',
      found: `no space in ${dir} yet`,
      next: `create it: ${cli.command('join NAME')}, or choose another with --space DIR`,
    }
    return
  }
  yield await attempt('space', () => checkSpace(dir))
  yield await attempt('settings', () => checkSettings(dir))
  yield await attempt('disk', () => checkDisk(dir))
  const hadIndex = existsSync(join(dir, 'index.db'))
  let space: DiskSpace
  try {
    space = await openFiles(cli)
  } catch (error) {
    yield failed('journal', error)
    return
  }
  yield await attempt('journal', () => checkJournal(space))
  if (space.settings['journal.mirror'] !== '') yield await attempt('mirror', () => checkMirror(space))
  for (const record of await space.unreadable())
    yield { check: 'damage', state: 'fail', found: unreadableRecord(record), next: unreadableHint }
  yield* (await scrubFindings(dir)).map((found) => ({ check: 'scrub', ...found }))
  yield* (await archivingFindings(space)).map((found) => ({ check: 'archive', ...found }))
  yield await attempt('index', () => checkIndex(space, hadIndex, deep))
  yield await attempt('encryption', () => checkEncryption(space))
  yield await attempt('lock', () => checkLock(space))
  const doubt = space.core.now.doubt()
  if (doubt !== undefined) yield { check: 'clock', state: 'warn', ...describeDoubt(doubt) }
  yield await attempt('watch', () => checkWatch(dir, space.settings.pollMs))
  for (const helper of space.helpers()) yield { check: helper.id, ...checkHelper(helper) }
  yield* await bridgeFindings(dir)
  // Not closed: closing waits for the lock, which may be what is stuck. The process ends after this.
}

/** Whether the agent clients get their mail automatically. */
export async function* checkClients(cli: Cli, space: string): AsyncGenerator<Finding> {
  const { clientsHealth } = await import('../clients/setup/health.ts')
  const dist = dirname(realpathSync(process.argv[1]!))
  const place = { scope: 'user', project: process.cwd(), env: process.env, dist } as const
  const ago = (at: number) => relative(at, Date.now())
  let isAny = false
  for await (const { client, ...found } of clientsHealth({ place, space, ago, command: cli.command })) {
    isAny = true
    yield { check: client.name, ...found }
  }
  if (!isAny) yield { check: 'clients', state: 'ok', found: 'no agent client is installed on this machine' }
}

/** A check that throws has found a problem too. */
async function attempt(
  check: string,
  work: () => Omit<Finding, 'check'> | Promise<Omit<Finding, 'check'>>,
): Promise<Finding> {
  try {
    return { check, ...(await work()) }
  } catch (error) {
    return failed(check, error)
  }
}

export function failed(check: string, thrown: unknown): Finding {
  const { message, hint } = translate(thrown)
  return { check, state: 'fail', found: message, ...(hint === undefined ? {} : { next: hint }) }
}

export function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1])
  const found = `Node ${process.versions.node}`
  return enough
    ? { check: 'node', state: 'ok', found }
    : { check: 'node', state: 'fail', found, next: `install Node ${leastNode.join('.')} or later` }
}

function checkSpace(dir: string): Omit<Finding, 'check'> {
  ensureSpaceDir(dir)
  return { state: 'ok', found: `${dir}, private to this user` }
}

function checkSettings(dir: string): Omit<Finding, 'check'> {
  const { durability } = readSettings(dir)
  const unknown = unknownSettings(dir)
  if (unknown.length > 0)
    return {
      state: 'warn',
      found: `this version does not know ${unknown.join(', ')}: without effect`,
      next: 'install the newer version that has set it, or correct its name in config.json',
    }
  if (durability === 'disk') return { state: 'ok', found: 'valid; a send returns once it is on disk' }
  return {
    state: 'warn',
    found: 'durability is os: a power loss can lose mail that was sent',
    next: 'mailbox config set durability disk',
  }
}

async function checkDisk(dir: string): Promise<Omit<Finding, 'check'>> {
  const { bavail, bsize } = await statfs(dir)
  const free = bavail * bsize
  const found = `${count(Math.floor(free / 1_048_576))} MiB free`
  if (free >= scantBytes) return { state: 'ok', found }
  return {
    state: free < tooFewBytes ? 'fail' : 'warn',
    found,
    next: 'free some space: with a full disk, sending fails',
  }
}

async function checkJournal(space: DiskSpace): Promise<Omit<Finding, 'check'>> {
  const end = await space.lastSeq()
  for await (const { entry } of space.entries(end - 1)) {
    return {
      state: 'ok',
      found: `${count(end)} ${end === 1 ? 'entry' : 'entries'}, the last ${relative(entry.at, Date.now())}`,
    }
  }
  return { state: 'fail', found: `entry ${end} cannot be read`, next: unreadableHint }
}

/** What the slow reading of old files has found; nothing while it was never done. */
async function scrubFindings(dir: string): Promise<Omit<Finding, 'check'>[]> {
  const { scrubState } = await import('../space/scrub.ts')
  const state = scrubState(dir)
  if (state === undefined) return []
  const [first] = state.findings
  if (first !== undefined) {
    const rest = state.findings.length === 1 ? '' : `, and ${state.findings.length - 1} more`
    const found = `damaged: ${first.where}, file ${first.segment}, byte ${first.offset}${rest}`
    return [{ state: 'fail', found, next: 'mailbox repair --dry-run' }]
  }
  if (state.finishedAt === 0) return []
  return [
    { state: 'ok', found: `old files were read ${relative(state.finishedAt, Date.now())}; all are intact` },
  ]
}

/** What archiving by the settings has done; nothing while they ask for none. */
async function archivingFindings({ core, dir }: DiskSpace): Promise<Omit<Finding, 'check'>[]> {
  const { archivingState, describeRun, isArchivingOn } = await import('../space/archiving.ts')
  if (!isArchivingOn(core)) return []
  const { last, lastDone } = archivingState(dir) ?? {}
  const ago = (at: number) => relative(at, Date.now())
  if (last === undefined)
    return [
      { state: 'ok', found: 'not yet: a hub, `watch` or another process that stays does it once a day' },
    ]
  if (last.problem !== undefined) {
    const found = `${describeRun(last)}, ${ago(last.at)}`
    return [{ state: 'warn', found, next: 'mailbox archive-old --dry-run' }]
  }
  const did =
    lastDone === undefined ? 'nothing to archive yet' : `${describeRun(lastDone)}, ${ago(lastDone.at)}`
  return [{ state: 'ok', found: `${did}; last looked ${ago(last.at)}` }]
}

async function checkMirror(space: DiskSpace): Promise<Omit<Finding, 'check'>> {
  const dir = space.settings['journal.mirror']
  const { state, problem } = (await space.mirror())!
  const next = {
    away: `is its disk mounted? to begin again: mailbox config set journal.mirror ${dir}`,
    behind: `the next send continues it; to do it now: mailbox config set journal.mirror ${dir}`,
    ahead: 'mailbox repair',
  }
  if (state === 'current') return { state: 'ok', found: `${dir} has everything` }
  return { state: state === 'ahead' ? 'fail' : 'warn', found: problem!, next: next[state] }
}

async function checkIndex(
  space: DiskSpace,
  hadIndex: boolean,
  deep: boolean,
): Promise<Omit<Finding, 'check'>> {
  const { index } = space.core
  const size = count(Math.ceil(statSync(index.path).size / 1024))
  if (deep) {
    const { compareIndex } = await import('../space/upkeep.ts')
    const [problem] = await compareIndex(space.core)
    if (problem !== undefined) return { state: 'fail', found: problem, next: 'mailbox rebuild' }
    return { state: 'ok', found: `the same as one built from the journal, ${size} KiB` }
  }
  if (dirname(index.path) !== space.dir)
    return {
      state: 'warn',
      found: `in ${index.path}, ${size} KiB`,
      next: 'the space cannot be written to; it can be read',
    }
  if (hadIndex) return { state: 'ok', found: `up to date, ${size} KiB` }
  return {
    state: 'warn',
    found: `was missing and has been rebuilt, ${size} KiB`,
    next: 'nothing to do: it is derived from the journal',
  }
}

/** Takes the lock and releases it. */
async function checkLock(space: DiskSpace): Promise<Omit<Finding, 'check'>> {
  const started = performance.now()
  const taken = await Promise.race([space.checkWritable().then(() => true), sleep(lockPatienceMs, false)])
  if (taken) return { state: 'ok', found: `acquired in ${Math.ceil(performance.now() - started)} ms` }
  return {
    state: 'fail',
    found: `another process has held it for ${lockPatienceMs / 1_000} s`,
    next: 'look for a stopped mailbox process (ps -o pid,stat,cmd) and resume or kill it',
  }
}

/** Its agents get no mail while it is down. */
export function checkHelper(helper: Helper): Omit<Finding, 'check'> {
  const { name, state, start, status, detach } = helper
  const agents = `${helper.agents} ${helper.agents === 1 ? 'agent' : 'agents'}`
  if (state === 'up') return { state: 'ok', found: `the ${name} is running, for ${agents}` }
  if (state === 'silent') return { state: 'warn', found: `the ${name} does not respond`, next: status }
  return {
    state: 'warn',
    found: `the ${name} is down: no mail for ${agents}`,
    next: `start it: ${start}; or detach them: ${detach}`,
  }
}

/** Writes a file in the space's directory and waits for the notification. */
async function checkWatch(dir: string, pollMs: number): Promise<Omit<Finding, 'check'>> {
  const probe = join(dir, `doctor-${process.pid}.tmp`)
  const started = performance.now()
  const watcher = watch(dir)
  try {
    const told = new Promise<boolean>((resolve, reject) => {
      watcher.on('change', () => resolve(true))
      watcher.on('error', reject)
    })
    await writeFile(probe, '', { mode: 0o600 })
    if (await Promise.race([told, sleep(watchPatienceMs, false)])) {
      return {
        state: 'ok',
        found: `changes are reported within ${Math.ceil(performance.now() - started)} ms`,
      }
    }
    return {
      state: 'warn',
      found: 'the file system does not report changes',
      next: `nothing to do: the mailbox polls every ${pollMs} ms instead`,
    }
  } finally {
    watcher.close()
    await rm(probe, { force: true })
  }
}
