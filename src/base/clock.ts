import { uptime } from 'node:os'
import { join } from 'node:path'
import { readFileIfAny, writeFileAtomically } from './files.ts'
import { bootId } from './process.ts'

/** A process whose wall clock is further off than this is not to be trusted with what ends by time. */
const toleratedMs = 2 * 3_600_000
/** How exactly the system tells when it was started. */
const bootTimeExactToMs = 5_000
/** A shorter sleep is not told from the coarseness of the clock that tells it. */
const sleepExactToMs = 100
/** How often to check whether the machine has slept, and whether the note has changed. */
const recheckMs = 1_000

/** The time of a space, in ms since 1970, and whether this process may go by it. */
export interface Clock {
  (): number
  /** Set when the wall clock of this process is too far from it. */
  doubt(): ClockDoubt | undefined
}

export interface ClockDoubt {
  /** How far the wall clock of this process is ahead of the space's. */
  aheadMs: number
  /**
   * `process`: only this process is wrong, or nobody can tell who is; it must end nothing. `machine`: the clock of
   * the machine was set since the space's clock was started. Time passes for both as before, so all goes on.
   */
  who: 'process' | 'machine'
}

/**
 * The clock of a space: the machine's wall clock as it was when the space was first opened since the boot, carried
 * on by a clock that nobody can set. All processes measure leases, lifetimes and deadlines with it, and none of
 * them can move it: what counts is the time that passes on this machine. It lasts until the next boot, or until
 * somebody removes the note. Where the system does not identify its boot, it is the wall clock.
 */
export function createClock(dir: string): Clock {
  const boot = bootId()
  if (boot === undefined) return wallClock()
  const path = join(dir, 'clock')
  let offset = readOffset(path, boot) ?? recordOffset(path, boot)
  let readAt = steadyMs()
  const now = () => {
    const steady = steadyMs()
    if (steady - readAt > recheckMs) {
      offset = readOffset(path, boot) ?? offset
      readAt = steady
    }
    return Math.floor(offset + steady)
  }
  let judged: { at: number; who: ClockDoubt['who'] } | undefined
  const doubt = (): ClockDoubt | undefined => {
    const aheadMs = Date.now() - now()
    if (Math.abs(aheadMs) < toleratedMs) return undefined
    const steady = steadyMs()
    if (judged === undefined || steady - judged.at > recheckMs)
      judged = { at: steady, who: isMachines(Date.now() - steady) ? 'machine' : 'process' }
    return { aheadMs, who: judged.who }
  }
  return Object.assign(now, { doubt })
}

/** The wall clock of this process, whatever it says. */
export const wallClock = (now: () => number = Date.now): Clock =>
  Object.assign(() => now(), { doubt: () => undefined })

/** Records how far the machine's wall clock is from the steady one. Whoever comes later goes by that. */
function recordOffset(path: string, boot: string): number {
  const measured = Date.now() - steadyMs()
  const offset = isMachines(measured) ? measured : (machineOffset() ?? measured)
  try {
    writeFileAtomically(path, `${boot} ${offset}\n`)
  } catch {
    // The space is not writable, so nothing else will be written either.
  }
  return offset
}

function readOffset(path: string, boot: string): number | undefined {
  const [writtenIn, offset] = readFileIfAny(path, 'latin1')?.trim().split(' ') ?? []
  return writtenIn === boot && offset !== undefined && Number.isFinite(Number(offset))
    ? Number(offset)
    : undefined
}

/** Whether a wall clock that is so far from the steady one is the machine's own, and not only this process's. */
function isMachines(offset: number): boolean {
  const machine = machineOffset()
  return machine !== undefined && Math.abs(offset - machine) < bootTimeExactToMs
}

/** The machine's wall clock as the kernel has it: a process may be shown another one. In ms, from the steady clock. */
function machineOffset(): number | undefined {
  const [, seconds] = /^btime (\d+)$/m.exec(readFileIfAny('/proc/stat', 'latin1') ?? '') ?? []
  return seconds === undefined || seconds === '0' ? undefined : Number(seconds) * 1_000
}

let slept = 0
let checkedAt = Number.NEGATIVE_INFINITY
let lastAwake = 0

const awakeMs = (): number => Number(process.hrtime.bigint()) / 1e6

/**
 * Time since the machine booted, including sleep: one clock is precise, a coarser one tells the sleep. The coarse
 * one is read from the kernel as a file, so it is also right where a process is shown a wrong precise one.
 */
function steadyMs(): number {
  const awake = awakeMs()
  if (awake - checkedAt > recheckMs || awake <= lastAwake) {
    checkedAt = awake
    const measured = measureSleep()
    if (Math.abs(measured - slept) > sleepExactToMs) slept = measured
  }
  lastAwake = awake
  return awake + slept
}

/** How much longer the machine is up than awake. A process can be held up between the two looks; then it looks again. */
function measureSleep(): number {
  let best = { sleep: 0, took: Number.POSITIVE_INFINITY }
  for (let tries = 0; tries < 5 && best.took > 2; tries++) {
    const before = awakeMs()
    const up = uptime() * 1_000
    const took = awakeMs() - before
    if (took < best.took) best = { sleep: up - before - took / 2, took }
  }
  return best.sleep
}

const hourMs = 3_600_000

/** What to tell people about a clock that cannot be trusted. */
export function describeDoubt({ aheadMs, who }: ClockDoubt): { found: string; next: string } {
  const hours = Math.abs(aheadMs) / hourMs
  const span = hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`
  const off = `${span} ${aheadMs > 0 ? 'ahead of' : 'behind'} the space's`
  return who === 'process'
    ? {
        found: `the clock of this process is ${off}: it ends no claim, expires no mail and reminds nobody`,
        next: 'start it with the right time',
      }
    : {
        found: `the clock of this machine is now ${off}: dates go by the old one until the next boot`,
        next: 'to take over the new time, remove the file `clock` of the space',
      }
}
