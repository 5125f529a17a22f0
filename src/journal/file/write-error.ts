import { MailboxError } from '../../base/errors.ts'

export const noRoom = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Turns a system error from writing the journal into an error that tells what to do. */
export function writeError(cause: unknown): MailboxError {
  if (cause instanceof MailboxError) return cause
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
  if (noRoom.includes(code)) {
    const hint = 'free some disk space and send again; nothing was stored'
    return new MailboxError('disk_full', `writing the journal failed: ${code}`, { cause, hint })
  }
  const hint = 'check the disk (dmesg) and the permissions of the space, then send again'
  return new MailboxError('damaged', `writing the journal failed: ${code}`, { cause, hint })
}

export function syncError(cause: unknown): MailboxError {
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
  const hint = 'the message may not survive a power loss; check `mailbox sent`, then the disk'
  return new MailboxError('sync_failed', `the disk did not confirm a write: ${code}`, { cause, hint })
}
