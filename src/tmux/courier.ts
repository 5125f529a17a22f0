import { MailboxError } from '../base/errors.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { Attempt, Registration, Store } from './store.ts'
import type { WatchedSpace } from './watched.ts'

/** Something that happened, for the person who runs the watcher. */
export interface Event {
  event: 'typed' | 'shown' | 'told' | 'ran' | 'failed' | 'skipped'
  agent: string
  ids: string[]
  note?: string
}

/** What all couriers of a watcher share. */
export interface WatcherContext {
  space: WatchedSpace
  store: Store
  /** Differs for every watcher that starts, so that tmux can tell it from earlier ones. */
  epoch: string
  tell: (event: Event) => void
}

/** The result of a turn. */
export interface Turn {
  /** A few words for the status. */
  doing: string
  /** When the next turn is due. Left out when only new mail gives it something to do. */
  againMs?: number
}

/** It waits for something that it has to poll for. */
export const waiting = (doing: string): Turn => ({ doing, againMs: 120 })
/** It is in the middle of a delivery. */
export const underway = (doing: string): Turn => ({ doing, againMs: 25 })
export const idle: Turn = { doing: 'waiting for mail' }

/** Delivers one agent's mail. The steps that all couriers share are here; when to take them differs. */
export abstract class Courier {
  readonly registration: Registration
  protected readonly agent: string
  protected readonly context: WatcherContext
  #mailbox: Mailbox | undefined

  constructor(context: WatcherContext, registration: Registration) {
    this.context = context
    this.registration = registration
    this.agent = registration.agent
  }

  /** A turn never waits for anything that may take long. */
  abstract turn(unread: readonly InboxMessage[]): Promise<Turn>

  protected async mailbox(): Promise<Mailbox> {
    this.context.space.willChange(this.agent)
    this.#mailbox ??= await this.context.space.mailboxOfRun(this.agent)
    return this.#mailbox
  }

  /**
   * Records what is about to be done. Mail to a role is claimed, so that no other holder takes it in the meantime;
   * returns false when another was first. Both can be repeated after a crash in between.
   */
  protected async intend(attempt: Attempt): Promise<boolean> {
    this.context.store.intend(this.agent, attempt)
    const mailbox = await this.mailbox()
    if (!attempt.isRole || attempt.isNotice) {
      await mailbox.notified(attempt.ids)
      return true
    }
    const refusal = await refusalOf(mailbox.claim(attempt.ids[0]!))
    if (refusal !== undefined) this.end(attempt, 'skipped', refusal.message)
    return refusal === undefined
  }

  /** The attempt is over. */
  protected end({ ids }: Attempt, event: Event['event'], note: string): void {
    this.context.store.endAttempt(this.agent)
    this.context.tell({ event, agent: this.agent, ids, note })
  }

  /** Gives an attempt up. The mail is unread as before, and will be tried again. */
  protected async skip(attempt: Attempt, note: string): Promise<Turn> {
    const mailbox = await this.mailbox()
    if (attempt.isRole && !attempt.isNotice) await refusalOf(mailbox.release(attempt.ids[0]!))
    this.end(attempt, 'skipped', note)
    return underway('starting over')
  }

  /** It has arrived: shown, and acknowledged if it asks for that. Both can be repeated after a crash. */
  protected async shown(attempt: Attempt, where: string): Promise<Turn> {
    const mailbox = await this.mailbox()
    const acks = this.registration.noAck !== true
    for (const id of attempt.ids) {
      const { requiresAck, state } = await mailbox.read(id)
      if (requiresAck && acks && state === 'shown') await mailbox.ack(id, { note: `seen in ${where}` })
    }
    this.end(attempt, 'shown', where)
    return underway('delivered')
  }

  /** It cannot be delivered this way. Its receipt says why, and so does a message to its sender. */
  protected async fail(attempt: Attempt, reason: string): Promise<void> {
    const mailbox = await this.mailbox()
    for (const id of attempt.ids) {
      const { message } = await mailbox.show(id)
      await refusalOf(mailbox.fail(id, { reason }))
      await this.#report(message, reason)
    }
    this.end(attempt, 'failed', reason)
  }

  async #report({ from: sender, id, threadId, subject }: Message, reason: string): Promise<void> {
    const reporter = await this.context.space.reporter(this.agent)
    const letter = (to: string) =>
      reporter.send({
        to,
        type: 'error',
        subject: `Not delivered to ${this.agent}: ${subject}`.slice(0, 500),
        body: `${reason}\nSee its status: mailbox show ${id}\nTry again: mailbox --as ${this.agent} retry ${id}`,
        // An answer of the agent itself would settle what has failed.
        ...(reporter.name === systemAgent ? { replyTo: id } : { threadId }),
        // Sent once, even if the watcher is killed right after sending it.
        key: `tmux-failed ${this.agent} ${id} ${reason}`.slice(0, 200),
      })
    // A sender that has left cannot be told, but somebody must be.
    if (sender === systemAgent || (await refusalOf(letter(sender)))) await refusalOf(letter(person))
  }
}

/**
 * Why it was not done, if it was not. Mostly ignored: what the state no longer allows is no longer needed. What could
 * not be asked is done in a later turn.
 */
async function refusalOf(work: Promise<unknown>): Promise<MailboxError | undefined> {
  try {
    await work
  } catch (error) {
    if (error instanceof MailboxError && error.code !== 'unreachable') return error
    throw error
  }
  return undefined
}
