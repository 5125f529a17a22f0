import type { JoinInput, UpdateInput } from '../command/roster.ts'
import type { SeatInput } from '../command/seat.ts'
import type { FollowOptions } from '../delivery/follow.ts'
import type { CatchUpOptions } from '../index/projection.ts'
import type { CopyOptions, MirrorState } from '../journal/file/mirror-upkeep.ts'
import type { VerifyOptions, VerifyReport } from '../journal/file/verify.ts'
import type { Agent } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import type { SendInput } from '../model/fields.ts'
import type { Settings } from '../model/settings.ts'
import type { ExportLine } from '../model/transfer.ts'
import type { AuditPage } from '../query/audit.ts'
import type { DeadLetters } from '../query/dead.ts'
import type { Digest } from '../query/digest.ts'
import type { StoredMessage } from '../query/message.ts'
import type { Need } from '../query/needs.ts'
import type { Owed, OwedOptions } from '../query/owed.ts'
import type { ListOptions } from '../query/page.ts'
import type { RosterAgent } from '../query/presence.ts'
import type { ShownMessage } from '../query/show.ts'
import type { Stats } from '../query/stats.ts'
import type { UnreadableRecord } from '../query/unreadable.ts'
import type { DigestOptions } from './digest.ts'
import type { Helper } from './helpers.ts'
import type { Mailbox } from './mailbox/api.ts'
import type { Mirrored } from './mirror.ts'
import type { RepairOptions, RepairReport } from './repair.ts'
import type { ArchiveOptions, ArchiveReport } from './retention.ts'
import type { RouteTest } from './routing.ts'
import type { Overview } from './survey.ts'
import type { ExportOptions, Imported, ImportOptions } from './transfer.ts'

/** What a program can do with a space wherever it is: on this disk or behind a hub. */
export interface Space {
  /** The identity the journal was created with. */
  readonly id: string
  readonly settings: Settings
  /** The time of the space, in ms since 1970. */
  readonly now: () => number

  /** One agent's view of the space. Joins the agent if it is not running yet. */
  mailbox(name: string, options?: MailboxOptions): Promise<Mailbox>
  /** Starts a new run of an agent, known or not. */
  join(name: string, input?: JoinInput): Promise<Agent>
  update(name: string, input: UpdateInput): Promise<Agent>
  /** Takes an agent out of the roster, for good or until it comes back (`frozen`). */
  leave(name: string, options?: { frozen?: boolean }): Promise<Agent>
  /** All agents as they are at this moment: one whose process has ended is dead, recorded or not. */
  agents(): Promise<RosterAgent[]>

  /** Dead letters of all senders or one, the newest first. Changes nothing. */
  deadLetters(options?: ListOptions & { from?: string }): Promise<DeadLetters>
  /** What is open between agents: questions, plans, requests, tasks and acks, the oldest first. */
  owed(options?: OwedOptions): Promise<Owed[]>
  /** How much mail there is and how long it takes, in all and for each agent. */
  stats(): Promise<Stats>
  /** What happened since a time, for the person: what was decided and finished, what is open, and who died. */
  digest(options?: DigestOptions): Promise<Digest>
  /** A message and every step that each of its recipients has reached. Changes nothing. */
  show(id: string): Promise<ShownMessage>
  /** The seq of the last entry. */
  lastSeq(): Promise<number>
  /** Every entry after a point, and then every new one, until the signal ends it. */
  follow(options?: Pick<FollowOptions, 'after' | 'signal'>): AsyncGenerator<{ entry: Entry }>

  /** Waits for what is being written and closes every file. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What the rims need beyond that, wherever the space is. */
export interface OpenedSpace extends Space {
  /** Where it is, for people: its directory, or the address of its hub. */
  readonly place: string
  /** Where programs on this machine keep what belongs to no journal: the space itself, or a directory of their own. */
  readonly stateDir: string
  /** The agent that the token belongs to; undefined on disk, where the process decides. */
  readonly you?: string
  /** The mailbox of an agent for whoever does one thing for it and may not be there for the next. */
  mailboxOfRun(name: string, options?: MailboxOptions): Promise<Mailbox>
  /** The mailbox of the agent that runs in a client's process. */
  joinAs(input: SeatInput): Promise<Mailbox>
  /** Ends a run whose session is over: what it had taken for a role is free for others. */
  endRun(name: string, options: { frozen: boolean }): Promise<Agent>
  /** An agent by its name. Throws `not_found` with the names that are near. */
  agent(name: string): Promise<Agent>
  /** A thread as everybody may see it, oldest first. */
  thread(id: string): Promise<StoredMessage[]>
  /** Every entry after a point, up to the end of the journal. */
  entries(after: number, signal?: AbortSignal): AsyncGenerator<{ entry: Entry }>
  /** Which routing rule would take a message, and where it would go. Sends nothing. */
  testRoute(from: string, input: Partial<SendInput>): Promise<RouteTest>
  /** What happened besides mail, the newest first: refusals, credentials, settings, imports, repairs, who came and went. */
  audit(options?: ListOptions): Promise<AuditPage>
  /** The records of the journal that could not be read, and what is known of them from others. */
  unreadable(): Promise<UnreadableRecord[]>
  /** This process stays for long: it can write for the others of its machine (docs/desk.md). */
  stay(): void
  /** The programs beside the space that agents depend on for their mail. */
  helpers(): Helper[]
  /** Who is here, and how much waits. */
  overview(): Promise<Overview>
  /** What waits for the person: what asks for something first, by what it frees. */
  needs(): Promise<Need[]>
}

/** A space on this disk. */
export interface LocalSpace extends Space {
  readonly dir: string
  /**
   * Adds the members of a swarm to the roster from `DIR/agents/*.md`, as `SWARM/NAME`. They are expected:
   * their mail waits until they join.
   */
  seedSwarm(dir: string): Promise<Agent[]>

  /**
   * Does what has become due: claims that ran out, mail that expired or lost its recipient, acks that did not
   * come. Returns how many entries that took.
   */
  runDue(): Promise<number>
  /** Runs what is due again and again until it is stopped, or the space is closed. */
  runDueEvery(everyMs?: number): { stop: () => void }

  /** Which routing rule would take a message, and where it would go. Sends nothing. */
  testRoute(from: string, input: Partial<SendInput>): Promise<RouteTest>

  /** What is wrong with the clock of this process or machine, if it is far from the space's. */
  readonly clockWarning: string | undefined
  /** How old what is read here is, while the database of the space cannot be reached. */
  readonly cutOffWarning: string | undefined
  /** The programs beside the space that agents depend on for their mail. */
  helpers(): Helper[]
  /** What happened besides mail, the newest first: refusals, credentials, settings, imports, repairs, who came and went. */
  audit(options?: ListOptions): Promise<AuditPage>
  /** The records of the journal that could not be read, and what is known of them from others. */
  unreadable(): Promise<UnreadableRecord[]>
  /** Takes the lock and releases it; throws what stands in the way. */
  checkWritable(): Promise<void>
  /** Checks every line of the journal, and with `deep` the index against a rebuilt one. */
  verify(options?: VerifyOptions & { deep?: boolean }): Promise<VerifyReport>
  /** Discards the index and rebuilds it from the journal. */
  rebuild(options?: CatchUpOptions): Promise<void>
  /** Gzips old segments of the journal, and removes those that are older still where that is configured. */
  archiveOld(options?: ArchiveOptions): Promise<ArchiveReport>
  /** Repairs what can be repaired in the journal, and takes lost records from copies. */
  repair(options?: RepairOptions): Promise<RepairReport>
  /** Makes a directory the second copy of the journal, and copies everything into it; `''` ends that. */
  setMirror(dir: string, options?: CopyOptions): Promise<Mirrored>
  /** How the second copy stands to the journal; undefined if there is none. */
  mirror(): Promise<MirrorState | undefined>
  /** Everything that makes the space, as the lines of `mailbox export`. */
  exportLines(options?: ExportOptions): AsyncGenerator<ExportLine>
  /**
   * Adds what another space exported: its settings if this one has no mail yet, its agents, messages and receipts.
   * What is here already stays as it is. Lines that `send` would refuse are refused one by one.
   */
  importMessages(
    lines: AsyncIterable<unknown> | Iterable<unknown>,
    options?: ImportOptions,
  ): Promise<Imported>
}

export interface OpenSpaceOptions {
  /** The space's directory. It is created if it does not exist. */
  dir: string
  /** Overrides of `config.json`, for this process. */
  settings?: Partial<Settings>
  /** The time to go by, in ms since 1970. @default the clock of the space */
  now?: () => number
  /** Called while an index that is missing or far behind is being built. */
  onProgress?: (seq: number) => void
  /** Create a space in a database that does not have it yet. @default true */
  creates?: boolean
}

/** A space in a PostgreSQL database. */
export interface DatabaseOptions extends Omit<OpenSpaceOptions, 'dir'> {
  /** `postgres://USER@HOST/DATABASE?space=NAME`; the password can also come from PGPASSWORD or ~/.pgpass. */
  url: string
  /** Where this machine keeps its copy and its index. @default a directory under ~/.cache */
  dir?: string
}

export interface MailboxOptions {
  /** Joins an agent that is not in the roster yet, with these roles and tags. `false`: refuses it. @default {} */
  join?: JoinInput | false
}
