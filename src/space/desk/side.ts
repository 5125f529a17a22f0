import { pause } from '../../base/timers.ts'
import { type Hello, helloWith } from '../../desk/hello.ts'
import { DeskLink, type Question, type Reply } from '../../desk/link.ts'
import { lockPath, makeDeskDir } from '../../desk/place.ts'
import { DeskServer } from '../../desk/serve.ts'
import { WriterLock } from '../../journal/file/lock.ts'
import type { Mark } from '../../model/directory.ts'
import { journalFormat } from '../../model/entry.ts'
import type { SendInput } from '../../model/fields.ts'
import type { SpaceCore } from '../core.ts'
import { runDueEvery } from '../due.ts'
import type { SentMessage } from '../mailbox/api.ts'
import { configText } from '../settings.ts'
import { configDir } from '../trust.ts'
import { type BellState, Bells } from './bells.ts'
import { handle } from './handle.ts'
import { type Direct, sendThrough } from './send-through.ts'

/** A process that stays this long takes part: it can become the desk. */
const staysAfterMs = 1_000
/** It takes on what can be done by any such process after this long: most commands that wait have ended by then. */
const meanwhileAfterMs = 3_000
/** How long a desk is left alone after it did not answer in time: longer each time. */
const leaveAloneMs = 1_000
const leaveAloneAtMostMs = 60_000
/** How long to wait before trying for the lock again: a new desk is not there at once, and some can be none. */
const soonMs = 20
const laterMs = 5_000
/** What this process wrote within this time shows that it writes. */
const latelyMs = 50

/**
 * How a process has to do with the desk of a space: it is the desk, or asks it, or does without. The desk is a
 * process that stays and happens to be there. It decides and writes for the others, so that many sends share one
 * look at the journal and one sync. Nothing depends on it: whoever is in doubt writes by itself, and the lock of
 * the journal decides between them.
 */
export class DeskSide {
  readonly #core: SpaceCore
  readonly #file: string | undefined
  readonly #ending = new AbortController()
  #resigning = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #server: DeskServer | undefined
  /** What the program around the space does for as long as it stays, such as running bridges. */
  meanwhile: ((signal: AbortSignal) => Promise<void>) | undefined
  #doing: Promise<void> | undefined
  /** While this process is the desk. */
  bells: Bells | undefined
  /** To the desk, once it has greeted us. */
  #link: DeskLink | undefined
  #misses = 0
  #missedAt = Number.NEGATIVE_INFINITY
  #leftAloneUntil = Number.NEGATIVE_INFINITY
  /** The seq of what the desk wrote last for this process. */
  #lastSeq = 0
  /** When the desk last said that nobody else writes. */
  #aloneAt = Number.NEGATIVE_INFINITY
  /** When this process last wrote while it was the desk. */
  #wroteAt = Number.NEGATIVE_INFINITY

  /** `file`: the text of `config.json` that the settings come from; undefined if others were passed. */
  constructor(core: SpaceCore, file: string | undefined) {
    this.#core = core
    this.#file = file
  }

  /** Takes part from then on, if the process is still there after a while. */
  stay(): void {
    const { signal } = this.#ending
    if (signal.aborted) return
    this.#timer ??= setTimeout(() => this.takePart(), staysAfterMs).unref()
    this.#doing ??= pause(meanwhileAfterMs, signal, false)
      .then(() => (signal.aborted ? undefined : this.meanwhile?.(signal)))
      .catch(() => {})
  }

  get isDesk(): boolean {
    return this.#server !== undefined
  }

  get knowsDesk(): boolean {
    return this.#link !== undefined
  }

  /** Becomes the desk, now or when the present one ends, and asks it until then. */
  takePart(): void {
    clearTimeout(this.#timer)
    if (!this.#ending.signal.aborted) this.#running ??= this.#run().catch(() => {})
  }

  /** Sends through the desk if that is of use, and otherwise, or in doubt, directly. */
  async send(name: string, input: SendInput, direct: Direct): Promise<SentMessage> {
    if (this.#server !== undefined) this.#wroteAt = performance.now()
    const link = this.#linkIfWanted()
    if (link === undefined) return direct()
    const chosen = { id: this.#core.newId(), since: this.#mark() }
    return sendThrough((question) => this.#ask(link, question), name, input, chosen, direct)
  }

  /** The desk's last answer may be further than this process has followed the journal. */
  #mark(): Mark {
    const { directory, seq } = this.#core.mark()
    return { directory, seq: Math.max(seq, this.#lastSeq) }
  }

  async #ask(link: DeskLink, question: Question): Promise<Reply<SentMessage>> {
    const reply = await link.ask<SentMessage>(question)
    if (reply === undefined) this.#missed()
    else this.#misses = 0
    if (reply?.alone) this.#aloneAt = performance.now()
    this.#lastSeq = reply?.value.seq ?? this.#lastSeq
    return reply
  }

  /** The bell of an agent, from the desk; undefined if there is none. */
  async bellOf(name: string): Promise<BellState | undefined> {
    if (this.bells !== undefined) return this.bells.of(name)
    if (this.#core.journal.isElsewhere) return undefined
    const link = this.#link ?? new DeskLink(this.#core.dir, this.hello)
    try {
      return (await link.ask<BellState>({ verb: 'bell', by: { name, pid: process.pid }, args: [] }))?.value
    } finally {
      if (link !== this.#link) link.close()
    }
  }

  /** Has the desk do what is due. False if nobody is known to do it. */
  async hasDueDone(): Promise<boolean> {
    return (await this.#link?.ask({ verb: 'due', args: [] })) !== undefined
  }

  /** A process that finds nobody else at the lock is faster without a desk, unless it needs a connection for that. */
  #linkIfWanted(): DeskLink | undefined {
    const { contendedAt, isElsewhere } = this.#core.journal
    if (contendedAt <= this.#aloneAt && !isElsewhere) return undefined
    if (this.#running === undefined && contendedAt > 0) this.takePart()
    // One that answers late is slow and not stopped.
    const isAtWork = performance.now() > this.#leftAloneUntil || (this.#link?.lateAt ?? 0) > this.#missedAt
    return isAtWork ? this.#link : undefined
  }

  #missed(): void {
    const ms = Math.min(leaveAloneAtMostMs, leaveAloneMs * 2 ** this.#misses++)
    this.#missedAt = performance.now()
    this.#leftAloneUntil = this.#missedAt + ms
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    const { dir } = this.#core
    makeDeskDir(dir)
    const lock = new WriterLock(lockPath(dir))
    try {
      while (!signal.aborted) {
        const wasDesk = this.#isCurrent() && (await lock.tryWith(() => this.#serve())) !== undefined
        const wasThere = wasDesk || (await this.#follow())
        await pause(wasThere ? soonMs * Math.random() : laterMs, signal, false)
      }
    } finally {
      lock.close()
    }
  }

  /** Whether the settings of this process are those of the space now. */
  #isCurrent(): boolean {
    return this.#file === undefined || this.#file === configText(this.#core.dir)
  }

  /** How this process introduces itself. */
  get hello(): Hello {
    const inEffect = JSON.stringify(this.#core.settings)
    return helloWith(configDir(process.env), journalFormat, { inEffect }, this.#core.journal.address)
  }

  #fits({ settings, ...hello }: Hello): boolean {
    if (!this.#isCurrent()) this.#resigning.abort()
    const { settings: own, ...rest } = this.hello
    const isSame =
      'file' in settings ? settings.file === this.#file : JSON.stringify(settings) === JSON.stringify(own)
    return isSame && JSON.stringify(hello) === JSON.stringify(rest)
  }

  /** Is the desk until it ends, or its settings are not those of the space any more. */
  async #serve(): Promise<void> {
    this.#resigning = new AbortController()
    const signal = AbortSignal.any([this.#ending.signal, this.#resigning.signal])
    const server = new DeskServer({
      space: this.#core.dir,
      greet: (hello) =>
        this.#fits(hello) ? { seq: this.#core.mark().seq, now: this.#core.now() } : undefined,
      handle: (ask) => handle(this.#core, ask),
      isBusy: () => performance.now() - Math.max(this.#wroteAt, this.#core.journal.contendedAt) < latelyMs,
    })
    await server.open()
    this.#server = server
    const keeper = runDueEvery(this.#core)
    // What other machines write rings no bell.
    if (!this.#core.journal.isElsewhere) this.bells = new Bells(this.#core)
    try {
      while (!signal.aborted && this.#isCurrent()) await pause(laterMs, signal, false)
    } finally {
      keeper.stop()
      this.bells?.close()
      this.bells = undefined
      this.#server = undefined
      await server.close()
    }
  }

  /** Stays in touch with the desk until it ends. Returns false if there is none, or not for us. */
  async #follow(): Promise<boolean> {
    const { signal } = this.#ending
    const link = new DeskLink(this.#core.dir, this.hello)
    const leave = () => link.close()
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    try {
      const isGreeted = (await link.greeting) !== undefined
      if (isGreeted) {
        this.#link = link
        this.#misses = 0
        this.#leftAloneUntil = Number.NEGATIVE_INFINITY
      }
      await link.ended
      return isGreeted
    } finally {
      this.#link = undefined
      signal.removeEventListener('abort', leave)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#ending.abort()
    await this.#running
    await this.#doing
  }
}
