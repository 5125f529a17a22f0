import { MailboxError } from '../../base/errors.ts'
import type { Cursor } from '../journal.ts'
import type { Head } from './server.ts'

export const replacedError = (shown: string) =>
  new MailboxError('conflict', `${shown} is another space now: the one of this name was removed`, {
    hint: 'end this process and start it again to use the new one',
  })

export const movedError = (shown: string, to: string) =>
  new MailboxError('not_found', `the space at ${shown} was moved to ${to}`, {
    hint: `use it there: --space ${to}`,
  })

/** The database does not have what this machine has seen in it. */
export const forkedError = (dir: string, shown: string, head: Head, end: Cursor) =>
  new MailboxError(
    'conflict',
    head.seq < end.seq
      ? `the database ends with entry ${head.seq}, and this machine has seen ${end.seq}: ${shown} is an older state of the space`
      : `entry ${end.seq} is another one in the database than on this machine: ${shown} was restored, and went on without what is here`,
    {
      hint: `if the database is right, run \`mailbox rebuild\`: it puts this machine's copy (${dir}/journal) aside and fetches it again`,
    },
  )

export const changedError = (shown: string, seq: number) =>
  new MailboxError(
    'damaged',
    `${shown}: entry ${seq} in the table mailbox.entries is missing, or not as it was written`,
    {
      hint: 'restore its row from a backup, or from another machine: each has the lines in its copy',
    },
  )

export const packedError = (shown: string, segment: number, name: string) =>
  new MailboxError(
    'damaged',
    `${shown}: segment ${segment} in the table mailbox.archive cannot be unpacked, or is not as it was written`,
    {
      hint: `restore its row from a backup, or from another machine: its copy may have it as archive/${name}`,
    },
  )
