import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { maxTimerMs } from '../base/timers.ts'
import { fieldsOf } from '../conversation/field.ts'
import { typeOf } from '../conversation/registry.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { acceptShutdown, deferShutdown, respondStatus } from './requests.ts'

/** What a handler gets besides the message. */
export interface AgentContext {
  mailbox: Mailbox
  /** Mail without a handler that arrived since the last task: context for the next prompt. */
  gathered: readonly InboxMessage[]
  /** Aborted when the work must end: a shutdown's deadline has passed, or the loop was stopped. */
  signal: AbortSignal
}

/** Does the work a message asks for. What it returns becomes the note of `done`; throwing fails the message. */
export type Handler = (message: InboxMessage, context: AgentContext) => unknown

/** By type of message; `default` handles every other type. Without it, such mail is gathered. */
export type AgentHandlers = Partial<Record<string, Handler>>

export interface AgentLoopOptions {
  /** Ends the loop: work in progress is aborted, and what was not started stays unread. */
  signal?: AbortSignal
  /** Called with everything the loop does, for logs. */
  onEvent?: (event: AgentEvent) => void
}

export type AgentEvent =
  | { event: 'started' | 'done' | 'gathered'; message: InboxMessage }
  | { event: 'failed' | 'refused'; message: InboxMessage; reason: string }
  | { event: 'deferred' | 'accepted'; message: InboxMessage }

export interface AgentLoopResult {
  handled: number
  failed: number
  /** Why it ended. */
  ended: 'shutdown' | 'signal'
}

/** A claim is renewed this many times before it would run out. */
const renewals = 3
/** How long a task may take to end after it was aborted. */
const graceMs = 1_000
/** What a mailbox can refuse without anything being broken. */
const refusals = ['conflict', 'not_permitted', 'over_limit', 'not_found', 'unknown_recipient']

/**
 * Runs an agent: handles its mail as it arrives, one task at a time. Status requests and shutdown requests are
 * handled between and during tasks; a shutdown is deferred while a task runs. What an earlier run had read and
 * not finished comes first. Ends when it has accepted a shutdown, or with the signal.
 */
export const runAgent = (
  mailbox: Mailbox,
  handlers: AgentHandlers,
  options: AgentLoopOptions = {},
): Promise<AgentLoopResult> => new AgentLoop(mailbox, handlers, options).run()

class AgentLoop {
  readonly #mailbox: Mailbox
  readonly #handlers: AgentHandlers
  readonly #options: AgentLoopOptions
  readonly #result: AgentLoopResult = { handled: 0, failed: 0, ended: 'signal' }
  #gathered: InboxMessage[] = []
  /** The task in progress, and how to end it. */
  #task: { message: InboxMessage; over: Promise<void>; stop: AbortController } | undefined
  /** A shutdown that was deferred until the task is over. */
  #deferred: InboxMessage | undefined
  #deadline: NodeJS.Timeout | undefined
  /** The task in progress and its context. */
  readonly #atHand = new Set<InboxMessage>()
  /** The state this agent last reported. */
  #state = ''
  /** What an earlier run has left, to be handled before anything new. */
  #leftover: InboxMessage[] = []

  constructor(mailbox: Mailbox, handlers: AgentHandlers, options: AgentLoopOptions) {
    this.#mailbox = mailbox
    this.#handlers = handlers
    this.#options = options
  }

  async run(): Promise<AgentLoopResult> {
    const renewing = setInterval(() => this.#renew(), this.#mailbox.claimTtlMs / renewals).unref()
    try {
      this.#leftover = await this.#unfinished()
      while (!this.#stopped && this.#result.ended !== 'shutdown') {
        const message = this.#takeUp() ?? (await this.#next())
        if (message !== undefined) await this.#dispatch(message)
        if (this.#task === undefined && this.#deferred !== undefined) await this.#accept(this.#deferred)
      }
    } finally {
      this.#task?.stop.abort()
      await this.#task?.over
      clearTimeout(this.#deadline)
      clearInterval(renewing)
    }
    return this.#result
  }

  /** What cannot wait first; a task only when none is in progress. */
  #takeUp(): InboxMessage | undefined {
    const at = this.#leftover.findIndex((one) => this.#task === undefined || this.#canInterrupt(one))
    return at < 0 ? undefined : this.#leftover.splice(at, 1)[0]
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted ?? false
  }

  /** Mail that was shown to an earlier run, or to this one before it was interrupted. */
  async #unfinished(): Promise<InboxMessage[]> {
    const { messages } = await this.#mailbox.inbox({ limit: 1_000 })
    return messages.filter(({ state }) => state === 'shown' || state === 'acked' || state === 'processing')
  }

  /** The next message; undefined when a task has ended or the loop was stopped meanwhile. */
  async #next(): Promise<InboxMessage | undefined> {
    const isBusy = this.#task !== undefined
    if (!isBusy) await this.#say('idle')
    const over = new AbortController()
    void this.#task?.over.then(() => over.abort())
    const signals = [over.signal, ...(this.#options.signal === undefined ? [] : [this.#options.signal])]
    try {
      const match = (message: InboxMessage) => !isBusy || this.#canInterrupt(message)
      return (await this.#mailbox.wait({ match, signal: AbortSignal.any(signals) })) ?? undefined
    } catch (error) {
      if (error instanceof MailboxError && error.code === 'interrupted') return undefined
      throw error
    }
  }

  #canInterrupt(message: InboxMessage): boolean {
    return (typeOf(message.type)?.interrupts ?? false) || this.#handlerOf(message) === undefined
  }

  #handlerOf({ type }: InboxMessage): Handler | undefined {
    return this.#handlers[type] ?? this.#handlers['default']
  }

  async #dispatch(message: InboxMessage): Promise<void> {
    const asked = typeOf(message.type)?.opens
    if (asked === 'shutdown') await this.#shutDown(message)
    else if (asked === 'status' && this.#handlers[message.type] === undefined) await this.#report(message)
    else if (this.#handlerOf(message) === undefined) await this.#gather(message)
    else if (this.#task === undefined) this.#begin(message, this.#handlerOf(message)!)
    // A handler of its own for status requests runs beside the task, not in its place.
    else await this.#work(message, this.#handlerOf(message)!, this.#task.stop.signal)
  }

  /** Accepts when idle. While a task runs it defers, and aborts the task at the deadline. */
  async #shutDown(message: InboxMessage): Promise<void> {
    if (this.#task === undefined) return this.#accept(message)
    this.#deferred = message
    const reason = `finishing: ${this.#task.message.subject}`
    await this.#try(message, () => deferShutdown(this.#mailbox, message.id, { reason }))
    this.#tell({ event: 'deferred', message })
    const { withinMs } = fieldsOf(message.payload)
    if (typeof withinMs === 'number') this.#endTaskAt(Date.parse(message.createdAt) + withinMs)
  }

  #endTaskAt(deadline: number): void {
    clearTimeout(this.#deadline)
    const left = Math.max(0, deadline - this.#mailbox.now())
    const again = () => (left > maxTimerMs ? this.#endTaskAt(deadline) : this.#task?.stop.abort())
    this.#deadline = setTimeout(again, Math.min(left, maxTimerMs))
  }

  async #accept(message: InboxMessage): Promise<void> {
    this.#deferred = undefined
    await this.#try(message, () => acceptShutdown(this.#mailbox, message.id))
    await this.#try(message, () => this.#mailbox.done(message.id))
    this.#tell({ event: 'accepted', message })
    this.#result.ended = 'shutdown'
    await this.#mailbox.leave()
  }

  async #report(message: InboxMessage): Promise<void> {
    const task = this.#task?.message
    const status = task === undefined ? 'idle' : 'working'
    const body = task === undefined ? 'Idle.' : `Working on: ${task.subject}`
    await this.#try(message, () => respondStatus(this.#mailbox, message.id, { status, body }))
    await this.#try(message, () => this.#mailbox.done(message.id))
  }

  /** Takes a step that an earlier run or the person may have taken already; that is no reason to end. */
  async #try(message: InboxMessage, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof MailboxError) || !refusals.includes(error.code)) throw error
      this.#tell({ event: 'refused', message, reason: error.message })
    }
  }

  async #gather(message: InboxMessage): Promise<void> {
    if (message.requiresAck) await this.#try(message, () => this.#mailbox.ack(message.id))
    this.#gathered.push(message)
    this.#tell({ event: 'gathered', message })
  }

  #begin(message: InboxMessage, handler: Handler): void {
    const stop = new AbortController()
    const over = this.#work(message, handler, stop.signal).finally(() => {
      this.#task = undefined
    })
    this.#task = { message, over, stop }
  }

  /** Never rejects: refusals are reported, and any other error ends the loop where it looks next. */
  async #work(message: InboxMessage, handler: Handler, signal: AbortSignal): Promise<void> {
    const mailbox = this.#mailbox
    const gathered = this.#gathered
    this.#gathered = []
    const atHand = [message, ...gathered]
    for (const one of atHand) this.#atHand.add(one)
    try {
      await this.#say('alive')
      await mailbox.start(message.id)
      this.#tell({ event: 'started', message })
      const note = await untilGrace(handler(message, { mailbox, gathered, signal }), signal)
      await mailbox.done(message.id, typeof note === 'string' ? { note } : {})
      this.#result.handled++
      this.#tell({ event: 'done', message })
    } catch (error) {
      const reason =
        (error instanceof Error ? error.message : String(error)) || 'the handler threw without a message'
      this.#result.failed++
      await this.#try(message, () => mailbox.fail(message.id, { reason: reason.slice(0, 1_000) }))
      this.#tell({ event: 'failed', message, reason })
    }
    // The task's context has done its work.
    for (const one of gathered) await this.#try(one, () => mailbox.done(one.id))
    for (const one of atHand) this.#atHand.delete(one)
  }

  /** Renews the claims on role mail that is being worked on or kept for the next task. */
  #renew(): void {
    for (const { id, role, claimNumber } of [...this.#atHand, ...this.#gathered])
      if (role !== undefined) void this.#mailbox.claim(id, given({ claimNumber })).catch(() => {})
  }

  async #say(state: 'idle' | 'alive'): Promise<void> {
    if (this.#state === state) return
    this.#state = state
    await this.#mailbox.update({ state })
  }

  #tell(event: AgentEvent): void {
    this.#options.onEvent?.(event)
  }
}

/** Gives up on a task that was aborted and does not end. */
async function untilGrace(work: unknown, signal: AbortSignal): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const left = new Promise<never>((_, reject) => {
    const late = () => reject(new Error('it did not end after it was aborted'))
    const wait = () => {
      timer = setTimeout(late, graceMs)
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
  try {
    return await Promise.race([work, left])
  } finally {
    clearTimeout(timer)
  }
}
