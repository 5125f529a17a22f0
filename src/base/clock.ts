import { uptime } from 'node:os'
import { join } from 'node:path'
import { readFileIfAny, writeFileAtomically } from './files.ts'
import { bootId } from './process.ts'

/** Larger corrections are believed: a machine that woke with a wrong clock, or a restored snapshot. */
const believedMs = 2 * 3_600_000
/** How often to look whether the machine has slept. */
const lookAgainMs = 1_000

/**
 * The time of a space: the wall clock as it was when the space was first opened since the machine started,
 * and from there on by a clock that nobody can set. Leases, lives and deadlines are measured with it, in
 * all processes alike, so that a wall clock that jumps by an hour ends no claim and resends no mail. Where
 * the machine's start cannot be told it is the wall clock.
 */
export function createClock(dir: string): () => number {
  const boot = bootId()
  if (boot === undefined) return Date.now
  const path = join(dir, 'clock')
  let offset = agreeOnOffset(path, boot)
  let readAt = steadyMs()
  return () => {
    const now = steadyMs()
    if (now - readAt > lookAgainMs) {
      // Somebody who came later may have believed a correction; all go by the same note.
      offset = readNote(path, boot) ?? offset
      readAt = now
    }
    return Math.floor(offset + now)
  }
}

/** The wall clock's distance from the steady one, as the first process since the start has noted it. */
function agreeOnOffset(path: string, boot: string): number {
  const measured = Date.now() - steadyMs()
  const noted = readNote(path, boot)
  if (noted !== undefined && Math.abs(measured - noted) < believedMs) return noted
  try {
    writeFileAtomically(path, `${boot} ${measured}\n`)
  } catch {
    // Nothing can be written here; then nothing else will be, either.
  }
  return measured
}

function readNote(path: string, boot: string): number | undefined {
  const [noted, offset] = readFileIfAny(path, 'latin1')?.trim().split(' ') ?? []
  return noted === boot && offset !== undefined && Number.isFinite(Number(offset))
    ? Number(offset)
    : undefined
}

let slept = 0
let lookedAt = Number.NEGATIVE_INFINITY

/** Time since the machine started, its sleep included: finely by one clock, the sleep by a coarser one. */
function steadyMs(): number {
  const awake = Number(process.hrtime.bigint()) / 1e6
  if (awake - lookedAt > lookAgainMs) {
    lookedAt = awake
    const difference = uptime() * 1_000 - awake
    if (Math.abs(difference - slept) > 500) slept = difference
  }
  return awake + slept
}
