import type { InboxMessage } from '../../query/inbox.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'

/**
 * Announces new mail to an idle client. It quotes nothing from the mail, which is fenced when it is shown. The id
 * makes each notice unique: Claude Code drops a message that repeats an earlier one, and nobody would wake.
 */
export function newMailNotice(messages: readonly InboxMessage[]): string {
  const count = messages.length === 1 ? '1 new message' : `${messages.length} new messages`
  return `You have ${count} in the mailbox (first id ${messages[0]?.id}). Check your mail and deal with it.`
}

type Filter = (message: InboxMessage) => boolean

/** New mail that nobody has shown or announced to its agent yet. */
export class Arrivals {
  readonly #mailbox: Mailbox
  readonly #arrivedAt = new Map<string, number>()
  /** Settles when the mailbox cannot be watched any longer, or the signal ends it. */
  readonly ended: Promise<void>

  constructor(mailbox: Mailbox, signal: AbortSignal, isWanted: Filter = () => true) {
    this.#mailbox = mailbox
    this.ended = this.#watch(signal, isWanted)
  }

  async #watch(signal: AbortSignal, isWanted: Filter): Promise<void> {
    for await (const message of this.#mailbox.watch({ minPriority: 'normal', signal }))
      if (isWanted(message)) this.#arrivedAt.set(message.id, performance.now())
  }

  /** Takes what arrived at least that long ago and is still unseen. */
  async take(minAgeMs = 0): Promise<InboxMessage[]> {
    const due = [...this.#arrivedAt].filter(([, at]) => performance.now() - at >= minAgeMs).map(([id]) => id)
    if (due.length === 0) return []
    for (const id of due) this.#arrivedAt.delete(id)
    const { messages } = await this.#mailbox.inbox({ unread: true, limit: 200 })
    return messages.filter(({ id, state }) => due.includes(id) && state === 'stored')
  }

  /** For a later try. */
  putBack(messages: readonly InboxMessage[]): void {
    for (const { id } of messages) this.#arrivedAt.set(id, performance.now())
  }
}
