import { acceptShutdown, deferShutdown, type InboxMessage, type Mailbox, MailboxError } from '../mod.ts'
import type { DemoState } from './state.ts'
import type { Member } from './team.ts'

/** What an agent does with a message of some type. */
type Behaviour = (me: MockAgent, message: InboxMessage) => Promise<void>
export type Behaviours = Partial<Record<string, Behaviour>>
type Range = readonly [from: number, to: number]

/** Types that are read while the agent is busy; all others wait until it is free. */
const interrupting = [
  ...['response', 'plan_approval', 'shutdown_request', 'status_request', 'status_response', 'status_update'],
  ...['broadcast', 'notification', 'text', 'shutdown_response'],
]
/** Errors that are expected when the person, or a timeout, was faster. */
const refusals = ['conflict', 'not_permitted', 'not_found', 'over_limit', 'unknown_recipient']
/** Seconds until the mailbox is checked again: after a message, and without one. */
const soon: Range = [2, 5]
const idle: Range = [5, 11]
/** How long an agent stays away after a shutdown. */
const breakSeconds = 90

export interface MockAgentOptions {
  member: Member
  demo: DemoState
  /** By type of message; `default` for every type that is not named. */
  behaviours: Behaviours
  /** What it does unprompted; started with each run. */
  routines: (me: MockAgent) => void
  /** The process it runs in. */
  pid: () => Promise<number>
}

/** A mock agent: it checks its mailbox, does one thing at a time, and replies. */
export class MockAgent {
  readonly member: Member
  readonly demo: DemoState
  readonly #options: MockAgentOptions
  #mailbox: Mailbox | undefined
  #run = 0
  here = false
  /** What it is working on. */
  job: string | undefined
  /** What to do once it is free. */
  readonly #todo: (() => Promise<void>)[] = []
  /** What to do with an answer, by the id of the question. */
  readonly waiting = new Map<string, (answer: InboxMessage) => Promise<void>>()
  /** Resumes the current work in a later run. */
  #unfinished: (() => Promise<void>) | undefined
  #stopWhenDone: InboxMessage | undefined

  constructor(options: MockAgentOptions) {
    this.member = options.member
    this.demo = options.demo
    this.#options = options
  }

  get name(): string {
    return this.member.name
  }

  get mailbox(): Mailbox {
    if (this.#mailbox === undefined) throw new MailboxError('internal', `${this.name} has not joined yet`)
    return this.#mailbox
  }

  async comeIn(): Promise<void> {
    if (this.here) return
    const pid = await this.#options.pid()
    const { name, roles, tags, note } = this.member
    await this.demo.space.join(name, {
      roles: [...roles],
      tags: [...tags],
      note,
      session: { pid, client: 'demo' },
    })
    this.#mailbox = await this.demo.space.mailbox(name, { join: false })
    this.#run++
    this.here = true
    this.job = undefined
    this.#stopWhenDone = undefined
    this.#lookAfter(soon)
    this.#options.routines(this)
    this.after(soon, async () => {
      if (this.job === undefined) await this.#rest()
    })
  }

  /** Ends this run, because its process died or it left: nothing it had scheduled happens. */
  goAway(): void {
    const unfinished = this.#unfinished
    if (this.job !== undefined && unfinished !== undefined) this.#todo.unshift(unfinished)
    this.#run++
    this.here = false
    this.job = undefined
  }

  /** Leaves frozen, so that its mail waits. */
  async goHome(): Promise<void> {
    if (!this.here) return
    await this.mailbox.leave({ frozen: true })
    this.goAway()
  }

  /** Does something later, unless this run is over by then. */
  after([from, to]: Range, work: () => Promise<void>): void {
    const run = this.#run
    this.demo.schedule.after(this.demo.random.between(from, to), async () => {
      if (run === this.#run && this.here) await this.#try(work)
    })
  }

  /** Does something later, or on returning if it is away by then. */
  later([from, to]: Range, work: () => Promise<void>): void {
    this.demo.schedule.after(this.demo.random.between(from, to), async () => {
      if (this.here) await this.#try(work)
      else this.#todo.push(work)
    })
  }

  /** Repeats something as long as this run lasts. */
  every(range: Range, work: () => Promise<void>): void {
    this.after(range, async () => {
      this.every(range, work)
      await work()
    })
  }

  /** Is busy with a message for a while, then calls `then`. */
  async work(what: string, range: Range, on: string | undefined, then: () => Promise<void>): Promise<void> {
    this.job = what
    this.#unfinished = async () => {
      // Another agent may have claimed it by now.
      if (on === undefined || (await this.#isMine(on))) await this.work(what, range, on, then)
    }
    await this.mailbox.update({ state: 'alive', note: what })
    this.after(range, async () => {
      this.job = undefined
      await this.#try(then)
      if (this.job === undefined) await this.#rest()
    })
  }

  /** Does something now, or when the current work is done. */
  async whenFree(work: () => Promise<void>): Promise<void> {
    if (this.job === undefined) await work()
    else this.#todo.push(work)
  }

  async #isMine(id: string): Promise<boolean> {
    const { messages } = await this.mailbox.inbox({ limit: 500 })
    return messages.some((message) => message.id === id)
  }

  async shutDown(message: InboxMessage): Promise<void> {
    if (this.job !== undefined) {
      this.#stopWhenDone = message
      await deferShutdown(this.mailbox, message.id, { reason: `Still busy: ${this.job}` })
      return
    }
    await acceptShutdown(this.mailbox, message.id)
    await this.mailbox.done(message.id)
    this.#stopWhenDone = undefined
    await this.goHome()
    this.demo.schedule.after(breakSeconds, async () => {
      if (!this.demo.isNight) await this.comeIn()
    })
  }

  async #rest(): Promise<void> {
    if (this.#stopWhenDone !== undefined) {
      await this.shutDown(this.#stopWhenDone)
      return
    }
    const next = this.#todo.shift()
    if (next !== undefined) await this.#try(next)
    else await this.mailbox.update({ state: 'idle', note: this.member.note })
  }

  #lookAfter(range: Range): void {
    this.after(range, async () => {
      let found = false
      try {
        found = await this.#look()
      } finally {
        if (this.here) this.#lookAfter(found ? soon : idle)
      }
    })
  }

  /** Reads the most urgent message that it can handle now. */
  async #look(): Promise<boolean> {
    const { messages } = await this.mailbox.inbox({ unread: true, limit: 30 })
    for (const { id, type } of messages) {
      if (this.job !== undefined && !interrupting.includes(type)) continue
      // Another agent with the role may have been faster.
      const message = await this.mailbox.read(id).catch(forgive)
      if (message === undefined) continue
      if (message.requiresAck) await this.mailbox.ack(id)
      const behaviour = this.#options.behaviours[message.type] ?? this.#options.behaviours['default']
      await behaviour?.(this, message)
      return true
    }
    return false
  }

  async #try(work: () => Promise<void>): Promise<void> {
    await work().catch(forgive)
  }
}

function forgive(error: unknown): undefined {
  if (error instanceof MailboxError && refusals.includes(error.code)) return undefined
  throw error
}
