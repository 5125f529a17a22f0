import { join } from 'node:path'
import { processState } from '../base/process.ts'
import { pause } from '../base/timers.ts'
import { aloneIn } from '../space/alone.ts'
import type { OpenedSpace } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { Ring } from './ring.ts'
import type { RosterAgent, WatchBell, WatchedSpace } from './watched.ts'

const hubLookMs = 15_000
const beatsInTime = 4
const againMs = 2_000

/**
 * A space behind a hub, which knows each agent by a token of its own. So every agent that is watched has its own
 * connection, and what one token may not do keeps no other agent from its mail.
 */
export class WatchedHub implements WatchedSpace {
  readonly settings: WatchedSpace['settings']
  readonly now: () => number
  readonly place: string
  readonly stateDir: string
  readonly lookMs = hubLookMs
  readonly #first: OpenedSpace
  readonly #openFor: (agent: string) => Promise<OpenedSpace>
  readonly #spaces = new Map<string, Promise<OpenedSpace>>()
  readonly #saidHere = new Map<string, number>()
  readonly #ring = new Ring()
  #ending: AbortSignal | undefined
  #news = new Set<string>()

  constructor(space: OpenedSpace, openFor: (agent: string) => Promise<OpenedSpace>) {
    this.settings = space.settings
    this.now = space.now
    this.place = space.place
    this.stateDir = space.stateDir
    this.#first = space
    this.#openFor = openFor
  }

  async news(): Promise<(name: string) => boolean> {
    const names = this.#news
    this.#news = new Set()
    return (name) => names.has(name)
  }

  /** One that could not be opened is tried again. */
  async #of(name: string): Promise<OpenedSpace> {
    const known = this.#spaces.get(name)
    if (known !== undefined) return known
    const opening = this.#openFor(name)
    this.#spaces.set(name, opening)
    try {
      const space = await opening
      if (this.#ending !== undefined) void this.#follow(name, space, this.#ending)
      return space
    } catch (error) {
      this.#spaces.delete(name)
      throw error
    }
  }

  /** Its entries say that there is news. They are read in full with the next look. */
  async #follow(name: string, space: OpenedSpace, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const _ of space.follow({ after: await space.lastSeq(), signal })) this.#changed(name)
      } catch {
        // The hub is away, or the token has ended: the next look says so.
      }
      this.#changed(name)
      if (!signal.aborted) await pause(againMs, signal)
    }
  }

  #changed(name: string): void {
    this.#news.add(name)
    this.#ring.ring()
  }

  async agentsNamed(names: readonly string[]): Promise<Map<string, RosterAgent | Error>> {
    const found = new Map<string, RosterAgent | Error>()
    const look = async (name: string) => {
      try {
        const agents = await (await this.#of(name)).agents()
        const agent = agents.find((one) => one.name === name)
        if (agent === undefined) return
        found.set(name, agent)
        await this.#stayPresent(agent)
      } catch (error) {
        found.set(name, error as Error)
      }
    }
    await Promise.all(names.map(look))
    return found
  }

  /** A hub on another machine cannot see the process of a pane. */
  async #stayPresent({ name, session, state }: RosterAgent): Promise<void> {
    const everyMs = this.settings.heartbeatMs / beatsInTime
    if (everyMs === 0 || state === 'frozen' || processState(session) !== 'running') return
    if (performance.now() - (this.#saidHere.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return
    this.#saidHere.set(name, performance.now())
    await this.sayHere(name)
  }

  sayHere = async (name: string) => (await (await this.#of(name)).mailboxOfRun(name)).heartbeat()
  mailbox = async (name: string): Promise<Mailbox> =>
    (await this.#of(name)).mailboxOfRun(name, { join: false })
  mailboxOfRun = this.mailbox
  /** The agent says it itself: nobody there speaks for the mailbox. */
  reporter = this.mailbox
  join: OpenedSpace['join'] = async (name, input) => (await this.#of(name)).join(name, input)
  exclusively = <T>(work: () => T): T => aloneIn(join(this.stateDir, 'tmux'), work)

  begin(signal: AbortSignal): WatchBell {
    this.#ending = signal
    signal.addEventListener('abort', () => this.#ring.ring())
    return this.#ring
  }

  willChange = (name: string) => void this.#news.add(name)

  async close(): Promise<void> {
    await this.#first.close()
    for (const space of this.#spaces.values()) await space.then((one) => one.close()).catch(() => {})
  }
}
