import { acceptShutdown, deferShutdown, type InboxMessage, type Mailbox, MailboxError } from '../mod.ts'
import { commonMail, otherMail } from './common.ts'
import type { Demo } from './demo.ts'
import type { KillableProcess } from './killable-process.ts'
import type { Member } from './team.ts'

/** What an agent does with a message. */
export type Behaviour = (me: MockAgent, message: InboxMessage) => Promise<unknown>
export interface Role {
  /** By type of message, in addition to what every agent does. */
  mail: Partial<Record<string, Behaviour>>
  /** Starts what the agent does unprompted, with each run. */
  start?: (me: MockAgent) => void
}
type Work = () => Promise<unknown>
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

/** A mock agent: it checks its mailbox, does one thing at a time, and replies. */
export class MockAgent {
  readonly name: string
  readonly demo: Demo
  readonly member: Member
  readonly #role: Role
  readonly #ownProcess: KillableProcess | undefined
  /** Set when it joins. */
  mailbox!: Mailbox
  #run = 0
  here = false
  /** What it is working on. */
  job: string | undefined
  /** What to do once it is free. */
  readonly #todo: Work[] = []
  /** What to do with an answer, by the id of the question. */
  readonly waiting = new Map<string, (answer: InboxMessage) => Promise<void>>()
  /** Resumes the current work in a later run. */
  #unfinished: Work | undefined
  #stopWhenDone: InboxMessage | undefined

  /** @param ownProcess where it runs, if it can die. @default this process */
  constructor(demo: Demo, member: Member, role: Role, ownProcess?: KillableProcess) {
    this.name = member.name
    this.demo = demo
    this.member = member
    this.#role = role
    this.#ownProcess = ownProcess
  }

  async comeIn(): Promise<void> {
    if (this.here) return
    const pid = (await this.#ownProcess?.pid()) ?? process.pid
    const { name, role, tags, note } = this.member
    await this.demo.space.join(name, { roles: [role], tags, note, session: { pid, client: 'demo' } })
    this.mailbox = await this.demo.space.mailbox(name, { join: false })
    this.#run++
    this.here = true
    this.#stopWhenDone = undefined
    this.#checkMail(soon)
    this.#role.start?.(this)
    this.after(soon, async () => {
      if (this.job === undefined) await this.#rest()
    })
  }

  /** Ends this run, because its process died or it left: nothing it had scheduled happens. */
  goAway(): void {
    if (this.job !== undefined) this.#todo.unshift(this.#unfinished!)
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

  async die(): Promise<void> {
    if (!this.here) return
    this.goAway()
    await this.#ownProcess?.kill()
    // The others notice, and its claims become free.
    await this.demo.space.runDue()
  }

  /** Does something later, unless this run is over by then. */
  after([from, to]: Range, work: Work): void {
    const run = this.#run
    this.demo.schedule.after(this.demo.random.between(from, to), async () => {
      if (run === this.#run) await work().catch(forgive)
    })
  }

  /** Does something later, or on returning if it is away by then. */
  later([from, to]: Range, work: Work): void {
    this.demo.schedule.after(this.demo.random.between(from, to), async () => {
      if (this.here) await work().catch(forgive)
      else this.#todo.push(work)
    })
  }

  /** Repeats something as long as this run lasts. */
  every(range: Range, work: Work): void {
    this.after(range, async () => {
      this.every(range, work)
      await work()
    })
  }

  /** Is busy with a message for a while, then calls `then`. */
  async work(what: string, range: Range, on: string | undefined, then: Work): Promise<void> {
    if (on !== undefined) await this.mailbox.start(on)
    this.job = what.slice(0, 200)
    // Refused if another agent has claimed it by then.
    this.#unfinished = () => this.work(what, range, on, then)
    await this.mailbox.update({ state: 'alive', note: this.job })
    this.after(range, async () => {
      this.job = undefined
      await then().catch(forgive)
      if (this.job === undefined) await this.#rest()
    })
  }

  /** Does something now, or when the current work is done. */
  async whenFree(work: Work): Promise<void> {
    if (this.job === undefined) await work()
    else this.#todo.push(work)
  }

  async shutDown(message: InboxMessage): Promise<void> {
    if (this.job !== undefined) {
      this.#stopWhenDone = message
      await deferShutdown(this.mailbox, message.id, { reason: `Still busy: ${this.job}` })
      return
    }
    await acceptShutdown(this.mailbox, message.id)
    await this.mailbox.done(message.id)
    await this.goHome()
    this.demo.schedule.after(breakSeconds, async () => {
      if (!this.demo.isNight) await this.comeIn()
    })
  }

  async #rest(): Promise<void> {
    if (this.#stopWhenDone !== undefined) return this.shutDown(this.#stopWhenDone)
    const next = this.#todo.shift()
    if (next !== undefined) await next().catch(forgive)
    else await this.mailbox.update({ state: 'idle', note: this.member.note })
  }

  #checkMail(range: Range): void {
    this.after(range, async () => {
      const found = await this.#readNext()
      if (this.here) this.#checkMail(found ? soon : idle)
    })
  }

  /** Handles the most urgent message that it can handle now. */
  async #readNext(): Promise<boolean> {
    const { messages } = await this.mailbox.inbox({ unread: true, limit: 30 })
    for (const { id, type } of messages) {
      if (this.job !== undefined && !interrupting.includes(type)) continue
      // Another agent with the role may have been faster.
      const message = await this.mailbox.read(id).catch(forgive)
      if (message === undefined) continue
      if (message.requiresAck) await this.mailbox.ack(id)
      const handle = this.#role.mail[type] ?? commonMail[type] ?? otherMail
      await handle(this, message).catch(forgive)
      return true
    }
    return false
  }
}

function forgive(error: unknown): undefined {
  if (error instanceof MailboxError && refusals.includes(error.code)) return undefined
  throw error
}
