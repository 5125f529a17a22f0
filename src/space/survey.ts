import { type Agent, person } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import { type Channel, channels, countMessages } from '../query/channels.ts'
import { Chronicle } from '../query/chronicle.ts'
import { count, type UnreadCount } from '../query/count.ts'
import { countDead } from '../query/dead.ts'
import { entriesAfter } from '../query/entries.ts'
import { isForPerson, type Need, needsOf } from '../query/needs.ts'
import type { RosterAgent } from '../query/presence.ts'
import { type Replay, replay } from '../query/replay.ts'
import { agentByName, roster } from '../query/roster.ts'
import { type Series, type SeriesOptions, series } from '../query/series.ts'
import { type UnreadableRecord, unreadableRecords } from '../query/unreadable.ts'
import type { SpaceCore } from './core.ts'
import { readPersonFile, spaceName } from './person-file.ts'
import { agents } from './roster.ts'

export { isForPerson } from '../query/needs.ts'

export interface Overview {
  seq: number
  /** The identity of the space, and what people call it. */
  space: { id: string; name: string }
  agents: RosterAgent[]
  /** Everything that waits for the person, and how much of it asks for something. */
  needsYou: number
  asksYou: number
  dead: number
  unread: Record<string, UnreadCount>
  channels: Channel[]
  totals: { messages: number }
  /** Records of the journal that could not be read. */
  unreadable: UnreadableRecord[]
}

/** How many entries one page has at most. */
const entriesAtMost = 1_000
/** How long the chronicle may be read without a turn of the event loop. */
const stintMs = 15

/** What a person who watches over a space asks of it. Every answer is a look: nothing is marked. */
export class Survey {
  readonly #core: SpaceCore
  #chronicle = new Chronicle()
  #reading: Promise<void> | undefined

  constructor(core: SpaceCore) {
    this.#core = core
  }

  async overview(): Promise<Overview> {
    const now = this.#core.now()
    const everybody = await agents(this.#core)
    const { snoozed } = readPersonFile(this.#core.dir)
    return this.#core.query((source) => {
      const needs = needsOf(source, agentByName(source, person)!, now, snoozed)
      return {
        seq: source.index.cursor.seq,
        space: { id: this.#core.journal.space, name: this.#core.settings.name || spaceName(this.#core.dir) },
        agents: everybody,
        needsYou: needs.length,
        asksYou: needs.filter(isForPerson).length,
        dead: countDead(source, now),
        unread: Object.fromEntries(roster(source).map((agent) => [agent.name, count(source, agent, now)])),
        channels: channels(source),
        totals: { messages: countMessages(source) },
        unreadable: unreadableRecords(source),
      }
    })
  }

  /** What waits for the person: what asks for something first, by what it frees. */
  async needs(): Promise<Need[]> {
    const { snoozed } = readPersonFile(this.#core.dir)
    return this.#core.query((source) =>
      needsOf(source, agentByName(source, person)!, this.#core.now(), snoozed),
    )
  }

  /** An agent as the roster has it, without a look at its process. */
  async agent(name: string): Promise<Agent | undefined> {
    return this.#core.query((source) => agentByName(source, name))
  }

  /** Entries after a point, and how far the journal goes. */
  async entries(after: number, limit = 200, maxBytes?: number): Promise<{ entries: Entry[]; seq: number }> {
    return this.#core.query((source) => ({
      entries: entriesAfter(source, after, Math.min(limit, entriesAtMost), maxBytes),
      seq: source.index.cursor.seq,
    }))
  }

  async series(options: SeriesOptions = {}): Promise<Series> {
    await this.#readOn()
    return series(this.#chronicle, options, this.#core.now())
  }

  /** The space as it was after an entry; without one, as it is. */
  async replay(at = Number.MAX_SAFE_INTEGER): Promise<Replay> {
    await this.#readOn()
    return this.#core.query((source) => replay(source, this.#chronicle, at))
  }

  /** Brings the chronicle to the end of the journal; whoever asks meanwhile waits for the same reading. */
  #readOn(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #read(): Promise<void> {
    for (let more = true; more; ) {
      // A question may be asked again before its answer counts; the chronicle takes in every entry once.
      const journal = await this.#core.query(({ stored }) => stored)
      // Old mail was removed, and with it the places that were remembered.
      if (this.#chronicle.isOutdated(journal)) this.#chronicle = new Chronicle()
      const until = performance.now() + stintMs
      do more = this.#chronicle.advance(journal)
      while (more && performance.now() < until)
      if (more) await new Promise(setImmediate)
    }
  }
}
