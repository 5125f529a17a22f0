import { type Cursor, type Journal, startCursor } from '../journal/journal.ts'
import { isGroupBox } from '../model/address.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import { Directory, foldTallies } from '../model/directory.ts'
import { type AgentEntry, type Entry, originOf, type ReceiptEntry } from '../model/entry.ts'
import { bucketOf } from '../model/latency.ts'
import { priorities } from '../model/message.ts'
import { finishes, showsFirst } from '../model/receipt.ts'

/** What happened in one slot of time. */
export interface Slot {
  /** When it starts, in ms. */
  at: number
  sent: number
  handled: number
  /** Unread mail of agents and roles when it ends. */
  pending: number
  /** Time until mail was first shown: a count for each bucket of model/latency.ts. */
  shownAfter: Map<number, number>
}

/**
 * An agent died, or is there again after that: with a new run, or because it was not dead after all. Or a hub was
 * started, where `agent` is who started it.
 */
export interface LifeEvent {
  at: string
  kind: 'died' | 'restarted' | 'hub_started'
  agent: string
}

/** The state after an entry, kept so that looking at the past does not mean reading all of it again. */
export interface Mark {
  seq: number
  cursor: Cursor
  messages: number
  firstMessage: number | undefined
  missing: Set<number>
  agents: Map<string, Agent>
  tallies: Map<string, number[]>
}

export const slotMs = 10_000
const sliceBytes = 1_048_576
const marksAtMost = 512
const firstSpacing = 500
const eventsAtMost = 10_000
/** For how many unseen messages to remember when they were sent. */
const awaitedAtMost = 200_000

/**
 * The history of a space: counts over time, and states from which any moment can be derived. It is a fold of
 * the journal like the index, but held in memory and built on demand: it serves people who look back, not
 * agents at work.
 */
export class Chronicle {
  readonly slots: Slot[] = []
  readonly events: LifeEvent[] = []
  readonly marks: Mark[] = []
  first: { seq: number; at: string } | undefined
  last: { seq: number; at: string } | undefined
  #cursor: Cursor = startCursor
  #directory = new Directory()
  #messages = 0
  #pending = 0
  #spacing = firstSpacing
  readonly #awaited = new Map<number, number>()

  /** Folds the next slice of new entries. False at the end. */
  advance(journal: Journal): boolean {
    const { entries, cursor } = journal.read(this.#cursor, sliceBytes)
    for (const { entry, place } of entries) {
      const { segment, offset } = place
      if (entry.seq >= (this.marks.at(-1)?.seq ?? -this.#spacing) + this.#spacing)
        this.#mark({ ...startCursor, seq: entry.seq - 1, segment, offset })
      this.#fold(entry)
    }
    this.#cursor = cursor
    return entries.length > 0
  }

  /** Whether the journal no longer starts where it did. */
  isOutdated(journal: Journal): boolean {
    return this.first !== undefined && journal.read(startCursor, 1).entries[0]?.entry.seq !== this.first.seq
  }

  /** Keeps the state before the entry at the cursor. */
  #mark(cursor: Cursor): void {
    const { agents, tallies, firstMessage, missing } = this.#directory
    this.marks.push({
      seq: cursor.seq,
      cursor,
      messages: this.#messages,
      firstMessage,
      missing: new Set(missing),
      agents: new Map(agents),
      tallies: new Map([...tallies].map(([box, tally]) => [box, [...tally]])),
    })
    if (this.marks.length <= marksAtMost) return
    this.#spacing *= 2
    for (let at = this.marks.length - 1; at >= 0; at--) if (at % 2 === 1) this.marks.splice(at, 1)
  }

  #fold(entry: Entry): void {
    if (entry.kind === 'agent') this.#foldAgent(entry)
    else if (entry.kind === 'audit' && entry.event === 'hub_started' && originOf(entry) === undefined)
      this.#note({ at: entry.at, kind: 'hub_started', agent: entry.by })
    this.#directory.fold(entry)
    this.first ??= { seq: entry.seq, at: entry.at }
    this.last = { seq: entry.seq, at: entry.at }
    const slot = this.#slot(Date.parse(entry.at))
    foldTallies(entry, this.#directory, (box, place, by) => {
      if (place < priorities.length && !isGroupBox(box)) this.#pending += by
    })
    // What was imported did not happen here, and not at this time.
    const isOurs = originOf(entry) === undefined
    if (entry.kind === 'message') {
      this.#messages++
      if (isOurs) slot.sent++
      this.#await(entry.seq, Date.parse(entry.message.createdAt))
    } else if (entry.kind === 'receipt' && entry.by !== systemAgent && isOurs) this.#foldReceipt(entry, slot)
    slot.pending = this.#pending
  }

  #foldAgent({ at, change, agent }: AgentEntry): void {
    const { name } = agent
    if (change === 'died') this.#note({ at, kind: 'died', agent: name })
    else if (agent.state !== 'dead' && this.#directory.agents.get(name)?.state === 'dead')
      this.#note({ at, kind: 'restarted', agent: name })
  }

  #note(event: LifeEvent): void {
    this.events.push(event)
    if (this.events.length > eventsAtMost) this.events.shift()
  }

  #foldReceipt({ at, changes }: ReceiptEntry, slot: Slot): void {
    for (const change of changes) {
      if (showsFirst(change)) {
        const created = this.#awaited.get(change.seq)
        if (created === undefined) continue
        const bucket = bucketOf(Date.parse(at) - created)
        slot.shownAfter.set(bucket, (slot.shownAfter.get(bucket) ?? 0) + 1)
      }
      if (finishes(change)) {
        slot.handled++
        this.#awaited.delete(change.seq)
      }
    }
  }

  #await(seq: number, created: number): void {
    this.#awaited.set(seq, created)
    if (this.#awaited.size <= awaitedAtMost) return
    const [oldest] = this.#awaited.keys()
    this.#awaited.delete(oldest!)
  }

  /** Entries come in order of seq; where the clock was set back, they count for the latest slot. */
  #slot(time: number): Slot {
    const at = time - (time % slotMs)
    const latest = this.slots.at(-1)
    if (latest !== undefined && latest.at >= at) return latest
    const slot: Slot = { at, sent: 0, handled: 0, pending: this.#pending, shownAfter: new Map() }
    this.slots.push(slot)
    return slot
  }
}
