import { MailboxError } from '../base/errors.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Attempt, Registration, Store } from './store.ts'

/** Something that a person who watches the watcher wants to know. */
export interface Event {
  event: 'typed' | 'shown' | 'told' | 'ran' | 'failed' | 'skipped'
  agent: string
  ids: string[]
  note?: string
}

/** What all couriers of a watcher share. */
export interface Desk {
  space: DiskSpace
  store: Store
  /** Changes with every watcher that starts, so that tmux can tell it from those before it. */
  epoch: string
  tell: (event: Event) => void
}

/** What a turn came to. */
export interface Turn {
  /** In a few words, for the status. */
  doing: string
  /** When the next turn is due; left out where only new mail gives it something to do. */
  againMs?: number
}

/** It waits for something that nobody will tell us of. */
export const waiting = (doing: string): Turn => ({ doing, againMs: 120 })
/** It is in the middle of a delivery. */
export const underway = (doing: string): Turn => ({ doing, againMs: 25 })
export const idle: Turn = { doing: 'waits for mail' }

/** Brings one agent its mail. A turn never waits for anything that may take long. */
export interface Courier {
  readonly registration: Registration
  turn(unread: readonly InboxMessage[]): Promise<Turn>
}

/** Steps that every courier takes, whatever way the mail goes. */
export class Steps {
  readonly desk: Desk
  readonly agent: string
  #mailbox: Mailbox | undefined

  constructor(desk: Desk, agent: string) {
    this.desk = desk
    this.agent = agent
  }

  async mailbox(): Promise<Mailbox> {
    this.#mailbox ??= await this.desk.space.mailbox(this.agent, { join: false })
    return this.#mailbox
  }

  /**
   * Writes down what is about to be done. Mail of a role is claimed, so that no other holder takes it up
   * meanwhile; false when somebody was first. Both can be said again after a crash in between.
   */
  async intend(attempt: Attempt): Promise<boolean> {
    this.desk.store.intend(this.agent, attempt)
    const mailbox = await this.mailbox()
    if (!attempt.isRole || attempt.isNotice) {
      await mailbox.notified(attempt.ids)
      return true
    }
    try {
      await mailbox.claim(attempt.ids[0]!)
      return true
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      this.desk.store.endAttempt(this.agent)
      this.desk.tell({ event: 'skipped', agent: this.agent, ids: attempt.ids, note: error.message })
      return false
    }
  }

  /** Gives an attempt up; the mail is unread as before, and its turn comes again. */
  async skip(attempt: Attempt, note: string): Promise<void> {
    const mailbox = await this.mailbox()
    if (attempt.isRole && !attempt.isNotice) await ignoreRefusal(mailbox.release(attempt.ids[0]!))
    this.desk.store.endAttempt(this.agent)
    this.desk.tell({ event: 'skipped', agent: this.agent, ids: attempt.ids, note })
  }

  /** It has arrived: shown, and acked where it asks for that. Both can be said again after a crash. */
  async shown(attempt: Attempt, where: string, acks: boolean): Promise<void> {
    const mailbox = await this.mailbox()
    for (const id of attempt.ids) {
      const { requiresAck, state } = await mailbox.read(id)
      if (requiresAck && acks && state === 'shown') await mailbox.ack(id, { note: `seen in ${where}` })
    }
    this.desk.store.endAttempt(this.agent)
    this.desk.tell({ event: 'shown', agent: this.agent, ids: attempt.ids, note: where })
  }

  /** It will not arrive this way. Its ladder says why, and so does a letter to whoever sent it. */
  async fail(attempt: Attempt, reason: string): Promise<void> {
    const mailbox = await this.mailbox()
    for (const id of attempt.ids) {
      const { message } = await mailbox.show(id)
      await ignoreRefusal(mailbox.fail(id, { reason }))
      await this.#report(message.from, id, message.subject, reason)
    }
    this.desk.store.endAttempt(this.agent)
    this.desk.tell({ event: 'failed', agent: this.agent, ids: attempt.ids, note: reason })
  }

  async #report(sender: string, id: string, subject: string, reason: string): Promise<void> {
    const system = await this.desk.space.mailbox(systemAgent)
    const letter = (to: string) =>
      system.send({
        to,
        type: 'error',
        subject: `Not shown to ${this.agent}: ${subject}`.slice(0, 500),
        body: `${reason}\nSee how far it came: mailbox show ${id}\nTry again: mailbox --as ${this.agent} retry ${id}`,
        replyTo: id,
        // Said once, also by a watcher that was killed after saying it.
        key: `tmux-failed ${this.agent} ${id} ${reason}`.slice(0, 200),
      })
    // A sender that has left cannot be told; somebody must be.
    if (sender === systemAgent || !(await ignoreRefusal(letter(sender)))) await ignoreRefusal(letter(person))
  }
}

/** Whether it was done. What the state does not allow any more has become needless. */
async function ignoreRefusal(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof MailboxError) return false
    throw error
  }
}
