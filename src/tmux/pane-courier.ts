import { randomBytes } from 'node:crypto'
import { writeFileAtomically } from '../base/files.ts'
import { typeOf } from '../conversation/registry.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { type Courier, type Desk, idle, Steps, type Turn, underway, waiting } from './courier.ts'
import { type Front, lookAtFront } from './pane-state.ts'
import { inputOf, isBeforeCursor, isOnScreen } from './screen.ts'
import type { Attempt, PanePlace, Registration } from './store.ts'
import { type Guard, type Look, Tmux } from './tmux.ts'
import { noticeFor, wordsFor } from './typed-text.ts'

const defaultQuietMs = 500
/** How long a text that tmux has pasted may stay unseen before that is called a failure. */
const defaultSeenMs = 30_000
/** How long a text may need to come out at whatever has taken the place of the program it was for. */
const surfaceMs = 2_000
const sureMs = 400
const drawnMs = 500
/** How long an Enter may take to be seen, and how often it is pressed. */
const confirmMs = 2_000
const mostEnters = 3
/** How many messages one notice speaks of at most. */
const noticesAtOnce = 50

const changing = 'the screen is still changing'

/** Another program may come to the front, one that is talked to. */
const toldOf: Turn = { doing: 'told of its mail', againMs: 2_000 }

/**
 * Types one agent's mail into its pane, one message after another:
 *
 * intent written down, `notified` -> pasted, if the pane is as it was (the server checks) -> seen on the
 * screen -> Enter, under the same check -> `shown`
 *
 * The tmux server notes what it has pasted and entered under the token of the attempt. So a watcher can be
 * killed between any two steps: the next one finds the intent, asks the server, and goes on from there.
 * What was pasted is never pasted again.
 */
export class PaneCourier implements Courier {
  readonly registration: Registration
  readonly #steps: Steps
  readonly #tmux: Tmux
  readonly #place: PanePlace
  readonly #prompt: RegExp | undefined
  #isTaken = false
  /** The screen as it was, and since when it is so. */
  #screen = { text: '', sinceMs: 0 }
  /** How far the attempt with this token has come, by this process's own clock. */
  #token: string | undefined
  #typedSinceMs: number | undefined
  #seenSinceMs: number | undefined
  #otherSinceMs: number | undefined
  #entered = { times: 0, atMs: 0 }

  constructor(desk: Desk, registration: Registration, place: PanePlace) {
    this.registration = registration
    this.#steps = new Steps(desk, registration.agent)
    this.#place = place
    this.#tmux = new Tmux(place.socket)
    // The whole line must be the prompt: whatever is typed behind it is somebody's half a line.
    this.#prompt =
      registration.prompt === undefined ? undefined : new RegExp(`^(?:${registration.prompt})$`, 'u')
  }

  async turn(unread: readonly InboxMessage[]): Promise<Turn> {
    const { store } = this.#steps.desk
    const attempt = store.attempt(this.registration.agent)
    if (attempt?.token !== this.#token) this.#forgetProgress(attempt?.token)
    if (attempt === undefined && unread.length === 0) return idle
    const front = await this.#front()
    // Whatever was typed there has gone with the program.
    if (front === undefined) {
      if (attempt !== undefined) await this.#steps.skip(attempt, 'its pane is gone')
      return waiting(`the pane ${this.#place.pane} is gone: mailbox tmux attach ${this.registration.agent}`)
    }
    if (attempt === undefined) return this.#begin(front, unread)
    if (attempt.place?.panePid !== this.#place.panePid || attempt.place.socket !== this.#place.socket) {
      await this.#steps.skip(attempt, 'the agent has another pane now')
      return underway('begins anew')
    }
    if (front.look.entered === attempt.token) return this.#confirm(attempt, front)
    if (front.look.typed === attempt.token) return this.#goOn(attempt, front)
    return this.#tryAgain(attempt, front, unread)
  }

  /** What was seen of one attempt says nothing about the next. */
  #forgetProgress(token: string | undefined): void {
    this.#token = token
    this.#typedSinceMs = undefined
    this.#seenSinceMs = undefined
    this.#otherSinceMs = undefined
    this.#entered = { times: 0, atMs: performance.now() }
  }

  async #front(): Promise<Front | undefined> {
    const { epoch } = this.#steps.desk
    if (!this.#isTaken) {
      await this.#tmux.take(this.#place.pane, epoch)
      this.#isTaken = true
    }
    const front = await lookAtFront(this.#tmux, this.#place, this.registration.program, epoch)
    if (front !== undefined) this.#watchScreen(front.look)
    return front
  }

  #watchScreen({ rows, cursor }: Look): void {
    const text = JSON.stringify([rows, cursor])
    if (text !== this.#screen.text) this.#screen = { text, sinceMs: performance.now() }
  }

  get #isQuiet(): boolean {
    return performance.now() - this.#screen.sinceMs >= (this.registration.quietMs ?? defaultQuietMs)
  }

  async #begin(front: Front, unread: readonly InboxMessage[]): Promise<Turn> {
    const isNotice = front.program.takes === 'commands'
    // Whoever was told and has not looked is not told again. For mail of a role no receipt says so.
    const told = isNotice ? this.#steps.desk.store.told(this.registration.agent) : []
    const next = isNotice
      ? unread.filter(({ id, state }) => state === 'stored' && !told.includes(id)).slice(0, noticesAtOnce)
      : [unread.find(isEmergency) ?? unread[0]!]
    if (next.length === 0) return toldOf
    const token = randomBytes(6).toString('hex')
    const attempt: Attempt = {
      token,
      ids: next.map(({ id }) => id),
      isRole: next[0]!.role !== undefined,
      at: this.#steps.desk.space.now(),
      place: this.#place,
      ...(isNotice ? { isNotice } : {}),
      ...(!isNotice && isEmergency(next[0]!) ? { atOnce: true } : {}),
    }
    const wait = this.#mustWait(front, attempt, next[0]!.priority === 'urgent')
    if (wait !== undefined) return this.#wait(wait)
    const { comment } = front.program
    const { text, end } = isNotice
      ? noticeFor(next, { agent: this.registration.agent, comment, token })
      : wordsFor(next[0]!, { ...this.registration, token, comment })
    writeFileAtomically(this.#steps.desk.store.file(this.registration.agent, 'text'), text, { durable: true })
    const intended = { ...attempt, end }
    if (!(await this.#steps.intend(intended))) return waiting('somebody else has taken it')
    return this.#paste(intended, front)
  }

  /** What has to happen first. Emergencies wait for no prompt, but even they are not put into half a line. */
  #mustWait({ obstacle, look, program }: Front, { atOnce }: Attempt, isUrgent: boolean): string | undefined {
    if (obstacle !== undefined) return obstacle
    const input = inputOf(look, program, this.#prompt)
    if (input === 'half-typed') return 'somebody is typing'
    if (atOnce) return undefined
    if (input === 'busy') return 'the program is busy'
    return isUrgent || this.#isQuiet ? undefined : changing
  }

  /** The next look is worth it when the screen may have been quiet for long enough. */
  #wait(doing: string): Turn {
    if (doing !== changing) return waiting(doing)
    const quietMs = this.registration.quietMs ?? defaultQuietMs
    return { doing, againMs: Math.max(10, this.#screen.sinceMs + quietMs - performance.now()) }
  }

  async #paste(attempt: Attempt, front: Front): Promise<Turn> {
    const file = this.#steps.desk.store.file(this.registration.agent, 'text')
    const done = await this.#tmux.paste(
      this.#place.pane,
      attempt.token,
      file,
      this.#guard(attempt, front.look),
    )
    if (!done) return underway('something changed in the last moment')
    this.#steps.desk.tell({ event: 'typed', agent: this.registration.agent, ids: attempt.ids })
    return underway('typed; waits to see it')
  }

  #guard({ atOnce }: Attempt, look: Look): Guard {
    return { epoch: this.#steps.desk.epoch, look, cursorStands: atOnce !== true }
  }

  /** Intended, and not pasted: a predecessor was killed, or somebody touched the pane in the last moment. */
  async #tryAgain(attempt: Attempt, front: Front, unread: readonly InboxMessage[]): Promise<Turn> {
    const isStale =
      (!attempt.atOnce && unread.some(isEmergency)) ||
      (front.program.takes === 'commands') !== (attempt.isNotice ?? false) ||
      (!attempt.isRole && !attempt.ids.every((id) => unread.some((message) => message.id === id)))
    if (isStale) {
      await this.#steps.skip(attempt, 'it was read, or something else comes first now')
      return underway('begins anew')
    }
    const isUrgent = unread.find(({ id }) => id === attempt.ids[0])?.priority === 'urgent'
    const wait = this.#mustWait(front, attempt, isUrgent)
    if (wait !== undefined) return this.#wait(wait)
    // A predecessor may have been killed before it said that it would.
    if (!(await this.#steps.intend(attempt))) return waiting('somebody else has taken it')
    return this.#paste(attempt, front)
  }

  /** Pasted, and not entered. */
  async #goOn(attempt: Attempt, front: Front): Promise<Turn> {
    const { look, program, obstacle, isOther } = front
    const end = attempt.end!
    this.#typedSinceMs ??= performance.now()
    const waitedMs = performance.now() - this.#typedSinceMs
    const isSeen = isOnScreen(look, end, program.folded)
    if (isOther || look.isDead || (program.takes === 'commands') !== (attempt.isNotice ?? false))
      return this.#abandon(attempt, front)
    this.#otherSinceMs = undefined
    if (obstacle !== undefined) return waiting(obstacle)
    const isLast = isBeforeCursor(look, end, program.folded)
    // Somebody has pressed Enter before us: it is above an empty prompt.
    const isPast = isSeen && !isLast && inputOf(look, program, this.#prompt) === 'empty'
    // A program that draws in several steps may look so for a moment.
    if (isPast && this.#isQuiet && waitedMs > drawnMs) return this.#finish(attempt)
    const isBlind = look.cursor.isHidden && !program.keepsInput
    if (isSeen && (attempt.atOnce || isBlind || isLast)) {
      this.#seenSinceMs ??= performance.now()
      const pauseMs = program.pauseMs - (performance.now() - this.#seenSinceMs)
      if (pauseMs > 0) return { doing: 'typed; about to enter it', againMs: pauseMs }
      return this.#enter(attempt, front)
    }
    if (isSeen) return waiting('typed; somebody types behind it')
    const { seenMs = defaultSeenMs } = this.registration
    if (waitedMs < seenMs)
      return waitedMs < 1_000 ? underway('typed; waits to see it') : waiting('typed; is not to be seen')
    if (attempt.isNotice) {
      // Nothing is lost: the mail is unread as before, and was never to be seen here.
      this.#steps.desk.store.noteTold(this.registration.agent, attempt.ids)
      await this.#steps.skip(attempt, 'the notice was typed and not seen')
      return waiting('the notice was not seen')
    }
    // Typing it again could be typing it twice: the program may have it and not show it.
    const where = `pane ${this.#place.pane}`
    await this.#steps.fail(
      attempt,
      `It was typed into ${where} and not seen there within ${seenMs / 1_000} s.`,
    )
    return waiting('could not be seen')
  }

  async #enter(attempt: Attempt, { look, program }: Front): Promise<Turn> {
    const isDone = await this.#tmux.enter(this.#place.pane, attempt.token, this.#guard(attempt, look))
    if (!isDone) return underway('something changed in the last moment')
    this.#entered = { times: this.#entered.times + 1, atMs: performance.now() }
    return program.keepsInput ? underway('entered; waits to see that') : this.#finish(attempt)
  }

  /** Entered; where the input can be seen, it must be empty now or hold something else. */
  async #confirm(attempt: Attempt, front: Front): Promise<Turn> {
    const { look, program, obstacle } = front
    const isThere =
      isBeforeCursor(look, attempt.end!, program.folded) && inputOf(look, program, this.#prompt) !== 'empty'
    if (!program.keepsInput || !isThere || obstacle !== undefined) return this.#finish(attempt)
    if (performance.now() - this.#entered.atMs < confirmMs) return underway('entered; waits to see that')
    if (this.#entered.times < mostEnters) return this.#enter(attempt, front)
    await this.#steps.fail(
      attempt,
      `It was typed into pane ${this.#place.pane}, which does not take the Enter.`,
    )
    return waiting('could not be entered')
  }

  /**
   * The program went while our text was on its way. What a shell finds on its line then, and nobody has
   * entered, is taken away again. One look can err, so it takes some time to be sure.
   */
  async #abandon(attempt: Attempt, { look, program }: Front): Promise<Turn> {
    this.#otherSinceMs ??= performance.now()
    const sinceMs = performance.now() - this.#otherSinceMs
    const isLeftOver = program.takes === 'commands' && isBeforeCursor(look, attempt.end!)
    if (sinceMs > sureMs && isLeftOver && !look.isDead && !look.inMode)
      await this.#tmux.wipe(this.#place.pane, this.#guard(attempt, look))
    if (sinceMs < surfaceMs) return waiting('the program has gone')
    await this.#steps.skip(attempt, 'the program went before it could be entered')
    return underway('begins anew')
  }

  async #finish(attempt: Attempt): Promise<Turn> {
    const { agent, noAck } = this.registration
    if (attempt.isNotice) {
      this.#steps.desk.store.noteTold(agent, attempt.ids)
      this.#steps.desk.store.endAttempt(agent)
      this.#steps.desk.tell({ event: 'told', agent, ids: attempt.ids, note: this.#place.pane })
    } else {
      await this.#steps.shown(attempt, `pane ${this.#place.pane}`, noAck !== true)
    }
    return underway('delivered')
  }
}

const isEmergency = ({ type }: InboxMessage): boolean => typeOf(type)?.isEmergency ?? false
