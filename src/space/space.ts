import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { createClock } from '../base/clock.ts'
import { MailboxError } from '../base/errors.ts'
import { identifyProcess, processState } from '../base/process.ts'
import type { Context, View } from '../command/context.ts'
import { decideDue, findDeaths, type Liveness, runOf } from '../command/due.ts'
import {
  decideJoin,
  decideLeave,
  decideSeat,
  decideSeed,
  decideUpdate,
  type JoinInput,
  requireAgent,
  type SeatInput,
  type UpdateInput,
} from '../command/roster.ts'
import { Bell } from '../delivery/bell.ts'
import { type FollowOptions, follow } from '../delivery/follow.ts'
import { type WatcherHealth, watcherHealth, watcherWarnings } from '../delivery/watcher.ts'
import { Background } from '../index/background.ts'
import { loadDirectory, openIndex, openSearch, readDirectory } from '../index/open.ts'
import type { CatchUpOptions, Projection } from '../index/projection.ts'
import { FileJournal } from '../journal/file/file-journal.ts'
import type { VerifyOptions, VerifyReport } from '../journal/file/verify.ts'
import type { Journal, PlacedEntry } from '../journal/journal.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import type { Draft, Entry, Gist } from '../model/entry.ts'
import { createIdSource } from '../model/id.ts'
import { checkName } from '../model/name.ts'
import { type DeadLetters, deadLetters } from '../query/dead.ts'
import type { Source } from '../query/message.ts'
import { type Owed, type OwedOptions, owed } from '../query/owed.ts'
import type { ListOptions } from '../query/page.ts'
import { presence, type RosterAgent } from '../query/presence.ts'
import { agentByName } from '../query/roster.ts'
import { type ShownMessage, show } from '../query/show.ts'
import { type Stats, stats } from '../query/stats.ts'
import { createView } from '../query/view.ts'
import type { HubOptions } from '../remote/connection.ts'
import { LocalMailbox, type Mailbox } from './mailbox.ts'
import type { ArchiveOptions, ArchiveReport } from './retention.ts'
import { ensureSpaceDir, readSettings, type Settings } from './settings.ts'

// For rims that have processes and a watcher of their own.
export { watcherPaths } from '../delivery/watcher.ts'

export interface OpenSpaceOptions {
  /** The space's directory; it is made if it does not exist. */
  dir: string
  /** Overrides of `config.json`, for this process. */
  settings?: Partial<Settings>
  /** @default Date.now */
  now?: () => number
  /** Called while an index that is missing or far behind is being built. */
  onProgress?: (seq: number) => void
}

export interface MailboxOptions {
  /** Joins an agent that is not in the roster yet, with these roles and tags. `false`: refuse it. @default {} */
  join?: JoinInput | false
}

/** An index that is ahead of the directory by more than this is cheaper to load than to fold. */
const foldLimit = 2_000
/** The index takes in what was written after a pause this long, or when it is so many entries behind. */
const indexDelayMs = 20
const importsAtOnce = 64
/** How often to look for what is due while somebody runs, and how much one call does at most. */
const tendMs = 5_000
const tendRounds = 100
const indexLag = 50_000
/** What is so far behind is worth a thread. */
const threadLag = 2_000

/** Opens a space: one behind a hub by its address, one on this disk by its directory. */
export function openSpace(options: HubOptions): Promise<AnySpace>
export function openSpace(options: OpenSpaceOptions): Promise<Space>
export async function openSpace(options: OpenSpaceOptions | HubOptions): Promise<AnySpace> {
  if (!('url' in options)) return openLocal(options)
  const { openHub } = await import('../remote/space.ts')
  return openHub(options)
}

/** The journal, then what is derived from it. */
async function openLocal(options: OpenSpaceOptions): Promise<Space> {
  ensureSpaceDir(options.dir)
  const settings = { ...readSettings(options.dir), ...options.settings }
  const now = options.now ?? createClock(options.dir)
  let space: Space | undefined
  const journal = new FileJournal({
    ...settings,
    segmentEntries: settings['retention.segmentEntries'],
    rotate: settings['retention.rotate'],
    dir: options.dir,
    now,
    onWritten: () => space?.written(),
  })
  space = new Space(options.dir, journal, settings, now)
  await space.load(options.onProgress === undefined ? {} : { onProgress: options.onProgress })
  return space
}

/** What a program can do with a space wherever it is: on this disk, or behind a hub. */
export interface AnySpace
  extends Pick<Space, 'id' | 'settings' | 'now' | 'mailbox' | 'join' | 'update' | 'leave' | 'agents'>,
    Pick<Space, 'deadLetters' | 'owed' | 'stats' | 'show' | 'end' | 'close' | typeof Symbol.asyncDispose> {
  /** Every entry after a point, and then every new one, until the signal ends it. */
  follow(options?: FollowOptions): AsyncGenerator<{ entry: Entry }>
}

/**
 * One journal with its index, roster and settings. Every change goes the same way: a command is decided
 * with the exclusive right to append, the journal makes it durable, the index takes it in, queries read
 * it, and delivery tells those who wait.
 */
export class Space {
  readonly dir: string
  readonly settings: Settings
  readonly now: () => number
  readonly #journal: Journal
  readonly #index: Projection
  readonly #words: Projection
  readonly #thread: Background
  readonly #source: Source
  readonly #newId: () => string
  readonly #view: View
  #directory!: Directory
  #epoch = 0
  #indexing: NodeJS.Timeout | undefined
  #unindexed = false
  /** How far the thread has brought the index. */
  #besideSeq = 0
  readonly #ending = new AbortController()
  #closed = false

  /** @internal Use {@link openSpace}. */
  constructor(dir: string, journal: Journal, settings: Settings, now: () => number) {
    this.dir = dir
    this.settings = settings
    this.now = now
    this.#journal = journal
    this.#index = openIndex(dir, journal)
    this.#words = openSearch(dir, journal)
    this.#thread = new Background({ dir, projection: 'tables' })
    this.#source = { index: this.#index, journal }
    this.#newId = createIdSource(now)
    // Everybody who waits listens for the end; many do, and none of them is a leak.
    setMaxListeners(0, this.#ending.signal)
    this.#view = createView(this.#source)
  }

  /** The identity the journal was made with. */
  get id(): string {
    return this.#journal.space
  }

  /** One agent's view of the space. */
  async mailbox(name: string, options: MailboxOptions = {}): Promise<Mailbox> {
    checkName(name, 'agent name')
    if (name === systemAgent) return new LocalMailbox(this, name)
    const known = await this.query((source) => agentByName(source, name))
    const isRunning =
      known !== undefined &&
      !['dead', 'frozen'].includes(known.state) &&
      processState(known.session) !== 'gone'
    if (options.join === false) {
      if (known === undefined) requireAgent(this.#directory, name)
    } else if (!isRunning) {
      // Whoever opens a mailbox is the agent, for as long as its process runs.
      await this.join(name, { session: { pid: process.pid }, ...options.join })
    }
    return new LocalMailbox(this, name)
  }

  /**
   * The mailbox of whoever runs in a client's process, for all doors through which that client comes in.
   * Joins it when it is not there yet.
   */
  async seat(input: SeatInput): Promise<Mailbox> {
    const session = withProcess(input.session)
    const isRunning = (agent: Agent) =>
      !['dead', 'frozen'].includes(agent.state) && processState(agent.session) !== 'gone'
    // Whoever died without a word must not be taken for somebody who sits there.
    await this.tend()
    let name = ''
    await this.decide((view, context) => {
      const seat = decideSeat(view, { ...input, session }, isRunning, context)
      name = seat.name
      return seat.drafts
    }, true)
    return new LocalMailbox(this, name)
  }

  /** Starts a new run of an agent, known or not. */
  async join(name: string, input: JoinInput = {}): Promise<Agent> {
    const session = input.session === undefined ? {} : { session: withProcess(input.session) }
    const agent = await this.#changeAgent(
      (view, context) => decideJoin(view, name, { ...input, ...session }, context),
      true,
    )
    // What was for an earlier run must not reach this one.
    await this.tend()
    return agent
  }

  /**
   * Takes the members of a swarm from `DIR/agents/*.md` into the roster, as `SWARM/NAME`. They are expected:
   * their mail waits until they join themselves.
   */
  async seedSwarm(dir: string): Promise<Agent[]> {
    const { membersOf } = await import('./swarm.ts')
    const { swarm, names } = membersOf(dir)
    const agents: Agent[] = []
    for (const name of names) {
      const tag = `swarm:${swarm}`
      agents.push(await this.#changeAgent((view, context) => decideSeed(view, name, tag, context)))
    }
    return agents
  }

  async update(name: string, input: UpdateInput): Promise<Agent> {
    const agent = await this.#changeAgent((view, context) => decideUpdate(view, name, input, context))
    if (agent.state !== 'dead') return agent
    // It was taken for dead; now that it has spoken it comes back.
    await this.tend()
    return (await this.query((source) => agentByName(source, name))) ?? agent
  }

  /** Takes an agent out of the roster, for good or until it comes back. */
  async leave(name: string, options: { frozen?: boolean } = {}): Promise<Agent> {
    const agent = await this.#changeAgent((view, context) =>
      decideLeave(view, name, options.frozen ?? false, context),
    )
    await this.tend()
    return agent
  }

  async #changeAgent(decide: (view: View, context: Context) => Draft[], needsIndex = false): Promise<Agent> {
    const placed = await this.decide(decide, needsIndex)
    const changed = placed.map(({ entry }) => entry).find((entry) => entry.kind === 'agent')
    if (changed === undefined) throw new MailboxError('internal', 'the roster did not change')
    return changed.agent
  }

  /** Everybody, as they are at this moment: an agent whose process has ended is dead, written down or not. */
  async agents(): Promise<RosterAgent[]> {
    return this.query((source) => {
      const agents = presence(source, this.now())
      const context = { ...this.#context(), now: this.now() }
      const view = { directory: readDirectory(this.#index, this.#index.cursor, this.#loading()) }
      const deaths = findDeaths(view, this.#look(agents), context)
      return agents.map((agent) => deaths.find(({ agent: { name } }) => name === agent.name)?.agent ?? agent)
    })
  }

  /** Dead letters of all or of one sender, the newest first. Changes nothing. */
  async deadLetters(options: ListOptions & { from?: string } = {}): Promise<DeadLetters> {
    return this.query((source) => deadLetters(source, options, this.now()))
  }

  /** What is open between agents: questions, plans, requests, tasks and acks, the oldest first. */
  async owed(options: OwedOptions = {}): Promise<Owed[]> {
    return this.query((source) => owed(source, options, this.now()))
  }

  /** How much mail there is and how long it takes, in all and for each agent. */
  async stats(): Promise<Stats> {
    const found = await this.query((source) => stats(source, this.now()))
    return { ...found, warnings: [...found.warnings, ...this.watcherWarnings()] }
  }

  /** How the process is that types mail into terminals; undefined where nobody depends on one. */
  watcher(): WatcherHealth | undefined {
    return watcherHealth(this.dir, this.now())
  }

  /** What a person should know of it. */
  watcherWarnings(): string[] {
    return watcherWarnings(this.watcher())
  }

  /**
   * Does what has become due: claims that ran out, mail whose life or whose recipient is over, acks that
   * did not come. Nobody has to run for it: whoever comes next does it. Returns how much was written down.
   */
  async tend(): Promise<number> {
    let done = 0
    for (let round = 0; round < tendRounds; round++) {
      // A look first: most of the time nothing is due, and looking keeps nobody waiting.
      const { isDue, liveness } = await this.query((source) => {
        const view = createView(source)
        view.directory = readDirectory(this.#index, this.#index.cursor, this.#loading())
        const seen = this.#look([...view.directory.agents.values()])
        return { isDue: decideDue(view, seen, this.#context()).length > 0, liveness: seen }
      })
      if (!isDue) break
      const placed = await this.decide((view, context) => decideDue(view, liveness, context), true)
      done += placed.length
    }
    return done
  }

  /** Tends again and again until it is stopped, for as long as somebody runs anyway. */
  keepTime(everyMs = tendMs): { stop: () => void } {
    const tend = () => void this.tend().catch(() => {}) // Whoever comes next tries again.
    const timer = setInterval(tend, everyMs)
    timer.unref()
    const stop = () => {
      clearInterval(timer)
      this.#ending.signal.removeEventListener('abort', stop)
    }
    this.#ending.signal.addEventListener('abort', stop)
    return { stop }
  }

  /** Which runs have a process, as far as can be seen from here. */
  #look(agents: readonly Agent[]): Liveness {
    const here = new Set<string>()
    const gone = new Set<string>()
    for (const agent of agents) {
      const seen = processState(agent.session)
      if (seen === 'running') here.add(runOf(agent))
      if (seen === 'gone') gone.add(runOf(agent))
    }
    return { here, gone }
  }

  #context(): Context {
    return { now: this.now(), newId: this.#newId, policy: this.settings }
  }

  #loading() {
    return { countsSends: this.settings['limits.ratePerMinute'] > 0, now: this.now() }
  }

  /** A message and every rung that each of its recipients has reached. Changes nothing. */
  async show(id: string): Promise<ShownMessage> {
    return this.query((source) => show(source, id, this.now()))
  }

  /** Every entry after a point, and then every new one, until the signal ends it. */
  async *follow(options: FollowOptions = {}): AsyncGenerator<PlacedEntry> {
    this.#mustBeOpen()
    const keeper = this.keepTime()
    try {
      yield* follow(this.#journal, { ...options, signal: this.#until(options.signal) })
    } finally {
      keeper.stop()
    }
  }

  /** @internal Rings when something was appended, here or elsewhere. */
  bell(signal: AbortSignal | undefined): Bell {
    this.#mustBeOpen()
    return new Bell(this.#journal, signal, this.#ending.signal)
  }

  /**
   * @internal Runs `work` while nobody writes, with the seq of the last entry: what it sees of the journal's
   * files is whole, and whatever is written to them afterwards is written later.
   */
  async whileStill<T>(work: (seq: number) => T): Promise<T> {
    let result: { value: T } | undefined
    await this.decide(() => {
      result = { value: work(this.#directory.seq) }
      return []
    })
    return result!.value
  }

  /** The seq of the last entry. */
  async end(): Promise<number> {
    return this.query(({ index }) => index.cursor.seq)
  }

  /** Takes the right to append and lets it go; throws what stands in the way. */
  async checkWritable(): Promise<void> {
    await this.decide(() => [])
  }

  /** Checks every line of the journal, and with `deep` the index against a rebuilt one. */
  async verify(options: VerifyOptions & { deep?: boolean } = {}): Promise<VerifyReport> {
    this.#mustBeOpen()
    const { verifyJournal } = await import('../journal/file/verify.ts')
    const { compareWithRebuild } = await import('../index/rebuild.ts')
    const report = await verifyJournal(join(this.dir, 'journal'), options)
    if (options.deep) report.problems.push(...compareWithRebuild(this.dir, this.#journal, this.#index))
    return report
  }

  /** Throws the index away and builds it anew from the journal. */
  async rebuild(options: CatchUpOptions = {}): Promise<void> {
    this.#mustBeOpen()
    const { rebuild } = await import('../index/rebuild.ts')
    await rebuild(this.dir, this.#index, this.#words, options)
    this.#load()
  }

  /** Gzips old segments of the journal, and removes those that are older still where that is wanted. */
  async archiveOld(options: ArchiveOptions = {}): Promise<ArchiveReport> {
    this.#mustBeOpen()
    const { archiveOld } = await import('./retention.ts')
    return archiveOld(this, options)
  }

  /**
   * @internal Shortens the journal with the exclusive right to write. There is no index meanwhile, and making
   * one takes the same right: whoever needs it waits, and builds it from what is left.
   */
  shorten(work: () => void): void {
    this.#journal.withLock(() => {
      this.#index.discard()
      this.#words.discard()
      work()
    })
  }

  /** @internal Runs `work` while nobody else does anything in this space, for what hangs on no entry. */
  alone<T>(work: () => T): T {
    this.#mustBeOpen()
    return this.#journal.withLock(work)
  }

  /** Takes in messages that another space exported; those that are here already are skipped. */
  async importMessages(
    lines: AsyncIterable<unknown> | Iterable<unknown>,
  ): Promise<{ imported: number; skipped: number }> {
    const { checkImport, decideImport } = await import('../command/import.ts')
    const count = { imported: 0, skipped: 0 }
    const under = new Set<Promise<void>>()
    for await (const line of lines) {
      const draft = checkImport(line)
      const one = this.decide((view) => decideImport(view, draft), true).then((placed) => {
        count[placed.length > 0 ? 'imported' : 'skipped']++
        under.delete(one)
      })
      under.add(one)
      // Many at once share a sync; too many would fill the memory.
      if (under.size >= importsAtOnce) await Promise.race(under)
    }
    await Promise.all(under)
    return count
  }

  /** @internal Runs a read-only question on a state that holds everything appended so far. */
  async query<T>(work: (source: Source) => T): Promise<T> {
    this.#mustBeOpen()
    await this.#journal.pull()
    return this.#index.read(() => work(this.#source))
  }

  /** @internal For a question about words, which reads both databases by itself. */
  async queryWords<T>(work: (source: Source, words: Projection) => T): Promise<T> {
    this.#mustBeOpen()
    await this.#journal.pull()
    return work(this.#source, this.#words)
  }

  /**
   * @internal Takes a decision with the exclusive right to append and makes it durable. `needsIndex` is
   * for decisions that look at messages; those that need only the roster spare the database.
   */
  async decide(
    decide: (view: View, context: Context) => Draft[],
    needsIndex = false,
  ): Promise<PlacedEntry[]> {
    this.#mustBeOpen()
    const pulled = this.#journal.pull()
    if (pulled !== undefined) await pulled
    this.#refresh()
    // Whatever can be caught up outside the lock does not keep others waiting in it.
    if (needsIndex) this.#index.catchUp()
    return this.#journal.append(
      (tail) => {
        this.#fold(tail)
        this.#view.directory = this.#directory
        const context = this.#context()
        return needsIndex ? this.#index.read(() => decide(this.#view, context)) : decide(this.#view, context)
      },
      { settled: needsIndex },
    )
  }

  /** @internal */
  async load(options: CatchUpOptions = {}): Promise<void> {
    await this.#journal.pull()
    this.#index.catchUp(options)
    this.#load()
  }

  /** Starts the directory from the index, and the journal's tail from where the index is. */
  #load(): void {
    const { directory, cursor } = loadDirectory(this.#index, this.#loading())
    if (this.#journal.seek(cursor) || this.#directory === undefined) this.#directory = directory
  }

  #refresh(): void {
    if (this.#index.cursor.seq > this.#directory.seq + foldLimit) this.#load()
  }

  #fold(tail: readonly Gist[]): void {
    if (this.#journal.epoch !== this.#epoch) {
      // Something we had folded was lost with a full disk. Start again from what is really there; while
      // that cannot be read, nothing is decided.
      const { epoch } = this.#journal
      this.#index.catchUp()
      this.#directory = loadDirectory(this.#index, this.#loading()).directory
      this.#epoch = epoch
    }
    for (const entry of tail) this.#directory.fold(entry)
  }

  /**
   * @internal A batch is written. The index takes it in after a pause, or when so much has gathered that
   * a reader would have to wait for it: many entries at once cost a fraction of one by one.
   */
  written(): void {
    if (this.#closed) return
    this.#unindexed = true
    const lag = this.#directory.seq - Math.max(this.#index.cursor.seq, this.#besideSeq)
    if (lag > threadLag && this.#thread.available) this.#indexBeside()
    else if (lag > indexLag) this.#indexNow()
    if (this.#indexing === undefined) this.#indexing = setTimeout(() => this.#indexNow(), indexDelayMs)
    else this.#indexing.refresh()
  }

  /** So much at once would keep this thread from its work. */
  #indexBeside(): void {
    void this.#thread.catchUp((seq) => (this.#besideSeq = seq))
  }

  #indexNow(): void {
    clearTimeout(this.#indexing)
    this.#indexing = undefined
    if (!this.#unindexed) return
    this.#unindexed = false
    try {
      this.#index.catchUp({ opportunistic: true, chunks: 1 })
    } catch {
      // The next question catches up, and says what is wrong if something is.
    }
  }

  /** The caller's signal, or the end of this space. */
  #until(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal])
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
  }

  /** Waits for what is being written and lets go of every file. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#ending.abort()
    this.#indexNow()
    await this.#thread.close()
    await this.#journal.close()
    this.#index.close()
    this.#words.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** A session with what tells its process from others. A process of another host is described by whoever knows it. */
function withProcess(session: NonNullable<JoinInput['session']>): NonNullable<JoinInput['session']> {
  const { pid, host } = session
  const isOurs = Number.isSafeInteger(pid) && pid! > 0 && host === undefined
  return isOurs ? { ...session, ...identifyProcess(pid!) } : session
}
