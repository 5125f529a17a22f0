import { fromSystem, MailboxError, systemName } from '../../base/errors.ts'
import { segmentPath } from './segment.ts'

/** Turns a system error from writing the journal into an error that tells what to do. */
export function writeError(cause: unknown): MailboxError {
  if (cause instanceof MailboxError) return cause
  const doing = 'writing the journal failed'
  const { code, message } =
    fromSystem(cause, doing) ?? new MailboxError('damaged', `${doing}: ${String(cause)}`)
  const hint =
    code === 'disk_full'
      ? 'free some disk space and send again; nothing was stored'
      : 'check the disk (dmesg) and the permissions of the space, then send again'
  return new MailboxError(code, message, { cause, hint })
}

/** What a disk has done to work on old files, which can be run again without harm; other errors as they are. */
export function upkeepError(cause: unknown, doing: string, comfort: string): unknown {
  const error = cause instanceof MailboxError ? undefined : fromSystem(cause, doing)
  if (error === undefined) return cause
  const next =
    error.code === 'disk_full'
      ? 'free some disk space'
      : 'check the disk (dmesg) and the permissions of the space'
  return new MailboxError(error.code, error.message, { cause, hint: `${next} and run it again; ${comfort}` })
}

export function syncError(cause: unknown): MailboxError {
  const code = systemName(cause) ?? String(cause)
  const hint = 'the message may not survive a power loss; check `mailbox sent`, then the disk'
  return new MailboxError('sync_failed', `the disk did not confirm a write: ${code}`, { cause, hint })
}

/** Runs work that waits for the disk to confirm something. */
export function syncing(work: () => void): void {
  try {
    work()
  } catch (cause) {
    throw syncError(cause)
  }
}

/** The segment that we write to is no longer the file in its place. */
class MisplacedError extends MailboxError {}

export function misplacedError(dir: string, segment: number): MailboxError {
  const path = segmentPath(dir, segment)
  return new MisplacedError('damaged', `${path} was moved, replaced or deleted while it was in use`, {
    hint: 'what was just sent is not stored: check the files of the space (mailbox verify), then send it again',
  })
}

export const isMisplaced = (error: unknown): boolean => error instanceof MisplacedError
