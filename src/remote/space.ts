import type { handlingOperations } from '../api/handling-operations.ts'
import { type AnswerOf, type InputOf, toPath } from '../api/operation.ts'
import { readings } from '../api/readings.ts'
import type { rosterOperations } from '../api/roster-operations.ts'
import { MailboxError } from '../base/errors.ts'
import { identifyProcess } from '../base/process.ts'
import type { JoinInput, UpdateInput } from '../command/roster.ts'
import type { SeatInput } from '../command/seat.ts'
import type { FollowOptions } from '../delivery/follow.ts'
import { person } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import type { SendInput } from '../model/fields.ts'
import type { Settings } from '../model/settings.ts'
import type { ListOptions } from '../query/page.ts'
import type { UnreadableRecord } from '../query/unreadable.ts'
import type { MailboxOptions, OpenedSpace } from '../space/api.ts'
import type { Helper } from '../space/helpers.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { RemoteBridged } from './bridged.ts'
import { Connection, type HubOptions } from './connection.ts'
import { RemoteMailbox } from './mailbox.ts'
import { followHub } from './stream.ts'

type SpaceInfo = AnswerOf<(typeof readings)['space']>

/** Heartbeats in the time after which a silent agent counts as dead. */
const beatsInTime = 4
/** How many entries of the journal to ask for at once. */
const entriesAtOnce = 500

type Operations = typeof rosterOperations & Pick<typeof handlingOperations, 'update' | 'leave'>
type Readings = typeof readings

/** Opens a space behind a hub. */
export async function openHub(options: HubOptions, here: Here): Promise<RemoteSpace> {
  const connection = new Connection(options)
  return new RemoteSpace(connection, await look(connection, 'space', {}), here)
}

/** Opens a space behind a hub for a bridge; `endedBy` says what an error is that ends it. */
export async function openHubForBridge(
  options: HubOptions,
  here: Here,
  endedBy: (cause: Error) => Error,
): Promise<{ space: RemoteBridged; close: () => void }> {
  const connection = new Connection(options)
  const info = await look(connection, 'space', {})
  const space = new RemoteBridged(connection, new RemoteSpace(connection, info, here), endedBy)
  await space.check()
  return { space, close: () => connection.close() }
}

/** What this machine has of a space behind a hub. */
export interface Here {
  /** Where its programs keep what belongs to the space. */
  stateDirOf: (url: string) => string
  /** The programs in there that agents depend on for their mail. */
  helpersIn: (dir: string, now: number) => Helper[]
}

/** A space behind a hub: the same commands and queries, over HTTP. */
export class RemoteSpace implements OpenedSpace {
  readonly id: string
  readonly place: string
  readonly settings: Settings
  /** The agent that the token belongs to. */
  readonly you: string
  /** Of the program that serves it. */
  readonly version: string
  readonly #connection: Connection
  readonly #aheadMs: number
  readonly #unreadable: UnreadableRecord[]
  readonly #here: Here
  readonly #beating = new Map<string, { timer: NodeJS.Timeout; heardAt: number }>()

  /** @internal Use openSpace. */
  constructor(connection: Connection, info: SpaceInfo, here: Here) {
    const { id, settings, you, at, version, unreadable = [] } = info
    this.#connection = connection
    this.place = connection.wire.url
    this.version = version
    this.#unreadable = unreadable
    this.#here = here
    this.id = id
    this.settings = settings
    this.you = you
    this.#aheadMs = Date.parse(at) - Date.now()
  }

  /** The hub's time, as far as can be told from here. */
  readonly now = (): number => Date.now() + this.#aheadMs

  get stateDir(): string {
    return this.#here.stateDirOf(this.place)
  }

  async mailbox(name: string, options: MailboxOptions = {}): Promise<Mailbox> {
    const join = options.join === false ? false : this.#fromHere(options.join ?? {})
    await this.#act(name, 'open', { join })
    const onHeard = () => this.#heard(name)
    const mailbox = new RemoteMailbox(this.#connection, name, this, onHeard)
    if (join !== false) this.#beat(name, mailbox)
    return mailbox
  }

  /** Without a request of its own: every operation says by itself if there is no such agent. */
  async mailboxOfRun(name: string, options: MailboxOptions = {}): Promise<Mailbox> {
    if (options.join !== undefined && options.join !== false)
      await this.#act(name, 'open', { join: options.join })
    return new RemoteMailbox(this.#connection, name, this, () => this.#heard(name), { isOfRun: true })
  }

  /** The hub writes for everybody. */
  stay(): void {}

  /** Whatever the client is, the token says whose it is. */
  async joinAs({ name = this.you, client, session, joins = true }: SeatInput): Promise<Mailbox> {
    if (this.you === person)
      throw new MailboxError('not_permitted', 'an agent cannot use the token of the person', {
        hint: 'create one for the agent, on the machine of the hub: mailbox token NAME',
      })
    const join = joins && this.#fromHere({ session: { ...session, client } })
    await this.#act(name, 'open', { join })
    const onHeard = () => this.#heard(name)
    const mailbox = new RemoteMailbox(this.#connection, name, this, onHeard, { isOfRun: true })
    this.#beat(name, mailbox)
    return mailbox
  }

  endRun = (name: string, options: { frozen: boolean }) => this.#act(name, 'endRun', options)
  join = (name: string, input: JoinInput = {}) =>
    this.#act(name, 'join', input.session?.pid === undefined ? input : this.#fromHere(input))
  update = (name: string, input: UpdateInput) => this.#act(name, 'update', input)
  leave = (name: string, options: { frozen?: boolean } = {}) => this.#act(name, 'leave', options)

  agents = async () => (await this.#look('agents', {})).agents
  deadLetters = (options: InputOf<Readings['dead']> = {}) => this.#look('dead', options)
  owed = async (options: InputOf<Readings['owed']> = {}) => (await this.#look('owed', options)).owed
  digest = (options: InputOf<Readings['digest']> = {}) => this.#look('digest', options)
  stats = () => this.#look('stats', {})
  show = (id: string) => this.#look('message', { id })
  agent = async (name: string) =>
    (await this.agents()).find((agent) => agent.name === name) ?? (await this.mailboxOfRun(name)).agent()
  thread = async (id: string) => (await this.mailboxOfRun(this.you)).thread(id)
  testRoute = (from: string, input: Partial<SendInput>) => this.#act(from, 'testRoute', input)
  audit = (options: ListOptions = {}) => this.#look('auditEntries', options)
  overview = () => this.#look('overview', {})
  needs = async () => (await this.#look('needsYou', {})).items
  unreadable = async () => this.#unreadable
  /** Those of this machine. */
  helpers = () => this.#here.helpersIn(this.stateDir, this.now())
  lastSeq = async () => (await this.#look('space', {})).seq
  follow = ({ after = 0, signal }: FollowOptions = {}) => followHub(this.#connection, { after, signal })

  async *entries(after: number, signal?: AbortSignal): AsyncGenerator<{ entry: Entry }> {
    for (let from = after; !signal?.aborted; ) {
      const { entries } = await this.#look('entries', { after: from, limit: entriesAtOnce })
      if (entries.length === 0) return
      for (const entry of entries) yield { entry }
      from = entries.at(-1)!.seq
    }
  }

  /**
   * A process of this machine, as it describes it: ours unless another is named. A hub on the same machine can see it;
   * others need to hear from it.
   */
  #fromHere(input: JoinInput): JoinInput {
    const { pid = process.pid, host } = input.session ?? {}
    return { ...input, session: { ...(host === undefined ? identifyProcess(pid) : {}), ...input.session } }
  }

  #act<M extends keyof Operations>(
    name: string,
    method: M,
    body: InputOf<Operations[M]>,
  ): Promise<AnswerOf<Operations[M]>> {
    const path = `/api/mailboxes/${encodeURIComponent(name)}/${toPath(method)}`
    return this.#connection.call({ path, body, repeatable: method === 'open' || method === 'testRoute' })
  }

  #look<R extends keyof Readings>(name: R, query: InputOf<Readings[R]>): Promise<AnswerOf<Readings[R]>> {
    return look(this.#connection, name, query)
  }

  #heard(name: string): void {
    const known = this.#beating.get(name)
    if (known !== undefined) known.heardAt = performance.now()
  }

  /** An agent that is silent for long counts as dead where its process cannot be seen. */
  #beat(name: string, mailbox: Mailbox): void {
    const everyMs = this.settings.heartbeatMs / beatsInTime
    if (everyMs === 0 || this.#beating.has(name)) return
    const beat = () => {
      const { heardAt } = this.#beating.get(name)!
      if (performance.now() - heardAt < everyMs) return
      // The next one tries again. An agent that has left or lost its token need not report.
      void mailbox.heartbeat().catch(() => {})
    }
    const timer = setInterval(beat, everyMs)
    timer.unref()
    this.#beating.set(name, { timer, heardAt: performance.now() })
  }

  /** Ends everything that waits or follows. The agents stay in the roster until they `leave`. */
  async close(): Promise<void> {
    for (const { timer } of this.#beating.values()) clearInterval(timer)
    this.#beating.clear()
    this.#connection.close()
  }

  [Symbol.asyncDispose] = (): Promise<void> => this.close()
}

/** One reading of the hub, by its row in the API. */
function look<R extends keyof Readings>(
  connection: Connection,
  name: R,
  query: InputOf<Readings[R]>,
): Promise<AnswerOf<Readings[R]>> {
  const search = new URLSearchParams()
  let { path }: { path: string } = readings[name]
  for (const [key, value] of Object.entries(query)) {
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, encodeURIComponent(String(value)))
    else if (value !== undefined) search.set(key, String(value))
  }
  return connection.call({ path: `${path}?${search}`, repeatable: true })
}
