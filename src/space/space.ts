import type { JoinInput, SeatInput, UpdateInput } from '../command/roster.ts'
import type { FollowOptions } from '../delivery/follow.ts'
import type { CatchUpOptions } from '../index/projection.ts'
import type { VerifyOptions } from '../journal/file/verify.ts'
import { deadLetters } from '../query/dead.ts'
import { type OwedOptions, owed } from '../query/owed.ts'
import type { ListOptions } from '../query/page.ts'
import { show } from '../query/show.ts'
import { stats } from '../query/stats.ts'
import type { LocalSpace, MailboxOptions } from './api.ts'
import type { SpaceCore } from './core.ts'
import { followRunningDue, runDue, runDueEvery } from './due.ts'
import { helpersOf } from './helpers.ts'
import { LocalMailbox } from './mailbox/mailbox.ts'
import type { ArchiveOptions } from './retention.ts'
import * as roster from './roster.ts'
import * as upkeep from './upkeep.ts'

/**
 * One journal with its index, roster and settings. Every change goes the same way: a command is decided with
 * the exclusive right to append, the journal makes it durable, the index takes it in, queries read it, and
 * delivery tells those who wait.
 */
export class DiskSpace implements LocalSpace {
  /** For rims that need more than the public API. */
  readonly core: SpaceCore

  constructor(core: SpaceCore) {
    this.core = core
  }

  get id() {
    return this.core.journal.space
  }

  get dir() {
    return this.core.dir
  }

  get settings() {
    return this.core.settings
  }

  get now() {
    return this.core.now
  }

  async mailbox(name: string, options: MailboxOptions = {}): Promise<LocalMailbox> {
    await roster.comeToMailbox(this.core, name, options)
    return new LocalMailbox(this.core, name)
  }

  /** The mailbox of the agent that runs in a client's process. */
  joinAs = async (input: SeatInput): Promise<LocalMailbox> =>
    new LocalMailbox(this.core, await roster.joinAs(this.core, input))
  join = (name: string, input: JoinInput = {}) => roster.join(this.core, name, input)
  update = (name: string, input: UpdateInput) => roster.update(this.core, name, input)
  leave = (name: string, options: { frozen?: boolean } = {}) => roster.leave(this.core, name, options)
  seedSwarm = (dir: string) => roster.seedSwarm(this.core, dir)
  agents = () => roster.agents(this.core)
  deadLetters = (options: ListOptions & { from?: string } = {}) =>
    this.core.query((source) => deadLetters(source, options, this.now()))
  owed = (options: OwedOptions = {}) => this.core.query((source) => owed(source, options, this.now()))
  async stats() {
    const found = await this.core.query((source) => stats(source, this.now()))
    return {
      ...found,
      warnings: [...found.warnings, ...this.helpers().flatMap(({ warning }) => warning ?? [])],
    }
  }

  show = (id: string) => this.core.query((source) => show(source, id, this.now()))
  lastSeq = () => this.core.query(({ index }) => index.cursor.seq)
  follow(options: FollowOptions = {}) {
    this.core.mustBeOpen()
    return followRunningDue(this.core, options)
  }

  runDue = () => runDue(this.core)
  runDueEvery = (everyMs?: number) => runDueEvery(this.core, everyMs)
  helpers = () => helpersOf(this.dir, this.now())
  async checkWritable() {
    await this.core.whileStill(() => {})
  }

  verify = (options: VerifyOptions & { deep?: boolean } = {}) => upkeep.verify(this.core, options)
  rebuild = (options: CatchUpOptions = {}) => this.core.rebuild(options)
  async archiveOld(options: ArchiveOptions = {}) {
    this.core.mustBeOpen()
    const { archiveOld } = await import('./retention.ts')
    return archiveOld(this.core, options)
  }

  importMessages = (lines: AsyncIterable<unknown> | Iterable<unknown>) =>
    upkeep.importMessages(this.core, lines)
  close = () => this.core.close()
  async [Symbol.asyncDispose]() {
    await this.close()
  }
}
