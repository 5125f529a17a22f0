import { setMaxListeners } from 'node:events'
import type { Clock } from '../base/clock.ts'
import { MailboxError, typed, typedEach, typedError } from '../base/errors.ts'
import type { Context, LateDecision } from '../command/context.ts'
import type { View } from '../conversation/view.ts'
import { Bell } from '../delivery/bell.ts'
import { type FollowOptions, follow } from '../delivery/follow.ts'
import { openIndex, openSearch } from '../index/open.ts'
import type { CatchUpOptions, Projection } from '../index/projection.ts'
import { shelters } from '../index/shelter.ts'
import { type LastSegment, lastSegment } from '../journal/file/segment.ts'
import type { DamagedLine, Decide, Decided, Journal, PlacedEntry } from '../journal/journal.ts'
import type { Agent } from '../model/agent.ts'
import type { Mark } from '../model/directory.ts'
import type { Draft, LateDraft } from '../model/entry.ts'
import { createIdSource } from '../model/id.ts'
import type { Settings } from '../model/settings.ts'
import { currentKey } from '../query/keys.ts'
import type { Source } from '../query/message.ts'
import { SealedWords } from '../query/sealed-words.ts'
import { readersOfSealed } from '../query/shares.ts'
import { Signers } from '../query/signers.ts'
import { createView } from '../query/view.ts'
import type { DeskSide } from './desk/side.ts'
import { DirectoryKeeper } from './directory-keeper.ts'
import { IndexKeeper } from './index-keeper.ts'
import { Keyring } from './keyring.ts'
import { openedJournal } from './opened.ts'
import { sealDrafts } from './sealing.ts'
import { KeysWanted, type Vault } from './vault.ts'
import { vaultOf } from './vault-of.ts'

/** How often something is asked or decided again because a key was wanted. */
const keyRounds = 3

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
  /** How this process has to do with the desk of the space, if it may. */
  desk: DeskSide | undefined
  readonly now: Clock
  readonly journal: Journal
  readonly index: Projection
  readonly words: Projection
  readonly keyring: Keyring
  readonly vault: Vault
  readonly #source: Source
  readonly #keeper: IndexKeeper
  readonly newId: () => string
  readonly #view: View
  readonly #state: DirectoryKeeper
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
    this.keyring = new Keyring(journal.space, process.env, (name) => currentKey(this.#source, name))
    this.vault = vaultOf(this, (seq) => readersOfSealed(this.#source, seq))
    const opened = openedJournal(journal, this.vault.open)
    this.#source = {
      ...{ index: this.index, journal: opened, stored: journal, damaged: new Map() },
      sealedWords: new SealedWords(),
      signers: new Signers(),
    }
    this.#state = new DirectoryKeeper(journal, this.index, () => ({
      countsSends: this.settings['limits.ratePerMinute'] > 0,
      now: this.now(),
    }))
    this.newId = createIdSource(now)
    // Everyone who waits listens for the end. There can be many, and none of them is a leak.
    setMaxListeners(0, this.ending)
    this.#view = createView(this.#source)
  }

  /** Entries of the index whose lines this process could not read, by their seq. */
  get damaged(): ReadonlyMap<number, DamagedLine> {
    return this.#source.damaged
  }

  get context(): Context {
    const context = { now: this.now(), newId: this.newId, policy: this.settings }
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
  async decide<T>(on: Basis, decide: (view: View, context: Context) => LateDecision<T>): Promise<Decided<T>> {
    for (let round = 0; ; round++) {
      let decision: LateDecision<T> | undefined
      try {
        const placed = await this.#append(on, (context) => {
          decision = this.#secured(decide(this.#view, context))
          return decision
        })
        const joined = this.vault.joinedIn(placed)
        if (joined !== undefined) await this.vault.welcome(joined)
        return { result: decision!.result, placed }
      } catch (error) {
        if (!(error instanceof KeysWanted) || round === keyRounds) throw typedError(error)
        await typed(() => error.get())
      }
    }
  }

  #append(on: Basis, decide: (context: Context) => LateDecision<unknown>): Promise<PlacedEntry[]> {
    this.mustBeOpen()
    this.#state.refresh()
    const needsIndex = on === 'index'
    // What is caught up outside the lock keeps nobody waiting for it.
    if (needsIndex) this.index.catchUp()
    const deciding: Decide = (tail, end) => {
      this.#view.directory = this.#state.fold(tail, end)
      this.keyring.follow(tail)
      this.vault.follow(tail)
      const { context } = this
      return (needsIndex ? this.index.read(() => decide(context)) : decide(context)).drafts
    }
    return this.#keeper.during(() => this.journal.append(deciding, { settled: needsIndex }))
  }

  /** A decision with its texts encrypted where they must be, and with its messages signed. */
  #secured<T>(decision: LateDecision<T>): LateDecision<T> {
    if (this.vault.isWanting) throw new KeysWanted(() => this.vault.getWanted())
    const drafts: (Draft | LateDraft)[] = sealDrafts(decision.drafts, this.vault)
    return { ...decision, drafts: this.keyring.sign(drafts, this.settings.require === 'signed') }
  }

  /** The same for a decision that has no result but its entries. */
  async record(on: Basis, decide: (view: View, context: Context) => Draft[]): Promise<PlacedEntry[]> {
    const decided = this.decide(on, (view, context) => ({ drafts: decide(view, context), result: undefined }))
    return (await decided).placed
  }

  /** Answers a question from one snapshot that has everything appended so far. */
  async query<T>(work: (source: Source) => T): Promise<T> {
    return this.#reading(() => this.index.read(() => work(this.#source)))
  }

  /** The same for a question about words, which reads both databases by itself. */
  async queryWords<T>(work: (source: Source, words: Projection) => T): Promise<T> {
    return this.#reading(() => work(this.#source, this.words))
  }

  /** Asks, and asks again once there are keys for what could not be read. */
  async #reading<T>(ask: () => T): Promise<T> {
    this.mustBeOpen()
    await this.journal.pull()
    for (let round = 0; ; round++) {
      const answer = typed(ask)
      if (!this.vault.isWanting) return answer
      await this.vault.getWanted()
      if (round === keyRounds) return answer
    }
  }

  /** What decisions are taken on, as it was at the snapshot that `source` belongs to. */
  viewOf(source: Source): View {
    const view = createView(source)
    view.directory = this.#state.at(this.index.cursor)
    return view
  }

  /** The agents as far as this process has followed the journal. Decisions look again. */
  get agents(): ReadonlyMap<string, Agent> {
    return this.#state.directory.agents
  }

  /** How far this process has followed what is in the journal: what it has decided itself may never get there. */
  mark = (): Mark => {
    const { directory, seq } = this.#state.directory.mark()
    return { directory, seq: Math.min(seq, this.index.cursor.seq) }
  }

  /** Every entry after a point, and then every new one, until the signal or the end of the space. */
  follow(options: FollowOptions = {}): AsyncGenerator<PlacedEntry> {
    return typedEach(this.#opened(this.followStored(options)))
  }

  /** The same as they are stored: what is encrypted stays so. */
  followStored(options: FollowOptions = {}): AsyncGenerator<PlacedEntry> {
    this.mustBeOpen()
    const signal = options.signal ? AbortSignal.any([options.signal, this.ending]) : this.ending
    return typedEach(follow(this.journal, { ...options, signal, onDamaged: this.#noteDamaged }))
  }

  async *#opened(entries: AsyncGenerator<PlacedEntry>): AsyncGenerator<PlacedEntry> {
    for await (const { entry, place } of entries) {
      const opened = this.vault.open(entry)
      if (this.vault.isWanting) await this.vault.getWanted()
      yield { place, entry: opened === entry ? entry : this.vault.open(entry) }
    }
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
  lastSegment = (): LastSegment => lastSegment(this.dir)

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
    this.#state.load()
  }

  async rebuild(options: CatchUpOptions): Promise<void> {
    this.mustBeOpen()
    const { rebuild } = await import('../index/rebuild.ts')
    await typed(() => rebuild(this.dir, this.index, this.words, options))
    this.#state.load()
  }

  /** A batch was written to the journal. */
  written = (): void => void (this.#closed || this.#keeper.written(this.#state.directory.seq))

  mustBeOpen(): void {
    if (this.#closed) throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
  }

  /** Waits for what is being written and closes every file. */
  async close(): Promise<void> {
    if (this.#closed) return
    await this.desk?.close()
    this.#closed = true
    this.#ending.abort()
    await this.#keeper.close()
    await this.journal.close()
    this.index.close()
    this.words.close()
    this.#source.sealedWords.close()
  }
}
