import { writeFileAtomically } from '../base/files.ts'
import { typeOf } from '../conversation/registry.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { Courier, idle, type Turn, underway, type WatcherContext, waiting } from './courier.ts'
import { type PaneState, readPaneState } from './pane-state.ts'
import { inputOf, isBeforeCursor, isOnScreen, promptPattern } from './screen.ts'
import { type Attempt, newToken, type PanePlace, type Registration } from './store.ts'
import { type PaneSnapshot, Tmux, type TypeGuard } from './tmux.ts'
import { noticeFor, wordsFor } from './typed-text.ts'

const defaultQuietMs = 500
/** How long pasted text may stay unseen before the delivery fails. */
const defaultSeenMs = 30_000
/** How long the text may take to appear in the program that has replaced the intended one. */
const surfaceMs = 2_000
const sureMs = 400
const drawnMs = 500
/** How long an Enter may take to be seen, and how often it is pressed. */
const confirmMs = 2_000
const mostEnters = 3
/** How many messages one notice announces at most. */
const noticesAtOnce = 50

const changing = 'the screen is still changing'
const confirming = 'entered; waiting for confirmation'

/** A program that takes messages may come to the foreground. */
const toldOf: Turn = { doing: 'notified', againMs: 2_000 }

/**
 * Types one agent's mail into its pane, one message after another:
 *
 * intent recorded, `notified` -> pasted, if the pane is unchanged (the server checks) -> seen on the screen -> Enter,
 * under the same check -> `shown`
 *
 * The tmux server records what it has pasted and entered under the token of the attempt. So a watcher can be killed
 * between any two steps: the next one finds the intent, asks the server, and continues from there. Nothing is ever
 * pasted twice.
 */
export class PaneCourier extends Courier {
  readonly #tmux: Tmux
  readonly #place: PanePlace
  readonly #prompt: RegExp | undefined
  #isTaken = false
  /** The screen, and since when it has looked like this. */
  #screen = { text: '', sinceMs: 0 }
  /** The progress of the attempt with this token, by this process's own clock. */
  #token: string | undefined
  #typedSinceMs: number | undefined
  #seenSinceMs: number | undefined
  #otherSinceMs: number | undefined
  #entered = { times: 0, atMs: 0 }

  constructor(context: WatcherContext, registration: Registration, place: PanePlace) {
    super(context, registration)
    this.#place = place
    this.#tmux = new Tmux(place.socket)
    this.#prompt = promptPattern(registration.prompt)
  }

  async turn(unread: readonly InboxMessage[]): Promise<Turn> {
    const attempt = this.context.store.attempt(this.agent)
    if (attempt?.token !== this.#token) this.#forgetProgress(attempt?.token)
    if (attempt === undefined && unread.length === 0) return idle
    const front = await this.#front()
    // Whatever was typed is gone with the pane.
    if (front === undefined) {
      if (attempt !== undefined) await this.skip(attempt, 'its pane is gone')
      return waiting(`the pane ${this.#place.pane} is gone: mailbox tmux attach ${this.agent}`)
    }
    if (attempt === undefined) return this.#begin(front, unread)
    if (attempt.place?.panePid !== this.#place.panePid || attempt.place.socket !== this.#place.socket)
      return this.skip(attempt, 'the agent has another pane now')
    if (front.look.entered === attempt.token) return this.#confirm(attempt, front)
    if (front.look.typed === attempt.token) return this.#goOn(attempt, front)
    return this.#tryAgain(attempt, front, unread)
  }

  /** The progress of one attempt says nothing about the next. */
  #forgetProgress(token: string | undefined): void {
    this.#token = token
    this.#typedSinceMs = undefined
    this.#seenSinceMs = undefined
    this.#otherSinceMs = undefined
    this.#entered = { times: 0, atMs: performance.now() }
  }

  async #front(): Promise<PaneState | undefined> {
    const { epoch } = this.context
    if (!this.#isTaken) {
      await this.#tmux.take(this.#place.pane, epoch)
      this.#isTaken = true
    }
    const front = await readPaneState(this.#tmux, this.#place, this.registration.program, epoch)
    const text = JSON.stringify([front?.look.rows, front?.look.cursor])
    if (text !== this.#screen.text) this.#screen = { text, sinceMs: performance.now() }
    return front
  }

  get #textFile(): string {
    return this.context.store.file(this.agent, 'text')
  }

  get #isQuiet(): boolean {
    return performance.now() - this.#screen.sinceMs >= (this.registration.quietMs ?? defaultQuietMs)
  }

  async #begin(front: PaneState, unread: readonly InboxMessage[]): Promise<Turn> {
    const isNotice = front.program.takes === 'commands'
    // Announce each message once, even if it is not read. For mail to a role no receipt records that.
    const told = isNotice ? this.context.store.told(this.agent) : []
    const next = isNotice
      ? unread.filter(({ id, state }) => state === 'stored' && !told.includes(id)).slice(0, noticesAtOnce)
      : [unread.find(isEmergency) ?? unread[0]!]
    if (next.length === 0) return toldOf
    const token = newToken()
    const attempt: Attempt = {
      token,
      ids: next.map(({ id }) => id),
      isRole: next[0]!.role !== undefined,
      at: this.context.space.now(),
      place: this.#place,
      ...(isNotice ? { isNotice } : {}),
      ...(!isNotice && isEmergency(next[0]!) ? { atOnce: true } : {}),
    }
    const wait = this.#mustWait(front, attempt, next[0]!.priority === 'urgent')
    if (wait !== undefined) return this.#wait(wait)
    const { comment } = front.program
    const { text, end } = isNotice
      ? noticeFor(next, { agent: this.agent, comment, token })
      : wordsFor(next[0]!, { ...this.registration, token, comment })
    writeFileAtomically(this.#textFile, text)
    const intended = { ...attempt, end }
    if (!(await this.intend(intended))) return waiting('another agent has taken it')
    return this.#paste(intended, front)
  }

  /** What to wait for. Emergencies do not wait for a prompt, but never go into half-typed input either. */
  #mustWait(state: PaneState, { atOnce }: Attempt, isUrgent: boolean): string | undefined {
    const { obstacle, look, program } = state
    if (obstacle !== undefined) return obstacle
    const input = inputOf(look, program, this.#prompt)
    if (input === 'half-typed') return 'somebody is typing'
    if (atOnce) return undefined
    if (input === 'busy') return 'the program is busy'
    return isUrgent || this.#isQuiet ? undefined : changing
  }

  /** The next turn is due when the screen may have been quiet for long enough. */
  #wait(doing: string): Turn {
    if (doing !== changing) return waiting(doing)
    const quietMs = this.registration.quietMs ?? defaultQuietMs
    return { doing, againMs: Math.max(10, this.#screen.sinceMs + quietMs - performance.now()) }
  }

  async #paste(attempt: Attempt, { look }: PaneState): Promise<Turn> {
    const guard = this.#guard(attempt, look)
    const done = await this.#tmux.paste(this.#place.pane, attempt.token, this.#textFile, guard)
    if (!done) return underway('the pane changed at the last moment')
    this.context.tell({ event: 'typed', agent: this.agent, ids: attempt.ids })
    return underway('typed; waiting to see it')
  }

  #guard({ atOnce }: Attempt, look: PaneSnapshot): TypeGuard {
    return { epoch: this.context.epoch, look, cursorStands: atOnce !== true }
  }

  /** Recorded and not pasted: a watcher was killed, or the pane changed at the last moment. */
  async #tryAgain(attempt: Attempt, front: PaneState, unread: readonly InboxMessage[]): Promise<Turn> {
    const isStale =
      (!attempt.atOnce && unread.some(isEmergency)) ||
      (front.program.takes === 'commands') !== (attempt.isNotice ?? false) ||
      (!attempt.isRole && !attempt.ids.every((id) => unread.some((message) => message.id === id)))
    if (isStale) return this.skip(attempt, 'it was read, or something else comes first now')
    const isUrgent = unread.find(({ id }) => id === attempt.ids[0])?.priority === 'urgent'
    const wait = this.#mustWait(front, attempt, isUrgent)
    if (wait !== undefined) return this.#wait(wait)
    // An earlier watcher may have been killed before it recorded the receipt.
    if (!(await this.intend(attempt))) return waiting('another agent has taken it')
    return this.#paste(attempt, front)
  }

  /** Pasted and not entered. */
  async #goOn(attempt: Attempt, front: PaneState): Promise<Turn> {
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
    // The person has pressed Enter before us: the text is above an empty prompt.
    const isPast = isSeen && !isLast && inputOf(look, program, this.#prompt) === 'empty'
    // A program that draws in several steps may look like that for a moment.
    if (isPast && this.#isQuiet && waitedMs > drawnMs) return this.#finish(attempt)
    const isBlind = look.cursor.isHidden && !program.keepsInput
    if (isSeen && (attempt.atOnce || isBlind || isLast)) {
      this.#seenSinceMs ??= performance.now()
      const pauseMs = program.pauseMs - (performance.now() - this.#seenSinceMs)
      if (pauseMs > 0) return { doing: 'typed; about to press Enter', againMs: pauseMs }
      return this.#enter(attempt, front)
    }
    if (isSeen) return waiting('typed; somebody is typing after it')
    const { seenMs = defaultSeenMs } = this.registration
    if (waitedMs < seenMs)
      return waitedMs < 1_000 ? underway('typed; waiting to see it') : waiting('typed; not visible yet')
    if (attempt.isNotice) {
      // Nothing is lost: the mail is still unread, and this was only the notice.
      this.context.store.noteTold(this.agent, attempt.ids)
      await this.skip(attempt, 'the notice was typed but did not appear')
      return waiting('the notice did not appear')
    }
    // Not typed again: the program may have it without showing it.
    const reason = `but it did not appear there within ${seenMs / 1_000} s.`
    return this.#failTyped(attempt, reason, 'it did not appear')
  }

  async #enter(attempt: Attempt, { look, program }: PaneState): Promise<Turn> {
    const isDone = await this.#tmux.enter(this.#place.pane, attempt.token, this.#guard(attempt, look))
    if (!isDone) return underway('the pane changed at the last moment')
    this.#entered = { times: this.#entered.times + 1, atMs: performance.now() }
    return program.keepsInput ? underway(confirming) : this.#finish(attempt)
  }

  /** Entered. Where the input is visible, it must now be empty or contain something else. */
  async #confirm(attempt: Attempt, front: PaneState): Promise<Turn> {
    const { look, program, obstacle } = front
    const isThere =
      isBeforeCursor(look, attempt.end!, program.folded) && inputOf(look, program, this.#prompt) !== 'empty'
    if (!program.keepsInput || !isThere || obstacle !== undefined) return this.#finish(attempt)
    if (performance.now() - this.#entered.atMs < confirmMs) return underway(confirming)
    if (this.#entered.times < mostEnters) return this.#enter(attempt, front)
    return this.#failTyped(attempt, 'which does not accept Enter.', 'Enter was not accepted')
  }

  /**
   * The program exited while our text was on its way. If the text ends up on a shell's command line and nobody has
   * entered it, we delete it. A single snapshot can mislead, so we wait a little to be sure.
   */
  async #abandon(attempt: Attempt, { look, program }: PaneState): Promise<Turn> {
    this.#otherSinceMs ??= performance.now()
    const sinceMs = performance.now() - this.#otherSinceMs
    const isLeftOver = program.takes === 'commands' && isBeforeCursor(look, attempt.end!)
    if (sinceMs > sureMs && isLeftOver && !look.isDead && !look.inMode)
      await this.#tmux.wipe(this.#place.pane, this.#guard(attempt, look))
    if (sinceMs < surfaceMs) return waiting('the program has exited')
    return this.skip(attempt, 'the program exited before Enter was pressed')
  }

  async #failTyped(attempt: Attempt, reason: string, doing: string): Promise<Turn> {
    await this.fail(attempt, `It was typed into pane ${this.#place.pane}, ${reason}`)
    return waiting(doing)
  }

  async #finish(attempt: Attempt): Promise<Turn> {
    const { pane } = this.#place
    if (!attempt.isNotice) return this.shown(attempt, `pane ${pane}`)
    this.context.store.noteTold(this.agent, attempt.ids)
    this.end(attempt, 'told', pane)
    return underway('delivered')
  }
}

const isEmergency = ({ type }: InboxMessage): boolean => typeOf(type)?.isEmergency ?? false
