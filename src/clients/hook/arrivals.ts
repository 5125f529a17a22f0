import { worthATurn } from '../../agent/briefing.ts'
import { pause } from '../../base/timers.ts'
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

/** New mail that is worth a turn, and that nobody has shown or announced to its agent yet. */
export class Arrivals {
  readonly #mailbox: Mailbox
  readonly #arrivedAt = new Map<string, number>()
  #arrival = new AbortController()
  /** Settles when the mailbox cannot be watched any longer, or the signal ends it. */
  readonly ended: Promise<void>

  constructor(mailbox: Mailbox, signal: AbortSignal) {
    this.#mailbox = mailbox
    this.ended = this.#watch(signal)
  }

  async #watch(signal: AbortSignal): Promise<void> {
    for await (const { id } of this.#mailbox.watch({ signal })) {
      this.#arrivedAt.set(id, performance.now())
      this.#arrival.abort()
      this.#arrival = new AbortController()
    }
  }

  /** Waits until mail arrives or is old enough to be taken, and for `ms` at the most. */
  pause(ms: number, minAgeMs: number, signal: AbortSignal): Promise<void> {
    const oldest = Math.min(...this.#arrivedAt.values())
    const leftMs = Math.min(ms, oldest + minAgeMs - performance.now())
    return pause(Math.max(0, leftMs), AbortSignal.any([signal, this.#arrival.signal]))
  }

  /** Takes what arrived at least that long ago and is still unseen. */
  async take(minAgeMs = 0): Promise<InboxMessage[]> {
    const due = [...this.#arrivedAt].filter(([, at]) => performance.now() - at >= minAgeMs).map(([id]) => id)
    if (due.length === 0) return []
    for (const id of due) this.#arrivedAt.delete(id)
    return (await worthATurn(this.#mailbox)).filter(({ id }) => due.includes(id))
  }

  /** For a later try. */
  putBack(messages: readonly InboxMessage[]): void {
    for (const { id } of messages) this.#arrivedAt.set(id, performance.now())
  }
}
