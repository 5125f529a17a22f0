import { uptime } from 'node:os'
import { join } from 'node:path'
import { readFileIfAny, writeFileAtomically } from './files.ts'
import { bootId } from './process.ts'

/** Larger corrections are accepted: a machine that started with a wrong clock, or a restored snapshot. */
const acceptedMs = 2 * 3_600_000
/** How often to check whether the machine has slept. */
const recheckMs = 1_000

/**
 * The time of a space: the wall clock as it was when the space was first opened since the machine booted,
 * carried on by a clock that nobody can set. All processes measure leases, lifetimes and deadlines with it,
 * so a wall clock that jumps by an hour ends no claim and resends no mail. Where the system does not identify
 * its boot, it is the wall clock.
 */
export function createClock(dir: string): () => number {
  const boot = bootId()
  if (boot === undefined) return Date.now
  const path = join(dir, 'clock')
  let offset = agreeOnOffset(path, boot)
  let readAt = steadyMs()
  return () => {
    const now = steadyMs()
    if (now - readAt > recheckMs) {
      // A process that started later may have accepted a correction; all use the same file.
      offset = readOffset(path, boot) ?? offset
      readAt = now
    }
    return Math.floor(offset + now)
  }
}

/** The wall clock's distance from the steady one, as the first process since the boot recorded it. */
function agreeOnOffset(path: string, boot: string): number {
  const measured = Date.now() - steadyMs()
  const recorded = readOffset(path, boot)
  if (recorded !== undefined && Math.abs(measured - recorded) < acceptedMs) return recorded
  try {
    writeFileAtomically(path, `${boot} ${measured}\n`)
  } catch {
    // The space is not writable, so nothing else will be written either.
  }
  return measured
}

function readOffset(path: string, boot: string): number | undefined {
  const [writtenIn, offset] = readFileIfAny(path, 'latin1')?.trim().split(' ') ?? []
  return writtenIn === boot && offset !== undefined && Number.isFinite(Number(offset))
    ? Number(offset)
    : undefined
}

let slept = 0
let checkedAt = Number.NEGATIVE_INFINITY

/** Time since the machine booted, including sleep: one clock is precise, a coarser one tells the sleep. */
function steadyMs(): number {
  const awake = Number(process.hrtime.bigint()) / 1e6
  if (awake - checkedAt > recheckMs) {
    checkedAt = awake
    const difference = uptime() * 1_000 - awake
    if (Math.abs(difference - slept) > 500) slept = difference
  }
  return awake + slept
}
