import type { InboxMessage } from '../../query/inbox.ts'

/**
 * Announces new mail to an idle client. It quotes nothing from the mail, which is fenced when it is shown. The id
 * makes each notice unique: Claude Code drops a message that repeats an earlier one, and nobody would wake.
 */
export function newMailNotice(messages: readonly InboxMessage[]): string {
  const count = messages.length === 1 ? '1 new message' : `${messages.length} new messages`
  return `You have ${count} in the mailbox (first id ${messages[0]?.id}). Check your mail and deal with it.`
}
