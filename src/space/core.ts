import { setMaxListeners } from 'node:events'
import type { Clock } from '../base/clock.ts'
import { MailboxError, typed, typedEach } from '../base/errors.ts'
import type { Context, LateDecision } from '../command/context.ts'
import type { View } from '../conversation/view.ts'
import { Bell } from '../delivery/bell.ts'
import { type FollowOptions, follow } from '../delivery/follow.ts'
import { loadDirectory, openIndex, openSearch, readDirectory } from '../index/open.ts'
import type { CatchUpOptions, Projection } from '../index/projection.ts'
import { shelters } from '../index/shelter.ts'
import { type LastSegment, lastSegment } from '../journal/file/segment.ts'
import {
  type Cursor,
  type DamagedLine,
  type Decided,
  type Journal,
  type PlacedEntry,
  startCursor,
} from '../journal/journal.ts'
import type { Agent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import type { Draft, Gist } from '../model/entry.ts'
import { createIdSource } from '../model/id.ts'
import type { Settings } from '../model/settings.ts'
import { currentKey } from '../query/keys.ts'
import type { Source } from '../query/message.ts'
import { createView } from '../query/view.ts'
import { IndexKeeper } from './index-keeper.ts'
import { Keyring } from './keyring.ts'

/** An index that is ahead of the directory by more than this is cheaper to load than to fold. */
const foldLimit = 2_000

/** What a decision looks at. The directory is in memory; bringing the index up to date takes longer. */
type Basis = 'directory' | 'index'

/**
 * The stations of a space on this disk: journal, index, and the directory that sends are decided on. The
 * space, its mailboxes and the rims that need more than the public API all stand on this one object.
 */
export class SpaceCore {
  readonly dir: string
  readonly settings: Settings
  /** Nothing is ever written. */
  readonly onlyLooks: boolean
  /** Whoever uses this space is told apart by other means, such as tokens: see acting.ts. */
  actsForAll = false
  readonly now: Clock
  readonly journal: Journal
  readonly index: Projection
  readonly words: Projection
  readonly keyring: Keyring
  readonly #source: Source
  readonly #keeper: IndexKeeper
  readonly #newId: () => string
  readonly #view: View
  #directory!: Directory
  /** Up to here at least. */
  #foldedTo: Cursor = startCursor
  #epoch = 0
  readonly #ending = new AbortController()
  /** Aborted when the space is closed. */
  readonly ending: AbortSignal = this.#ending.signal
  #closed = false

  /** `onlyLook`: nothing is written to its directory, not even what is derived. */
  constructor(dir: string, journal: Journal, settings: Settings, now: Clock, onlyLook = false) {
    this.dir = dir
    this.onlyLooks = onlyLook
    this.settings = settings
    this.now = now
    this.journal = journal
    this.index = openIndex(journal, shelters(dir, journal, onlyLook))
    this.words = openSearch(journal, shelters(dir, journal, onlyLook))
    this.#keeper = new IndexKeeper(dir, this.index)
    this.#source = { index: this.index, journal, damaged: new Map() }
    this.keyring = new Keyring(journal.space, process.env, (name) => currentKey(this.#source, name))
    this.#newId = createIdSource(now)
    // Everyone who waits listens for the end. There can be many, and none of them is a leak.
    setMaxListeners(0, this.ending)
    this.#view = createView(this.#source)
  }

  /** Entries of the index whose lines this process could not read, by their seq. */
  get damaged(): ReadonlyMap<number, DamagedLine> {
    return this.#source.damaged
  }

  get context(): Context {
    const context = { now: this.now(), newId: this.#newId, policy: this.settings }
    return this.endsNothing ? { ...context, endsBy: Number.NEGATIVE_INFINITY } : context
  }

  /**
   * The clock of this process is wrong, or it does not see what the others do: it does nothing that is due and takes
   * nobody's claim for over.
   */
  get endsNothing(): boolean {
    return this.now.doubt()?.who === 'process' || this.journal.cutOff !== undefined
  }

  /** Takes a decision with the exclusive right to append, and makes it durable. */
  decide<T>(on: Basis, decide: (view: View, context: Context) => LateDecision<T>): Promise<Decided<T>> {
    return typed(() => this.#decide(on, decide))
  }

  async #decide<T>(
    on: Basis,
    decide: (view: View, context: Context) => LateDecision<T>,
  ): Promise<Decided<T>> {
    this.mustBeOpen()
    if (this.journal.epoch !== this.#epoch) this.#startAgain()
    else if (this.index.cursor.seq > this.#directory.seq + foldLimit) this.#loadDirectory()
    const needsIndex = on === 'index'
    // What is caught up outside the lock keeps nobody waiting for it.
    if (needsIndex) this.index.catchUp()
    let decision: LateDecision<T> | undefined
    const placed = await this.journal.append(
      (tail) => {
        this.#fold(tail)
        this.#view.directory = this.#directory
        const { context } = this
        decision = needsIndex
          ? this.index.read(() => decide(this.#view, context))
          : decide(this.#view, context)
        return this.keyring.sign(decision.drafts, this.settings.require === 'signed')
      },
      { settled: needsIndex },
    )
    return { result: decision!.result, placed }
  }

  /** The same for a decision that has no result but its entries. */
  async record(on: Basis, decide: (view: View, context: Context) => Draft[]): Promise<PlacedEntry[]> {
    const decided = this.decide(on, (view, context) => ({ drafts: decide(view, context), result: undefined }))
    return (await decided).placed
  }

  /** Answers a question from one snapshot that has everything appended so far. */
  async query<T>(work: (source: Source) => T): Promise<T> {
    this.mustBeOpen()
    await this.journal.pull()
    return typed(() => this.index.read(() => work(this.#source)))
  }

  /** The same for a question about words, which reads both databases by itself. */
  async queryWords<T>(work: (source: Source, words: Projection) => T): Promise<T> {
    this.mustBeOpen()
    await this.journal.pull()
    return typed(() => work(this.#source, this.words))
  }

  /** What decisions are taken on, as it was at the snapshot that `source` belongs to. */
  viewOf(source: Source): View {
    const view = createView(source)
    view.directory = this.#directoryAt(this.index.cursor)
    return view
  }

  /** The agents as far as this process has followed the journal. Decisions look again. */
  get agents(): ReadonlyMap<string, Agent> {
    return this.#directory.agents
  }

  /** Every entry after a point, and then every new one, until the signal or the end of the space. */
  follow(options: FollowOptions = {}): AsyncGenerator<PlacedEntry> {
    this.mustBeOpen()
    const signal = options.signal ? AbortSignal.any([options.signal, this.ending]) : this.ending
    return typedEach(follow(this.journal, { ...options, signal, onDamaged: this.#noteDamaged }))
  }

  #noteDamaged = (line: DamagedLine): void => void this.#source.damaged.set(line.seq, line)

  /** Rings when something was appended, here or elsewhere. */
  bell(signal: AbortSignal | undefined): Bell {
    this.mustBeOpen()
    return new Bell(this.journal, signal, this.ending)
  }

  /** Runs `work` while nobody else writes to this space, for changes that are not entries. */
  exclusively<T>(work: () => T): T {
    this.mustBeOpen()
    return typed(() => this.journal.withLock(work))
  }

  /** Where the journal ends on disk, to notice later without opening the space whether something was appended. */
  lastSegment(): LastSegment {
    return lastSegment(this.dir)
  }

  /**
   * Runs `work` while nobody writes, with the seq of the last entry: what it sees of the journal's files is
   * whole, and whatever is written to them afterwards is written later.
   */
  async whileStill<T>(work: (seq: number) => T): Promise<T> {
    const { result } = await this.decide('directory', ({ directory }) => ({
      drafts: [],
      result: work(directory.seq),
    }))
    return result
  }

  /**
   * Removes or replaces files of the journal with the exclusive right to write. There is no index meanwhile, and
   * creating one takes the same right, so whoever needs it waits and builds it from what is there then.
   */
  changeSegments(work: () => void): void {
    this.journal.withLock(() => {
      this.index.discard()
      this.words.discard()
      work()
    })
  }

  /** Brings the index to the end of the journal and starts the directory from it. */
  async load(options: CatchUpOptions = {}): Promise<void> {
    await this.journal.pull()
    this.index.catchUp(options)
    this.#loadDirectory()
  }

  async rebuild(options: CatchUpOptions): Promise<void> {
    this.mustBeOpen()
    const { rebuild } = await import('../index/rebuild.ts')
    await typed(() => rebuild(this.dir, this.index, this.words, options))
    this.#loadDirectory()
  }

  /** A batch was written to the journal. */
  written = (): void => void (this.#closed || this.#keeper.written(this.#directory.seq))

  mustBeOpen(): void {
    if (this.#closed) throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
  }

  /** Waits for what is being written and closes every file. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#ending.abort()
    await this.#keeper.close()
    await this.journal.close()
    this.index.close()
    this.words.close()
  }

  get #loading() {
    return { countsSends: this.settings['limits.ratePerMinute'] > 0, now: this.now() }
  }

  /** Starts the directory from the index, and the journal's tail from where the index is. */
  #loadDirectory(): boolean {
    const { directory, cursor } = loadDirectory(this.index, this.#loading)
    const isSought = this.journal.seek(cursor)
    if (!isSought && this.#directory !== undefined) return false
    this.#directory = directory
    this.#foldedTo = cursor
    return isSought
  }

  /** What was known is not what is there. While appends are running, the next of them does this: see {@link #fold}. */
  #startAgain(): void {
    const { epoch } = this.journal
    this.index.catchUp()
    if (this.#loadDirectory()) this.#epoch = epoch
  }

  /** The directory at the end of the journal, which `cursor` is: what is missing in it is folded in. */
  #directoryAt(cursor: Cursor): Directory {
    const isUsable =
      this.journal.epoch === this.#epoch &&
      cursor.seq <= this.#directory.seq + foldLimit &&
      this.journal.fits(this.#foldedTo)
    if (!isUsable) {
      this.#directory = readDirectory(this.index, cursor, this.#loading)
      this.#epoch = this.journal.epoch
    }
    for (let from = this.#foldedTo; this.#directory.seq < cursor.seq; ) {
      const read = this.journal.read(from)
      if (read.entries.length === 0) break
      for (const { entry } of read.entries) this.#directory.fold(entry)
      from = read.cursor
    }
    this.#foldedTo = cursor
    return this.#directory
  }

  #fold(tail: readonly Gist[]): void {
    if (this.journal.epoch !== this.#epoch) {
      // Something we had folded was lost with a full disk. Start again from what is really there; nothing is
      // decided while that cannot be read.
      const { epoch } = this.journal
      this.index.catchUp()
      this.#directory = loadDirectory(this.index, this.#loading).directory
      this.#epoch = epoch
    }
    for (const entry of tail) this.#directory.fold(entry)
    this.keyring.follow(tail)
  }
}
