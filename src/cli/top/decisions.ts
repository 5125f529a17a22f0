import { say } from '../../agent/say.ts'
import { type NamedAction, replyTypeFor } from '../../conversation/registry.ts'
import type { Need } from '../../query/needs.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'

/** How long a decision can be taken back. */
const undoMs = 5_000

interface Decision {
  id: string
  /** What was decided, for the status line. */
  done: string
  carryOut: (mailbox: Mailbox) => Promise<unknown>
}

export const approval = ({ message: { id } }: Need, yes: NamedAction | 'ack'): Decision =>
  yes === 'ack'
    ? { id, done: 'Acknowledged', carryOut: (mailbox) => mailbox.ack(id) }
    : { id, done: yes.button!.done, carryOut: (mailbox) => say(mailbox, yes, { id }) }

export const rejection = ({ message: { id } }: Need, no: NamedAction, why: string): Decision => ({
  ...{ id, done: no.button!.done },
  carryOut: (mailbox) => say(mailbox, no, { id, ...(no.reason && { [no.reason.field]: why }) }),
})

export function answer({ message: { id, type } }: Need, body: string): Decision {
  const replyType = replyTypeFor(type)
  const more = replyType === undefined ? {} : { type: replyType, payload: {} }
  return { id, done: 'Answered', carryOut: (mailbox) => mailbox.reply(id, { body, ...more }) }
}

export const completion = ({ message: { id } }: Need): Decision => ({
  ...{ id, done: 'Marked as done' },
  carryOut: (mailbox) => mailbox.done(id),
})

/** Decisions that can still be taken back. Each is carried out after a while, or when the program ends. */
export class Decisions {
  readonly #mailbox: Mailbox
  readonly #onChange: (problem?: unknown) => void
  #pending: { decision: Decision; timer: NodeJS.Timeout } | undefined
  #last: Promise<void> = Promise.resolve()
  /** Messages that are decided and may still be in the list. */
  readonly decided = new Set<string>()

  constructor(mailbox: Mailbox, onChange: (problem?: unknown) => void) {
    this.#mailbox = mailbox
    this.#onChange = onChange
  }

  /** What the last decision was, while it can be taken back. */
  get undoable(): string | undefined {
    return this.#pending?.decision.done
  }

  add(decision: Decision): void {
    this.#carryOutPending()
    this.decided.add(decision.id)
    this.#pending = { decision, timer: setTimeout(() => this.#carryOutPending(), undoMs) }
  }

  /** Whether there was something to take back. */
  undo(): string | undefined {
    if (this.#pending === undefined) return undefined
    const { decision, timer } = this.#pending
    clearTimeout(timer)
    this.#pending = undefined
    this.decided.delete(decision.id)
    return decision.id
  }

  /** Carries out what is left. */
  async end(): Promise<void> {
    this.#carryOutPending()
    await this.#last
  }

  #carryOutPending(): void {
    if (this.#pending === undefined) return
    const { decision, timer } = this.#pending
    clearTimeout(timer)
    this.#pending = undefined
    const work = async () => {
      try {
        await decision.carryOut(this.#mailbox)
        this.#onChange()
      } catch (error) {
        this.decided.delete(decision.id)
        this.#onChange(error)
      }
    }
    this.#last = this.#last.then(work)
  }
}
