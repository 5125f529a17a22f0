import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listIfAny, readFileIfAny, writeFileAtomically } from '../../base/files.ts'
import { localProcess, processState, startTimeOf } from '../../base/process.ts'
import type { BellState } from '../../space/desk/bells.ts'
import type { HookContext } from './respond.ts'

/**
 * The quick path: `hook.sh` ends without starting Node as long as a stamp says that nothing has been written.
 *
 * A hook that finds nothing to say makes a stamp for its client's process. The stamp names the last segment of the
 * journal, and two files bracket the time at which that segment was last written:
 *
 *     stamp.low  <  last write  <  stamp        one second before, and one second after
 *
 * Every append changes the time of the segment, or starts the next segment. The shell compares strictly, so a clock
 * that counts whole seconds is enough (older dash and busybox). Three things make that exact:
 *
 * - The time is read with the exclusive right to append: nobody is in the middle of a write, which sets the time
 *   before the bytes. The hook has read the journal up to the same seq.
 * - A stamp is made only if the last write is more than a second ago, by the file system's own clock. So every later
 *   write is later than the stamp, however coarse that clock is: a second append at "the same" time cannot hide.
 * - If the wall clock is set back, a write falls out of the bracket at the lower end.
 *
 * In a space with a desk others may write all the time, so the stamp names the agent's bell instead, with its line. As
 * long as `desk/current` is there and the bell has the same line, nothing has come for this agent (space/desk/bells.ts).
 *
 * A hook that is killed at any point leaves the previous stamp, which is still true, or none. What becomes due without
 * an append (an expired claim, a missing ack) is checked once a minute.
 */
const marginMs = 1_000
const lookAgainS = 60

const stampDir = (space: string): string => join(space, 'hooks', 'stamps')

const stampOf = ({ space, client, process: owner }: HookContext): string =>
  join(stampDir(space.stateDir), `${client}-${owner.pid}-${startTimeOf(owner)}`)

/**
 * Records that there is nothing to say since the agent's bell was as it is given here, or about anything in the journal
 * up to an entry: that can only be told if the journal has been quiet.
 */
export async function putStamp(context: HookContext, since: BellState | number): Promise<void> {
  const { core, stateDir: dir } = context.space
  const stamp = stampOf(context)
  if (typeof since !== 'number') {
    mkdirSync(stampDir(dir), { recursive: true, mode: 0o700 })
    const words = `- - ${uptimeS() + lookAgainS} ${since.token} ${since.file} ${since.line}\n`
    return writeFileAtomically(stamp, words, { expendable: true })
  }
  // What is written behind a hub, or to a database by others, changes no file here: every hook has to ask.
  if (core === undefined || core.journal.isElsewhere) return
  mkdirSync(stampDir(dir), { recursive: true, mode: 0o700 })
  const probe = `${stamp}.${process.pid}.now`
  writeFileSync(probe, '', { mode: 0o600 })
  const nowMs = statSync(probe).mtimeMs
  const isSettled = ({ writtenMs }: { writtenMs: number }) => nowMs > writtenMs + marginMs
  try {
    // First without the lock: in a busy space there will be no stamp.
    if (!isSettled(core.lastSegment())) return
    const last = await core.whileStill((end) => (end === since ? core.lastSegment() : undefined))
    if (last === undefined || !isSettled(last)) return
    // Each file gets its time atomically: the shell may be reading it.
    writeFileAtomically(`${stamp}.low`, '', { modifiedMs: last.writtenMs - marginMs, expendable: true })
    const words = `${last.name} ${last.next} ${uptimeS() + lookAgainS}\n`
    writeFileAtomically(stamp, words, { modifiedMs: last.writtenMs + marginMs, expendable: true })
  } finally {
    rmSync(probe, { force: true })
  }
}

export function removeStamp(context: HookContext): void {
  for (const ending of ['', '.low']) rmSync(`${stampOf(context)}${ending}`, { force: true })
}

/** Removes the stamps of processes that have ended. */
export function sweepStamps(space: string): void {
  for (const file of listIfAny(stampDir(space))) {
    const [, pid, started] = /^[a-z]+-(\d+)-(\d+)/.exec(file) ?? []
    if (pid === undefined || started === undefined) continue
    if (processState(localProcess(Number(pid), started)) === 'gone')
      rmSync(join(stampDir(space), file), { force: true })
  }
}

/** The uptime of the machine, from the file that the shell reads too. */
const uptimeS = (): number => Number.parseInt(readFileIfAny('/proc/uptime', 'latin1') ?? '0', 10)
