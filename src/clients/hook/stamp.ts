import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listIfAny, readFileIfAny, writeFileAtomically } from '../../base/files.ts'
import { localProcess, type ProcessIdentity, processState, startTimeOf } from '../../base/process.ts'
import type { DiskSpace } from '../../space/space.ts'

/**
 * The quick path: `hook.sh` ends without starting Node as long as a stamp says that nothing has come.
 *
 * A stamp is made for a client's process when none of its agents has anything to be told. It names the last
 * segment of the journal, and lies with two times around the one at which that segment was last written:
 *
 *     stamp.low  <  last write  <  stamp        a second before, and a second behind
 *
 * Any append gives the segment a new time, or opens the next segment. The shell compares strictly, so its
 * clock may be as coarse as a whole second (dash and busybox of old). Three things make that exact:
 *
 * - The time is read with the right to append: nobody is halfway through a write, which has its time before
 *   its bytes. What the hook had read ended at the same seq.
 * - It is only noted when it lies more than a second back, by the file system's own clock. Whatever is written
 *   from now on is then later than the stamp, however coarse that clock is: a second append at "the same" time
 *   cannot hide.
 * - A wall clock that is set back leaves the interval at the other end.
 *
 * A hook that is killed anywhere leaves the former stamp, which is still true, or none. What becomes due
 * without an append (a claim that ran out, an ack that did not come) is looked for once a minute.
 */
const marginMs = 1_000
const lookAgainS = 60

const segmentPattern = /^\d{8}\.jsonl$/

const stampDir = (space: string): string => join(space, 'hooks', 'stamps')

const nameOf = (client: string, owner: ProcessIdentity): string =>
  `${client}-${owner.pid}-${startTimeOf(owner)}`

interface LastSegment {
  name: string
  /** What the segment behind it will be called. */
  next: string
  writtenMs: number
}

function lastSegment(space: string): LastSegment {
  const journal = join(space, 'journal')
  const name = readdirSync(journal)
    .filter((file) => segmentPattern.test(file))
    .sort()
    .at(-1)!
  const next = `${String(Number(name.slice(0, 8)) + 1).padStart(8, '0')}.jsonl`
  return { name, next, writtenMs: statSync(join(journal, name)).mtimeMs }
}

/** Notes that nothing is to be told of all that the journal held at `seq`, if it is possible to note that. */
export async function putStamp(
  space: DiskSpace,
  client: string,
  owner: ProcessIdentity,
  seq: number,
): Promise<void> {
  const dir = stampDir(space.dir)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const stamp = join(dir, nameOf(client, owner))
  const probe = `${stamp}.${process.pid}.now`
  writeFileSync(probe, '', { mode: 0o600 })
  const nowMs = statSync(probe).mtimeMs
  const isSettled = ({ writtenMs }: LastSegment) => nowMs > writtenMs + marginMs
  try {
    // A look without the right to append first: in a busy space there is nothing to note.
    if (!isSettled(lastSegment(space.dir))) return
    const last = await space.core.whileStill((end) => (end === seq ? lastSegment(space.dir) : undefined))
    if (last === undefined || !isSettled(last)) return
    // Each file with its time in one step: the shell may be reading it.
    writeFileAtomically(`${stamp}.low`, '', { modifiedMs: last.writtenMs - marginMs })
    const words = `${last.name} ${last.next} ${uptimeS() + lookAgainS}\n`
    writeFileAtomically(stamp, words, { modifiedMs: last.writtenMs + marginMs })
  } finally {
    rmSync(probe, { force: true })
  }
}

export function removeStamp(space: string, client: string, owner: ProcessIdentity): void {
  const stamp = join(stampDir(space), nameOf(client, owner))
  for (const path of [stamp, `${stamp}.low`]) rmSync(path, { force: true })
}

/** Removes what processes left that are no more. */
export function sweepStamps(space: string): void {
  for (const file of listIfAny(stampDir(space))) {
    const [, pid, started] = /^[a-z]+-(\d+)-(\d+)/.exec(file) ?? []
    if (pid === undefined || started === undefined) continue
    if (processState(localProcess(Number(pid), started)) === 'gone')
      rmSync(join(stampDir(space), file), { force: true })
  }
}

/** Seconds since the machine started, by the file that the shell reads; where there is none, neither does it. */
const uptimeS = (): number => Number.parseInt(readFileIfAny('/proc/uptime', 'latin1') ?? '0', 10)
