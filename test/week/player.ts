import {
  acceptShutdown,
  approvePlan,
  askForHelp,
  assignTask,
  brief,
  deferShutdown,
  type Mailbox,
  type Moment,
  rejectPlan,
  respondStatus,
  submitPlan,
  updateStatus,
} from '../../src/mod.ts'
import { Sleeper } from '../helpers/sleeper.ts'
import { minute } from './calendar.ts'
import type { Letter } from './facts.ts'
import type { World } from './world.ts'

interface Plan {
  at: number
  what: () => Promise<void>
}

/**
 * One who takes part in the week: an agent, or the person. It reads its mail, does what it is asked after a while,
 * forgets some of it, works, and loses its memory when its process is killed.
 */
export class Player {
  readonly name: string
  readonly world: World
  mailbox!: Mailbox
  /** Whether it looks at its mail: a session can be there and idle. */
  isAwake = false
  #session = 0
  #sessionName = 0
  #sleeper: Sleeper | undefined
  #plans: Plan[] = []
  #queue: Letter[] = []
  #work: { letter: Letter; until: number } | undefined
  /** What it has in mind, so that it does not begin twice. */
  #known = new Set<string>()
  /** How many minutes pass between two looks at its mail, at least and at most. */
  #pace: readonly [number, number] = [4, 16]
  /** Whether it answered a request to its role since its session began. */
  #answeredForRole = false

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
  }

  get random() {
    return this.world.random
  }

  get isBusy(): boolean {
    return this.#work !== undefined
  }

  get member() {
    return this.world.team.of(this.name)
  }

  act<T>(what: string, call: () => Promise<T>, apply?: (result: T) => void): Promise<T | undefined> {
    return this.world.act(this.name, what, call, apply)
  }

  // Sessions

  /** Begins a session: joins, or just acts where a session was frozen or its process has ended. */
  async begin(joins = true): Promise<void> {
    const { world, name, member } = this
    const { state, since } = member!
    this.#noteReturn(state, since)
    if (joins) {
      const hasProcess = this.random.happens(0.6)
      const earlier = this.#sleeper
      this.#sleeper = hasProcess ? new Sleeper() : undefined
      if (state !== 'frozen') this.#sessionName++
      const id = `${name}-${this.#sessionName}`
      const session = { id, ...(this.#sleeper === undefined ? {} : { pid: this.#sleeper.pid }) }
      const { roles, tags } = member!
      await this.act(
        `joins${hasProcess ? ' with a process' : ''} (${state})`,
        () => world.space.join(name, { roles, tags, session }),
        () => {
          // What another run had taken is free, whether or not anybody saw it end.
          if (state !== 'frozen') world.facts.gone(name)
          world.team.came(name, hasProcess)
        },
      )
      await earlier?.kill()
    }
    this.mailbox = await world.space.mailbox(name, { join: false })
    await this.wake('start')
  }

  #noteReturn(state: string, since: number): void {
    const { world, name } = this
    const mail = [...world.facts.letters.values()].filter(({ copies }) => copies.has(name))
    const unread = mail.filter(({ copies }) => copies.get(name)!.readers.length === 0)
    if (unread.some(({ isUrgent }) => isUrgent)) world.saw('E7')
    const isLong = world.now() - since > 5 * minute
    if (state === 'crashed' && isLong && unread.some(({ at }) => at > since)) world.saw('E18')
    const isAckedOrAnswered = ({ copies, matter }: Letter) =>
      copies.get(name)!.isAcked && matter?.state !== 'open' && matter?.state !== 'deferred'
    if (['crashed', 'left'].includes(state) && mail.some(isAckedOrAnswered)) world.saw('E6')
    const verdicts = mail.filter(({ message }) => message.type === 'plan_approval')
    if (state === 'frozen' && verdicts.some(({ at }) => at > since)) world.saw('E1')
    if (state === 'frozen' && verdicts.some(({ copies }) => copies.get(name)!.readers.length > 0))
      world.saw('E2')
  }

  /** Goes on looking at its mail. */
  async wake(moment: Moment = 'prompt'): Promise<void> {
    this.isAwake = true
    // Some are absorbed by what they do.
    this.#pace = this.random.happens(0.7) ? [4, 16] : [15, 60]
    const session = ++this.#session
    await this.#lookIn(moment)
    await this.#recall()
    this.#nextTick(session)
  }

  /** Stays, and does nothing. */
  idle(): void {
    this.isAwake = false
    this.#session++
  }

  async freeze(): Promise<void> {
    if (this.#answeredForRole) this.world.saw('A4')
    await this.act(
      'freezes',
      () => this.mailbox.leave({ frozen: true }),
      () => this.#isGone('frozen'),
    )
    await this.#endProcess()
  }

  async leave(): Promise<void> {
    if (this.#answeredForRole) this.world.saw('A4')
    await this.act(
      'leaves',
      () => this.mailbox.leave(),
      () => this.#isGone('left'),
    )
    await this.#endProcess()
    this.#forget()
  }

  /** kill -9. Where nobody can see a process, nobody can see this either. */
  async crash(): Promise<void> {
    const { world, name } = this
    const hasRead = [...world.facts.letters.values()].some(({ copies }) => {
      const copy = copies.get(name)
      return copy !== undefined && copy.readers.length > 0 && !copy.isSettled
    })
    if (hasRead) world.saw('A19')
    world.note(`${name} crashes${this.#sleeper === undefined ? ', unseen' : ''}`)
    if (this.#sleeper === undefined) this.idle()
    else {
      await this.#endProcess()
      this.#isGone('crashed')
    }
    this.#forget()
  }

  #isGone(how: 'frozen' | 'crashed' | 'left'): void {
    this.world.team.went(this.name, how)
    // Who is only frozen may find its work where it left it, or with somebody else.
    if (how !== 'frozen') this.world.facts.gone(this.name)
    this.idle()
    this.#answeredForRole = false
  }

  #forget(): void {
    this.#plans = []
    this.#queue = []
    this.#work = undefined
    this.#known.clear()
  }

  async #endProcess(): Promise<void> {
    await this.#sleeper?.kill()
    this.#sleeper = undefined
  }

  /** At the end of a run: no process stays behind. */
  end = (): Promise<void> => this.#endProcess()

  // A turn

  #nextTick(session: number): void {
    this.world.agenda.after(this.random.between(...this.#pace) * minute, () => this.#tick(session))
  }

  async #tick(session: number): Promise<void> {
    if (session !== this.#session || !this.isAwake) return
    await this.#lookIn(this.isBusy ? 'tool' : this.random.happens(0.6) ? 'prompt' : 'stop')
    await this.#goOn(session)
    if (session === this.#session) this.#nextTick(session)
  }

  /** Does what it had planned for now, and goes on with its work. */
  async #goOn(session: number): Promise<void> {
    const now = this.world.now()
    for (const plan of this.#plans.filter(({ at }) => at <= now)) {
      if (session !== this.#session) return
      this.#plans.splice(this.#plans.indexOf(plan), 1)
      await plan.what()
    }
    if (session !== this.#session) return
    if (this.#work !== undefined && now >= this.#work.until) await this.#finish(this.#work.letter)
    else if (this.#work === undefined && this.#queue.length > 0) await this.#start(this.#queue.shift()!)
  }

  later(from: number, to: number, what: () => Promise<void>): void {
    this.#plans.push({ at: this.world.now() + this.random.between(from, to) * minute, what })
  }

  /** Reads its mail, and decides what to do about it. */
  async #lookIn(moment: Moment): Promise<void> {
    if (this.random.happens(0.06)) await this.#answerUnread()
    for (const letter of await this.look(moment)) this.#react(letter)
  }

  /** Takes what is there for it. Returns the letters; notices are only read. */
  async look(moment: Moment): Promise<Letter[]> {
    const { world, name } = this
    let letters: Letter[] = []
    if (world.mode === 'hooks' && name !== 'user') {
      // A hook is a process of its own, and so is every command after it.
      this.mailbox = await world.space.mailbox(name, { join: false })
      await this.act(
        `is briefed: ${moment}`,
        () => brief(this.mailbox, moment),
        ({ text, ids }) => {
          this.#checkBriefing(text, moment)
          letters = world.shown(name, ids)
        },
      )
    } else {
      await this.act(
        'checks',
        () => this.mailbox.check(),
        ({ messages }) => {
          letters = world.shown(
            name,
            messages.map(({ id }) => id),
          )
        },
      )
    }
    return letters
  }

  /** A briefing names each message once, and calls only that in hand which still is. */
  #checkBriefing(text: string, moment: Moment): void {
    const { world, name } = this
    const labelOf = (id: string) => `${world.labelOf(id) ?? id} to ${name}`
    const named = [...text.matchAll(/^Message (\S+) from (?:another|the) /gm)].map((match) => match[1]!)
    for (const id of new Set(named.filter((one, at) => named.indexOf(one) < at)))
      world.fault('briefed', 'named twice', labelOf(id))
    const inHand = [...text.matchAll(/^You are working on this[^\n]*\nMessage (\S+) from/gm)]
    for (const [, id = ''] of inHand) {
      const letter = world.facts.letters.get(id)
      const copy = letter === undefined ? undefined : world.facts.copyFor(letter, name)
      const isDone = copy?.isSettled ?? letter?.kind === undefined
      if (isDone) world.fault('briefed', 'called in hand, and nothing is left to do', labelOf(id))
    }
    if (moment === 'start' && /^## Still open/m.test(text)) world.saw('E17')
    if (moment === 'tool' && this.#work?.letter.role !== undefined) world.saw('E13')
  }

  /** A new session asks what is still open. */
  async #recall(): Promise<void> {
    const owed = (await this.act('looks at what it owes', () => this.mailbox.owed())) ?? []
    for (const { id, kind } of owed) {
      const letter = this.world.facts.letters.get(id)
      if (letter === undefined || this.#known.has(id)) continue
      const copy = this.world.facts.copyFor(letter, this.name)
      // What nobody has taken from the role is still to be handed out.
      if (copy === undefined || copy.readers.every(({ by }) => by !== this.name)) continue
      if (kind === 'ack' && letter.kind !== undefined) continue
      this.#react(letter)
    }
  }

  /** Answers something out of the list of unread mail, as one does from a console. */
  async #answerUnread(): Promise<void> {
    const { messages } = await this.mailbox.inbox({ unread: true, limit: 50 })
    const letter = messages
      .map(({ id }) => this.world.facts.letters.get(id))
      .find((one) => one?.kind === 'question' || one?.kind === 'plan')
    if (letter === undefined) return
    this.world.saw('A3')
    this.#known.add(letter.id)
    await (letter.kind === 'plan' ? this.#decide(letter) : this.#reply(letter))
  }

  // What it does about mail

  #react(letter: Letter): void {
    const { random } = this
    const { message, kind, requiresAck, id } = letter
    const isFresh = !this.#known.has(id)
    this.#known.add(id)
    if (message.type === 'plan_approval') this.#heed(letter)
    if (message.type === 'status_update') this.#hear(letter)
    if (requiresAck && kind !== 'task') this.#planAck(letter)
    if (!isFresh) return
    if (kind === 'question') {
      // In a group everybody waits for the others.
      if (random.happens(letter.members.length > 0 ? 0.8 : 0.1)) return
      this.#inAWhile(1, this.name === 'user' ? 90 : 50, () => this.#answer(letter))
    } else if (kind === 'plan') this.#inAWhile(3, 75, () => this.#decide(letter))
    else if (kind === 'status') this.#inAWhile(0, 8, () => this.#report(letter))
    else if (kind === 'shutdown') this.later(0, 3, () => this.#stop(letter))
    else if (kind === 'task') {
      if (requiresAck && random.happens(0.5)) this.#planAck(letter)
      this.#queue.push(letter)
    } else if (message.replyTo === undefined && random.happens(message.priority === 'urgent' ? 0.4 : 0.12))
      this.later(1, 20, () => this.#reply(letter))
  }

  /** Mostly soon; sometimes there is something else to do first. */
  #inAWhile(from: number, to: number, what: () => Promise<void>): void {
    if (this.random.happens(0.8)) this.later(from, to, what)
    else this.later(60, 240, what)
  }

  #planAck(letter: Letter): void {
    const how = this.random.next()
    if (how < 0.12) return // It forgets.
    const [from, to] = how < 0.7 ? [0, 2] : [4, 40]
    this.later(from, to, async () => {
      const way = this.random.next()
      if (way < 0.7)
        await this.act(
          `acks ${letter.id}`,
          () => this.mailbox.ack(letter.id),
          this.world.acted('ack', letter, this.name),
        )
      else {
        this.world.saw('A2')
        const type = way < 0.85 ? { type: 'ack' } : {}
        await this.act(`acks ${letter.id} by a message`, () =>
          this.mailbox.reply(letter.id, { body: 'Got it.', ...type }),
        )
      }
    })
  }

  async #reply(letter: Letter): Promise<void> {
    if (letter.message.priority === 'urgent') this.world.saw('E19')
    if (letter.role !== undefined) {
      this.#answeredForRole = true
      if (letter.isUrgent) this.world.saw('A1')
    }
    await this.act(`replies to ${letter.id}`, () =>
      this.mailbox.reply(letter.id, { body: 'Yes, like this.' }),
    )
  }

  async #answer(letter: Letter): Promise<void> {
    const { id, matter } = letter
    if (matter?.state !== 'open') return
    const way = this.random.next()
    if (way < 0.86) return this.#reply(letter)
    if (way < 0.95) {
      const done = () => this.mailbox.done(id, { note: 'It is as you thought.' })
      await this.act(`closes ${id} with an answer`, done, this.world.acted('done', letter, this.name, true))
    } else {
      const fail = () => this.mailbox.fail(id, { reason: 'I do not know' })
      await this.act(`cannot answer ${id}`, fail, this.world.acted('fail', letter, this.name, true))
    }
  }

  async #decide(letter: Letter): Promise<void> {
    const { id, matter } = letter
    if (matter?.state !== 'open') return
    if (this.random.happens(0.25))
      await this.act(`rejects ${id}`, () => rejectPlan(this.mailbox, id, { feedback: 'Smaller steps.' }))
    else await this.act(`approves ${id}`, () => approvePlan(this.mailbox, id))
  }

  async #report({ id, matter }: Letter): Promise<void> {
    if (matter?.state !== 'open') return
    const status = this.isBusy ? 'working' : 'idle'
    await this.act(`answers ${id}`, () => respondStatus(this.mailbox, id, { status }))
  }

  async #stop(letter: Letter): Promise<void> {
    const { id, matter, run } = letter
    if ((matter?.state !== 'open' && matter?.state !== 'deferred') || run !== this.member?.run) return
    if (this.isBusy) {
      if (matter.state === 'open') {
        this.world.saw('E8')
        await this.act(`defers ${id}`, () =>
          deferShutdown(this.mailbox, id, { reason: 'Finishing my work.' }),
        )
      }
      this.later(15, 20, () => this.#stop(letter))
      return
    }
    const accepted = await this.act(`accepts ${id}`, () => acceptShutdown(this.mailbox, id))
    if (accepted === undefined) return
    await (this.random.happens(0.75) ? this.freeze() : this.leave())
  }

  /** A verdict on its plan: after a rejection it tries again. */
  #heed({ message }: Letter): void {
    const { approved } = message.payload as { approved?: boolean }
    const plan = this.world.facts.letters.get(message.replyTo ?? '')
    if (approved === true || plan === undefined || plan.from !== this.name) return
    const { taskId } = plan.message.payload as { taskId?: string }
    this.later(8, 50, async () => {
      const to = plan.message.to[0]!
      const input = {
        to,
        subject: `${plan.message.subject}, smaller`,
        body: 'First the lexer.',
        revises: plan.id,
      }
      await this.act(`revises ${plan.id}`, () =>
        submitPlan(this.mailbox, { ...input, ...(taskId === undefined ? {} : { taskId }) }),
      )
    })
  }

  /** Work that it gave somebody has failed: often it gives it to another. */
  #hear({ message }: Letter): void {
    const { taskId, status } = (message.payload ?? {}) as { taskId?: string; status?: string }
    if (status !== 'failed' || taskId === undefined || !this.random.happens(0.6)) return
    const others = this.world.team.holdersOf('role:worker').filter(({ name }) => name !== message.from)
    const to = this.random.pick(others).name
    this.later(2, 30, async () => {
      await this.act(`assigns ${taskId} again`, () =>
        assignTask(this.mailbox, { to, subject: `Again: ${taskId}`, taskId }),
      )
    })
  }

  // Work

  /** Whether it is its own to work on. */
  #has(letter: Letter): boolean {
    const { facts, leaseMs } = this.world
    const copy = facts.copyFor(letter, this.name)
    if (letter.role === undefined || copy === undefined) return letter.role === undefined
    return copy.holder?.name === this.name && facts.isInHand(copy, leaseMs)
  }

  async #start(letter: Letter): Promise<void> {
    const { world, name, random } = this
    const { id, matter } = letter
    if (matter?.state !== 'open') return
    const isMine = this.#has(letter)
    const started = await this.act(
      `starts ${id}`,
      () => this.mailbox.start(id),
      world.acted('start', letter, name),
    )
    if (started === undefined) {
      if (isMine) world.fault('refused', 'start', `${letter.label} to ${name}`)
      return
    }
    const length = random.between(20, 180)
    this.#work = { letter, until: world.now() + length * minute }
    const subject = `How to do ${letter.message.subject}`.slice(0, 80)
    const { taskId } = letter
    if (random.happens(0.2))
      this.later(1, length / 2, async () => {
        const to = random.happens(0.7) ? { to: 'role:lead' } : { to: 'user' }
        const input = { ...to, subject, body: 'In two steps.', ...(taskId === undefined ? {} : { taskId }) }
        await this.act('submits a plan', () => submitPlan(this.mailbox, input))
      })
    else if (random.happens(0.15))
      this.later(1, length / 2, async () => {
        await this.act('asks for help', () => askForHelp(this.mailbox, { body: 'Which port?', subject }))
      })
  }

  async #finish(letter: Letter): Promise<void> {
    const { world, name, mailbox, random } = this
    this.#work = undefined
    const { id, taskId, from, matter } = letter
    if (matter?.state !== 'open') return
    const isMine = this.#has(letter)
    const way = random.next()
    let outcome: unknown
    if (way < 0.13) {
      world.saw('E3')
      const fail = () => mailbox.fail(id, { reason: 'the tests do not pass' })
      outcome = await this.act(`fails ${id}`, fail, world.acted('fail', letter, name, true))
    } else if (way < 0.22 && taskId !== undefined) {
      outcome = await this.act(`reports ${id} as completed`, () =>
        updateStatus(mailbox, { to: from, taskId, status: 'completed' }),
      )
      if (outcome !== undefined && taskId !== id) return
      outcome ??= await this.act(`finishes ${id}`, () => mailbox.done(id), world.acted('done', letter, name))
    } else {
      if (letter.message.type === 'handoff') world.saw('A6')
      const hasNote = way < 0.9
      const done = () => mailbox.done(id, hasNote ? { note: 'All built, the tests pass.' } : {})
      outcome = await this.act(`finishes ${id}`, done, world.acted('done', letter, name, hasNote))
    }
    if (outcome === undefined && isMine) world.fault('refused', 'finish', `${letter.label} to ${name}`)
  }
}
