import { MailboxError } from '../base/errors.ts'

/** Whether trying again can help: the server may come back. */
export const isLost = (error: unknown): error is MailboxError =>
  error instanceof MailboxError && error.code === 'unreachable'

const notKnown = '; whether this was stored is not known'

/** For whoever was to store something: the answer is lost, and perhaps only the answer. */
export const openError = (cause: MailboxError): MailboxError =>
  cause.message.endsWith(notKnown)
    ? cause
    : new MailboxError('unreachable', `${cause.message}${notKnown}`, {
        cause,
        hint: 'look for it when the database is back (mailbox sent), or send it with --key, which stores it once however often it is sent',
      })
