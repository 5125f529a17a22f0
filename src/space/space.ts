import { describeDoubt } from '../base/clock.ts'
import { MailboxError } from '../base/errors.ts'
import { requireAgent } from '../command/roster.ts'
import type { SeatInput } from '../command/seat.ts'
import type { PlacedEntry } from '../journal/journal.ts'
import { person } from '../model/agent.ts'
import { auditTrail } from '../query/audit.ts'
import { deadLetters } from '../query/dead.ts'
import { owed } from '../query/owed.ts'
import { show } from '../query/show.ts'
import { stats } from '../query/stats.ts'
import { unreadableRecords } from '../query/unreadable.ts'
import { mustBeAllowed } from './acting.ts'
import type { LocalSpace, MailboxOptions, OpenedSpace } from './api.ts'
import type { SpaceCore } from './core.ts'
import type { DigestOptions } from './digest.ts'
import { followRunningDue, queryNow, runDue, runDueEvery } from './due.ts'
import { helpersOf } from './helpers.ts'
import type { ChosenId } from './mailbox/looking.ts'
import { LocalMailbox } from './mailbox/mailbox.ts'
import * as roster from './roster.ts'
import { testRoute } from './routing.ts'
import * as transfer from './transfer.ts'
import * as upkeep from './upkeep.ts'

/** A method or property as the interface has it. */
type Of<Key extends keyof LocalSpace> = LocalSpace[Key]

/**
 * One journal with its index, roster and settings. Every change goes the same way: a command is decided with
 * the exclusive right to append, the journal makes it durable, the index takes it in, queries read it, and
 * delivery tells those who wait.
 */
export class DiskSpace implements LocalSpace, OpenedSpace {
  /** For rims that need more than the public API. */
  readonly core: SpaceCore
  readonly id: string
  readonly dir: string
  readonly place: string
  readonly stateDir: string
  readonly settings: Of<'settings'>
  readonly now: () => number

  constructor(core: SpaceCore) {
    this.core = core
    this.id = core.journal.space
    this.dir = core.dir
    this.place = core.dir
    this.stateDir = core.dir
    this.settings = core.settings
    this.now = core.now
  }

  async mailbox(name: string, options: MailboxOptions = {}): Promise<LocalMailbox> {
    await mustBeAllowed(this.core, name)
    await roster.comeToMailbox(this.core, name, options)
    return new LocalMailbox(this.core, name, { claims: new Map(), hasFiles: true })
  }

  /**
   * The mailbox of an agent for whoever does one thing for it and may not be there for the next: a command, a
   * request, a hook. Several of them are one run of the agent, and what one has claimed another can finish.
   */
  async mailboxOfRun(
    name: string,
    { chosen, ...options }: MailboxOptions & { chosen?: ChosenId | undefined } = {},
  ): Promise<LocalMailbox> {
    await mustBeAllowed(this.core, name)
    await roster.comeToMailbox(this.core, name, options)
    return new LocalMailbox(this.core, name, { chosen })
  }

  stay = (): void => this.core.desk?.stay()

  /** What the program itself says or looks up, whoever runs it. */
  mailboxInside = (name: string): LocalMailbox => new LocalMailbox(this.core, name)

  /** The mailbox of the agent that runs in a client's process. */
  joinAs = async (input: SeatInput): Promise<LocalMailbox> =>
    new LocalMailbox(this.core, await roster.joinAs(this.core, input))
  join: Of<'join'> = async (name, input = {}) => {
    await mustBeAllowed(this.core, name, { joins: true })
    return roster.join(this.core, name, input)
  }

  update: Of<'update'> = async (name, input) => {
    await mustBeAllowed(this.core, name)
    return roster.update(this.core, name, input)
  }

  leave: Of<'leave'> = async (name, options = {}) => {
    await mustBeAllowed(this.core, name)
    return roster.leave(this.core, name, options)
  }

  /** Ends a run whose session is over: what it had taken for a role is free for others. */
  endRun = (name: string, options: { frozen: boolean }) =>
    roster.leave(this.core, name, { ...options, frees: true })
  seedSwarm: Of<'seedSwarm'> = (dir) => roster.seedSwarm(this.core, dir)
  agents: Of<'agents'> = () => roster.agents(this.core)
  deadLetters: Of<'deadLetters'> = (options = {}) =>
    queryNow(this.core, (source) => deadLetters(source, options, this.now()))
  owed: Of<'owed'> = (options = {}) => queryNow(this.core, (source) => owed(source, options, this.now()))
  digest: Of<'digest'> = async (options: DigestOptions = {}) =>
    (await import('./digest.ts')).digest(this.core, options)
  async stats() {
    const { warnings, ...found } = await queryNow(this.core, (source) => stats(source, this.now()))
    const mirror = (await this.mirror())?.problem
    const helpers = this.helpers().flatMap(({ warning }) => warning ?? [])
    const scrubbed = (await import('./scrub.ts')).scrubWarnings(this.dir)
    const others = [mirror, this.clockWarning, this.cutOffWarning].filter((warning) => warning !== undefined)
    return { ...found, warnings: [...warnings, ...helpers, ...others, ...scrubbed] }
  }

  get clockWarning() {
    const doubt = this.core.now.doubt()
    return doubt === undefined ? undefined : describeDoubt(doubt).found
  }

  get cutOffWarning() {
    const { cutOff } = this.core.journal
    if (cutOff === undefined) return undefined
    const seconds = Math.max(0, Math.round((Date.now() - cutOff.since) / 1_000))
    const age = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
    return `this is what this machine knew ${age} ago: ${cutOff.error.message}`
  }

  testRoute: Of<'testRoute'> = (from, input) => testRoute(this.core, from, input)
  show: Of<'show'> = (id) => this.core.query((source) => show(source, id, this.now()))
  lastSeq: Of<'lastSeq'> = () => this.core.query(({ index }) => index.cursor.seq)
  follow: Of<'follow'> = (options = {}) => {
    this.core.mustBeOpen()
    return followRunningDue(this.core, options)
  }

  agent: OpenedSpace['agent'] = (name) =>
    this.core.query((source) => requireAgent(this.core.viewOf(source).directory, name))
  /** It looks the same to everyone, so whoever asks need not have joined. */
  thread: OpenedSpace['thread'] = (id) => this.mailboxInside(person).thread(id)

  /** Every entry after a point, up to the end of the journal. */
  entries(after: number, signal?: AbortSignal): AsyncGenerator<PlacedEntry> {
    return this.core.follow({ after, signal, live: false })
  }

  runDue: Of<'runDue'> = () => runDue(this.core)
  runDueEvery: Of<'runDueEvery'> = (everyMs) => runDueEvery(this.core, everyMs, this.#sendQueued)
  #sendQueued = async () => {
    if (this.core.journal.isElsewhere) await (await import('./outbox.ts')).sendQueued(this)
  }
  helpers: Of<'helpers'> = () => helpersOf(this.dir, this.now())
  // Few programs ask, and it takes a while to load.
  #survey = () => import('./survey.ts').then(({ Survey }) => new Survey(this.core))
  overview = async () => (await this.#survey()).overview()
  needs = async () => (await this.#survey()).needs()
  audit: Of<'audit'> = (options = {}) => this.core.query((source) => auditTrail(source, options))
  unreadable: Of<'unreadable'> = () => this.core.query(unreadableRecords)
  checkWritable: Of<'checkWritable'> = () => this.core.whileStill(() => {})
  verify: Of<'verify'> = (options = {}) => upkeep.verify(this.core, options)
  rebuild: Of<'rebuild'> = (options = {}) => this.core.rebuild(options)
  archiveOld: Of<'archiveOld'> = async (options = {}) => {
    this.core.mustBeOpen()
    const { archiveOld } = await import('./retention.ts')
    return archiveOld(this.core, options)
  }

  repair: Of<'repair'> = async (options = {}) => {
    mustHaveFiles(this.core)
    return (await import('./repair.ts')).repair(this.core, options)
  }

  setMirror: Of<'setMirror'> = async (dir, options = {}) => {
    mustHaveFiles(this.core)
    return (await import('./mirror.ts')).setMirror(this.core, dir, options)
  }

  mirror: Of<'mirror'> = async () => {
    if (this.settings['journal.mirror'] === '') return undefined
    return (await import('./mirror.ts')).stateOfMirror(this.core)
  }

  exportLines: Of<'exportLines'> = (options) => transfer.exportLines(this.core, options)
  importMessages: Of<'importMessages'> = (lines, options) =>
    transfer.importLines(this.core, transfer.numbered(lines), options)
  close = () => this.core.close()
  async [Symbol.asyncDispose]() {
    await this.close()
  }
}

/** What is done to the files of a journal makes no sense for a copy of it. */
function mustHaveFiles(core: SpaceCore): void {
  core.mustBeOpen()
  if (!core.journal.isElsewhere) return
  throw new MailboxError('invalid', 'the journal of this space is in a database', {
    hint: 'the database has its own means for backups, replicas and repairs: see docs/postgres.md',
  })
}
