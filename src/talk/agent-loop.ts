import { MailboxError } from '../errors.ts'
import type { Mailbox } from '../mailbox.ts'
import { fieldsOf } from '../protocol/matter.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { acceptShutdown, deferShutdown, respondStatus } from './requests.ts'

/** What a handler gets besides the message. */
export interface AgentContext {
  mailbox: Mailbox
  /** Mail that needs no handler and came since the last task: context for the next prompt. */
  gathered: readonly InboxMessage[]
  /** Aborted when the work must end: the deadline of a shutdown is over, or the loop was stopped. */
  signal: AbortSignal
}

/** Does the work a message asks for; what it returns becomes the note of `done`. Throwing fails the message. */
export type Handler = (message: InboxMessage, context: AgentContext) => unknown

/** By type of message; `default` for every type that is not named. Without it, such mail is gathered. */
export type AgentHandlers = Partial<Record<string, Handler>>

export interface AgentLoopOptions {
  /** Ends the loop: the work under way is told, and what was not begun stays unread. */
  signal?: AbortSignal
  /** Told of everything the loop does, for logs. */
  onEvent?: (event: AgentEvent) => void
}

export type AgentEvent =
  | { event: 'started' | 'done' | 'gathered'; message: InboxMessage }
  | { event: 'failed'; message: InboxMessage; reason: string }
  | { event: 'deferred' | 'accepted'; message: InboxMessage }

export interface AgentLoopResult {
  handled: number
  failed: number
  /** Why it ended. */
  ended: 'shutdown' | 'signal'
}

/** A claim is renewed this many times before it would run out. */
const renewals = 3
/** Types that are seen to while work is under way. */
const controls = ['shutdown_request', 'status_request']

/**
 * The life of an agent: takes its mail as it comes, one task at a time, and between and during tasks what
 * cannot wait: requests for the status, and requests to shut down, which are deferred while a task runs.
 * What an earlier run had seen and not finished comes first. Ends when it has accepted a shutdown, or with
 * the signal.
 */
export async function runAgent(
  mailbox: Mailbox,
  handlers: AgentHandlers,
  options: AgentLoopOptions = {},
): Promise<AgentLoopResult> {
  return new AgentLoop(mailbox, handlers, options).run()
}

class AgentLoop {
  readonly #mailbox: Mailbox
  readonly #handlers: AgentHandlers
  readonly #options: AgentLoopOptions
  readonly #result: AgentLoopResult = { handled: 0, failed: 0, ended: 'signal' }
  #gathered: InboxMessage[] = []
  /** The task under way, and how to end it. */
  #task: { message: InboxMessage; over: Promise<void>; stop: AbortController } | undefined
  /** A shutdown that was deferred until the task is over. */
  #deferred: InboxMessage | undefined
  #deadline: NodeJS.Timeout | undefined

  constructor(mailbox: Mailbox, handlers: AgentHandlers, options: AgentLoopOptions) {
    this.#mailbox = mailbox
    this.#handlers = handlers
    this.#options = options
  }

  async run(): Promise<AgentLoopResult> {
    try {
      for (const message of await this.#unfinished()) {
        if (this.#stopped) break
        await this.#dispatch(message)
        await this.#task?.over
      }
      while (!this.#stopped && this.#result.ended !== 'shutdown') {
        const message = await this.#next()
        if (message !== undefined) await this.#dispatch(message)
        if (this.#task === undefined && this.#deferred !== undefined) await this.#accept(this.#deferred)
      }
    } finally {
      this.#task?.stop.abort()
      await this.#task?.over
      clearTimeout(this.#deadline)
    }
    return this.#result
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted ?? false
  }

  /** Mail that was shown to an earlier run, or to this one before it was interrupted. */
  async #unfinished(): Promise<InboxMessage[]> {
    const { messages } = await this.#mailbox.inbox({ limit: 1_000 })
    return messages.filter(({ state }) => state === 'shown' || state === 'acked' || state === 'processing')
  }

  /** The next message, or undefined when a task has ended or the loop was stopped meanwhile. */
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
    return controls.includes(message.type) || this.#handlerOf(message) === undefined
  }

  #handlerOf({ type }: InboxMessage): Handler | undefined {
    return this.#handlers[type] ?? this.#handlers['default']
  }

  async #dispatch(message: InboxMessage): Promise<void> {
    if (message.type === 'shutdown_request') await this.#shutDown(message)
    else if (message.type === 'status_request' && this.#handlers['status_request'] === undefined)
      await this.#report(message)
    else if (this.#handlerOf(message) === undefined) await this.#gather(message)
    else this.#begin(message, this.#handlerOf(message)!)
  }

  /** Accepts when idle; while a task runs it defers, and the task is stopped when the deadline is over. */
  async #shutDown(message: InboxMessage): Promise<void> {
    if (this.#task === undefined) {
      await this.#accept(message)
      return
    }
    this.#deferred = message
    await deferShutdown(this.#mailbox, message.id, { reason: `finishing: ${this.#task.message.subject}` })
    this.#tell({ event: 'deferred', message })
    const { withinMs } = fieldsOf(message.payload)
    if (typeof withinMs !== 'number') return
    const left = Math.max(0, Date.parse(message.createdAt) + withinMs - Date.now())
    this.#deadline = setTimeout(() => this.#task?.stop.abort(), left)
  }

  async #accept(message: InboxMessage): Promise<void> {
    await acceptShutdown(this.#mailbox, message.id)
    await this.#mailbox.done(message.id)
    this.#tell({ event: 'accepted', message })
    this.#result.ended = 'shutdown'
    await this.#mailbox.leave()
  }

  async #report(message: InboxMessage): Promise<void> {
    const task = this.#task?.message
    const status = task === undefined ? 'idle' : 'working'
    const body = task === undefined ? 'Idle.' : `Working on: ${task.subject}`
    await respondStatus(this.#mailbox, message.id, { status, body })
    await this.#mailbox.done(message.id)
  }

  async #gather(message: InboxMessage): Promise<void> {
    if (message.requiresAck) await this.#mailbox.ack(message.id)
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

  async #work(message: InboxMessage, handler: Handler, signal: AbortSignal): Promise<void> {
    const mailbox = this.#mailbox
    const gathered = this.#gathered
    this.#gathered = []
    await this.#say('alive')
    await mailbox.start(message.id)
    this.#tell({ event: 'started', message })
    const renewing = message.role === undefined ? undefined : this.#renew(message.id)
    try {
      const note = await handler(message, { mailbox, gathered, signal })
      await mailbox.done(message.id, typeof note === 'string' ? { note } : {})
      this.#result.handled++
      this.#tell({ event: 'done', message })
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)) || 'it threw'
      await mailbox.fail(message.id, { reason: reason.slice(0, 1_000) })
      this.#result.failed++
      this.#tell({ event: 'failed', message, reason })
    } finally {
      clearInterval(renewing)
    }
    // What the task was given to know has served.
    for (const one of gathered) await mailbox.done(one.id)
  }

  /** Keeps mail of a role while it is worked on. */
  #renew(id: string): NodeJS.Timeout {
    const timer = setInterval(
      () => void this.#mailbox.claim(id).catch(() => {}),
      this.#mailbox.claimTtlMs / renewals,
    )
    timer.unref()
    return timer
  }

  #state = ''
  async #say(state: 'idle' | 'alive'): Promise<void> {
    if (this.#state === state) return
    this.#state = state
    await this.#mailbox.update({ state })
  }

  #tell(event: AgentEvent): void {
    this.#options.onEvent?.(event)
  }
}
