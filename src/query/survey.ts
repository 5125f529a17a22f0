import { type Agent, person } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import type { Space } from '../space/space.ts'
import { type Channel, channels, countMessages } from './channels.ts'
import { Chronicle } from './chronicle.ts'
import { count, type UnreadCount } from './count.ts'
import { countDead } from './dead.ts'
import { entriesAfter } from './entries.ts'
import { type Need, needsOf } from './needs.ts'
import type { RosterAgent } from './presence.ts'
import { type Replay, replay } from './replay.ts'
import { agentByName, roster } from './roster.ts'
import { type SeriesBucket, type SeriesOptions, series } from './series.ts'
import {
  type ThreadMessage,
  type ThreadPage,
  type ThreadsOptions,
  threads,
  threadWithReceipts,
} from './threads.ts'
import { type Traffic, traffic } from './traffic.ts'

export interface Overview {
  seq: number
  agents: RosterAgent[]
  needsYou: number
  dead: number
  unread: Record<string, UnreadCount>
  channels: Channel[]
  totals: { messages: number }
}

/** How many entries one page has at most. */
const entriesAtMost = 1_000
/** How long the chronicle may be read without a turn of the event loop. */
const stintMs = 15

/** What a person who watches over a space asks of it. Every answer is a look: nothing is marked. */
export class Survey {
  readonly #space: Space
  #chronicle = new Chronicle()
  #reading: Promise<void> | undefined

  constructor(space: Space) {
    this.#space = space
  }

  async overview(): Promise<Overview> {
    const now = this.#space.now()
    const agents = await this.#space.agents()
    return this.#space.query((source) => ({
      seq: source.index.cursor.seq,
      agents,
      needsYou: needsOf(source, agentByName(source, person)!, now).length,
      dead: countDead(source, now),
      unread: Object.fromEntries(roster(source).map((agent) => [agent.name, count(source, agent, now)])),
      channels: channels(source),
      totals: { messages: countMessages(source) },
    }))
  }

  async needsYou(): Promise<Need[]> {
    return this.#space.query((source) => needsOf(source, agentByName(source, person)!, this.#space.now()))
  }

  /** An agent as the roster has it, without a look at its process. */
  async agent(name: string): Promise<Agent | undefined> {
    return this.#space.query((source) => agentByName(source, name))
  }

  async threads(options: ThreadsOptions = {}): Promise<ThreadPage> {
    return this.#space.query((source) => threads(source, options))
  }

  async thread(id: string): Promise<ThreadMessage[]> {
    return this.#space.query((source) => threadWithReceipts(source, id))
  }

  async traffic(sinceMs = 0): Promise<Traffic[]> {
    return this.#space.query((source) => traffic(source, sinceMs))
  }

  /** Entries after a point, and how far the journal goes. */
  async entries(after: number, limit = 200, maxBytes?: number): Promise<{ entries: Entry[]; seq: number }> {
    return this.#space.query((source) => ({
      entries: entriesAfter(source, after, Math.min(limit, entriesAtMost), maxBytes),
      seq: source.index.cursor.seq,
    }))
  }

  async series(options: SeriesOptions = {}): Promise<SeriesBucket[]> {
    await this.#readOn()
    return series(this.#chronicle, options, this.#space.now())
  }

  /** The space as it was after an entry; without one, as it is. */
  async replay(at = Number.MAX_SAFE_INTEGER): Promise<Replay> {
    await this.#readOn()
    return this.#space.query((source) => replay(source, this.#chronicle, at))
  }

  /** Brings the chronicle to the end of the journal; whoever asks meanwhile waits for the same reading. */
  #readOn(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    for (let more = true; more; ) {
      more = await this.#space.query(({ journal }) => {
        // Old mail was removed, and with it the places that were remembered.
        if (this.#chronicle.isOutdated(journal)) this.#chronicle = new Chronicle()
        const until = performance.now() + stintMs
        while (performance.now() < until) if (!this.#chronicle.advance(journal)) return false
        return true
      })
      if (more) await new Promise(setImmediate)
    }
  }
}
