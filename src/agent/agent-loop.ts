import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { maxTimerMs } from '../base/timers.ts'
import { fieldsOf } from '../conversation/field.ts'
import { asksFor, opens } from '../conversation/matter.ts'
import { typeOf } from '../conversation/registry.ts'
import { asking } from '../model/reach.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { untilGrace } from './grace.ts'
import type { AgentEvent, AgentHandlers, AgentLoopOptions, AgentLoopResult, Handler } from './handlers.ts'
import { acceptShutdown, deferShutdown, respondStatus } from './requests.ts'

/** A claim is renewed this many times before it would run out. */
const renewals = 3
/** What a mailbox can refuse without anything being broken. */
const refusals = ['conflict', 'not_permitted', 'over_limit', 'not_found', 'unknown_recipient']

/**
 * Runs an agent: handles its mail as it arrives, one task at a time. Status requests and shutdown requests are
 * handled between and during tasks; a shutdown is deferred while a task runs. Replies to the agent's own messages
 * are left to the running task, which may be waiting for them; what it has not read by its end is handled as usual.
 * What an earlier run had read and not finished comes first. Ends when it has accepted a shutdown, or with the signal.
 */
export const runAgent = (
  mailbox: Mailbox,
  handlers: AgentHandlers,
  options: AgentLoopOptions = {},
): Promise<AgentLoopResult> => new AgentLoop(mailbox, handlers, options).run()

/** A task in progress, and how to end it. */
interface Task {
  message: InboxMessage
  over: Promise<unknown>
  stop: AbortController
}

/** Whether it is handled whatever the agent is doing. */
const interrupts = ({ type }: InboxMessage): boolean => typeOf(type)?.interrupts ?? false

class AgentLoop {
  readonly #mailbox: Mailbox
  readonly #handlers: AgentHandlers
  readonly #options: AgentLoopOptions
  readonly #result: AgentLoopResult = { handled: 0, failed: 0, ended: 'signal' }
  #gathered: InboxMessage[] = []
  /** What is in progress: a task, and what is handled beside it. */
  readonly #tasks = new Set<Task>()
  /** A shutdown that was deferred until they are over. */
  #deferred: InboxMessage | undefined
  #deadline: NodeJS.Timeout | undefined
  /** Why it cannot go on. */
  #broken: { error: unknown } | undefined
  /** The messages of the tasks and of their context. */
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
      while (!this.#stopped && this.#result.ended !== 'shutdown' && this.#broken === undefined) {
        const message = this.#takeUp() ?? (await this.#next())
        if (message !== undefined) await this.#dispatch(message)
        if (this.#tasks.size === 0 && this.#deferred !== undefined) await this.#accept(this.#deferred)
      }
    } finally {
      this.#stopTasks()
      await Promise.all([...this.#tasks].map(({ over }) => over))
      clearTimeout(this.#deadline)
      clearInterval(renewing)
    }
    if (this.#broken !== undefined) throw this.#broken.error
    return this.#result
  }

  /** What cannot wait first; a task only when none is in progress. */
  #takeUp(): InboxMessage | undefined {
    const at = this.#leftover.findIndex((one) => this.#canTake(one))
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
    const isBusy = this.#tasks.size > 0
    if (!isBusy) await this.#say('idle')
    const over = new AbortController()
    for (const task of this.#tasks) void task.over.then(() => over.abort())
    const signals = [over.signal, ...(this.#options.signal === undefined ? [] : [this.#options.signal])]
    try {
      const match = async (message: InboxMessage) =>
        this.#canTake(message) && !(isBusy && (await this.#isForTask(message)))
      return (await this.#mailbox.wait({ match, signal: AbortSignal.any(signals) })) ?? undefined
    } catch (error) {
      if (error instanceof MailboxError && error.code === 'interrupted') return undefined
      throw error
    }
  }

  /** What needs no handler of its own, and otherwise one task, and one thing beside it. */
  #canTake(message: InboxMessage): boolean {
    if (interrupts(message) || this.#handlerOf(message) === undefined) return true
    const { beside = [] } = this.#options
    const isMain = ({ message: { type } }: Task) => !beside.includes(type)
    // An agent that is about to shut down takes only what its task may be waiting for.
    if (this.#deferred !== undefined && ![...this.#tasks].some(isMain)) return false
    return this.#tasks.size < (beside.includes(message.type) ? 2 : 1)
  }

  /** Whether a task may be waiting for it: a reply to what this agent has sent, without a handler of its own. */
  async #isForTask(message: InboxMessage): Promise<boolean> {
    const { replyTo } = message
    if (replyTo === undefined || interrupts(message) || this.#handlerOf(message) !== undefined) return false
    try {
      return (await this.#mailbox.show(replyTo)).message.from === this.#mailbox.name
    } catch (error) {
      // What it replies to may have been removed with the old files of the journal.
      if (error instanceof MailboxError && error.code === 'not_found') return false
      throw error
    }
  }

  #handlerOf({ type }: InboxMessage): Handler | undefined {
    return this.#handlers[type] ?? this.#handlers['default']
  }

  async #dispatch(message: InboxMessage): Promise<void> {
    const asked = typeOf(message.type)?.opens
    if (asked === 'shutdown') await this.#shutDown(message)
    else if (asked === 'status' && this.#handlers[message.type] === undefined) await this.#report(message)
    else if (this.#handlerOf(message) === undefined) await this.#gather(message)
    else this.#begin(message, this.#handlerOf(message)!)
  }

  /** Accepts when idle. While a task runs it defers, and aborts the task at the deadline. */
  async #shutDown(message: InboxMessage): Promise<void> {
    const [task] = this.#tasks
    if (task === undefined) return this.#accept(message)
    this.#deferred = message
    const reason = `finishing: ${task.message.subject}`
    await this.#try(message, () => deferShutdown(this.#mailbox, message.id, { reason }))
    this.#tell({ event: 'deferred', message })
    const { withinMs } = fieldsOf(message.payload)
    if (typeof withinMs === 'number') this.#endTaskAt(Date.parse(message.createdAt) + withinMs)
  }

  #endTaskAt(deadline: number): void {
    clearTimeout(this.#deadline)
    const left = Math.max(0, deadline - this.#mailbox.now())
    const again = () => (left > maxTimerMs ? this.#endTaskAt(deadline) : this.#stopTasks())
    this.#deadline = setTimeout(again, Math.min(left, maxTimerMs))
  }

  #stopTasks(): void {
    for (const { stop } of this.#tasks) stop.abort()
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
    const [task] = this.#tasks
    const status = task === undefined ? 'idle' : 'working'
    const body = task === undefined ? 'Idle.' : `Working on: ${task.message.subject}`
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
    const over = this.#work(message, handler, stop.signal)
      .catch((error: unknown) => {
        this.#broken ??= { error }
      })
      .finally(() => this.#tasks.delete(task))
    const task: Task = { message, over, stop }
    this.#tasks.add(task)
  }

  /** Refusals are reported; any other error of the mailbox ends the loop. */
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
    // The task's context has done its work. What asks for more than to be read is not done by that.
    for (const one of gathered) if (opens(one) === undefined) await this.#try(one, () => mailbox.done(one.id))
    for (const one of atHand) this.#atHand.delete(one)
  }

  /** Renews the claims on role mail that is being worked on or kept for the next task. */
  #renew(): void {
    for (const message of [...this.#atHand, ...this.#gathered]) {
      const { id, role, claimNumber } = message
      // What asks for nothing belongs to its reader, without a claim that could run out.
      if (role !== undefined && asksFor(message) !== asking.nothing)
        void this.#mailbox.claim(id, given({ claimNumber })).catch(() => {})
    }
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
