import { identifyProcess } from '../base/process.ts'
import type { JoinInput } from '../command/roster.ts'
import type { FollowOptions } from '../delivery/follow.ts'
import type { Agent } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import type { DeadLetters } from '../query/dead.ts'
import type { Owed } from '../query/owed.ts'
import type { RosterAgent } from '../query/presence.ts'
import type { ShownMessage } from '../query/show.ts'
import type { Stats } from '../query/stats.ts'
import type { Mailbox } from '../space/mailbox.ts'
import type { Settings } from '../space/settings.ts'
import type { AnySpace, MailboxOptions } from '../space/space.ts'
import { Connection, type HubOptions } from './connection.ts'
import { createRemoteMailbox } from './mailbox.ts'
import { followHub } from './stream.ts'

interface SpaceInfo {
  id: string
  seq: number
  at: string
  you: string
  settings: Settings
}

/** How often in the time after which a silent agent counts as dead it says that it is there. */
const beatsInTime = 4

/** Opens a space behind a hub. */
export async function openHub(options: HubOptions): Promise<RemoteSpace> {
  const connection = new Connection(options)
  const info = await connection.call<SpaceInfo>({ method: 'GET', path: '/api/space', repeatable: true })
  return new RemoteSpace(connection, info)
}

/** A space on another machine: the same questions and commands, over HTTP. */
export class RemoteSpace implements AnySpace {
  readonly id: string
  readonly settings: Settings
  /** Whom the token speaks for. */
  readonly you: string
  readonly #connection: Connection
  readonly #aheadMs: number
  readonly #beating = new Map<string, { timer: NodeJS.Timeout; heardAt: number }>()

  /** @internal Use openSpace. */
  constructor(connection: Connection, { id, settings, you, at }: SpaceInfo) {
    this.#connection = connection
    this.id = id
    this.settings = settings
    this.you = you
    this.#aheadMs = Date.parse(at) - Date.now()
  }

  /** The time of the space, as far as can be told from here. */
  readonly now = (): number => Date.now() + this.#aheadMs

  async mailbox(name: string, options: MailboxOptions = {}): Promise<Mailbox> {
    const join = options.join === false ? false : this.#fromHere(options.join ?? {})
    await this.#act(name, 'open', { join })
    const mailbox = createRemoteMailbox({
      ...{ connection: this.#connection, name, claimTtlMs: this.settings.claimTtlMs },
      onHeard: () => this.#heard(name),
    })
    if (join !== false) this.#beat(name, mailbox)
    return mailbox
  }

  async join(name: string, input: JoinInput = {}): Promise<Agent> {
    return this.#act(name, 'join', input.session?.pid === process.pid ? this.#fromHere(input) : input)
  }

  update(name: string, input: Parameters<AnySpace['update']>[1]): Promise<Agent> {
    return this.#act(name, 'update', input)
  }

  leave(name: string, options: { frozen?: boolean } = {}): Promise<Agent> {
    return this.#act(name, 'leave', options)
  }

  async agents(): Promise<RosterAgent[]> {
    return (await this.#look<{ agents: RosterAgent[] }>('agents')).agents
  }

  deadLetters(options: Parameters<AnySpace['deadLetters']>[0] = {}): Promise<DeadLetters> {
    return this.#look('dead', { ...options })
  }

  async owed(options: Parameters<AnySpace['owed']>[0] = {}): Promise<Owed[]> {
    return (await this.#look<{ owed: Owed[] }>('owed', { ...options })).owed
  }

  stats(): Promise<Stats> {
    return this.#look('stats')
  }

  show(id: string): Promise<ShownMessage> {
    return this.#look(`messages/${encodeURIComponent(id)}`)
  }

  async end(): Promise<number> {
    return (await this.#look<SpaceInfo>('space')).seq
  }

  follow({ after = 0, signal }: FollowOptions = {}): AsyncGenerator<{ entry: Entry }> {
    return followHub(this.#connection, { after, signal })
  }

  /** Our process, as our own machine describes it; a hub that runs there can see it, any other needs to hear of it. */
  #fromHere(input: JoinInput): JoinInput {
    return { ...input, session: { ...identifyProcess(process.pid), ...input.session } }
  }

  #act<T>(name: string, operation: string, body: object): Promise<T> {
    const path = `/api/mailboxes/${encodeURIComponent(name)}/${operation}`
    return this.#connection.call<T>({ method: 'POST', path, body, repeatable: operation === 'open' })
  }

  #look<T>(path: string, query: Record<string, unknown> = {}): Promise<T> {
    const given = Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    )
    const search = new URLSearchParams(Object.fromEntries(given) as Record<string, string>)
    return this.#connection.call<T>({ method: 'GET', path: `/api/${path}?${search}`, repeatable: true })
  }

  #heard(name: string): void {
    const known = this.#beating.get(name)
    if (known !== undefined) known.heardAt = performance.now()
  }

  /** An agent that says nothing for long is taken for dead where its process cannot be seen. */
  #beat(name: string, mailbox: Mailbox): void {
    const everyMs = this.settings.heartbeatMs / beatsInTime
    if (everyMs === 0 || this.#beating.has(name)) return
    const beat = () => {
      const { heardAt } = this.#beating.get(name)!
      if (performance.now() - heardAt < everyMs) return
      // The next one tries again; whoever has left or lost its token has nothing to say.
      void mailbox.heartbeat().catch(() => {})
    }
    const timer = setInterval(beat, everyMs)
    timer.unref()
    this.#beating.set(name, { timer, heardAt: performance.now() })
  }

  /** Ends everything that waits or follows. The agents stay: whoever is done says so with `leave`. */
  async close(): Promise<void> {
    for (const { timer } of this.#beating.values()) clearInterval(timer)
    this.#beating.clear()
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
