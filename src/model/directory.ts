import { boxesTo, boxOfTag } from './address.ts'
import type { Agent } from './agent.ts'
import { type Gist, originOf } from './entry.ts'
import { Looks } from './look-alike.ts'
import { type Priority, priorities, priorityRank } from './message.ts'
import { classOf, type ReceiptChange, type ReceiptState } from './receipt.ts'
import { RecentIds } from './recent-ids.ts'

const ranks = priorities.length
export const tallySlots = 3 * ranks
export const rateWindowMs = 60_000
/** How many messages are remembered by their ids: far more than can be sent while somebody waits for an answer. */
const idsKept = 20_000

/**
 * The agents and the number of messages in each box: the small part of the state that every send needs.
 * It is folded from the journal and held in memory, so that sending needs no database. The index keeps a
 * copy, so that a new process only folds the entries since then.
 */
export class Directory {
  readonly #agents = new Map<string, Agent>()
  // The same agents by what is asked of them most, so that a large roster costs no more than a small one.
  readonly #here = new Map<string, Agent>()
  readonly #frozen = new Map<string, Agent>()
  readonly #dead = new Map<string, Agent>()
  readonly #byRole = new Map<string, Set<string>>()
  readonly #byTag = new Map<string, Set<string>>()
  /** Made when somebody first asks, and kept up from then on: most processes need it for nobody. */
  #looks: Looks | undefined
  /** For each box, by rank: unread, then open, then open group mail. */
  readonly tallies = new Map<string, number[]>()
  /** When each agent was last active. */
  readonly seen = new Map<string, string>()
  /** Times of each agent's messages in the last minute, in ms, oldest first; only if there is a rate limit. */
  readonly sends = new Map<string, number[]>()
  /** The ids of the messages that were folded in lately. */
  readonly recent = new RecentIds(idsKept)
  /** The last entry folded in. */
  seq: number
  /** The last entry that was not folded in: the rest came from an index, and its ids are not known. */
  readonly from: number
  /** The seq of the oldest message, if any. */
  firstMessage: number | undefined
  /** Seqs that are not in the journal though others around them are: their lines are damaged. */
  readonly missing = new Set<number>()
  readonly #countsSends: boolean

  constructor(options: { countsSends?: boolean; from?: number } = {}) {
    this.#countsSends = options.countsSends ?? false
    this.from = options.from ?? 0
    this.seq = this.from
  }

  fold(entry: Gist): void {
    if (entry.seq <= this.seq) return
    if (this.seq > 0) for (let seq = this.seq + 1; seq < entry.seq; seq++) this.missing.add(seq)
    this.seq = entry.seq
    const actor = actorOf(entry)
    if (actor !== undefined)
      this.seen.set(
        actor,
        seenBy(entry, () => this.seen.get(actor)),
      )
    if (entry.kind === 'agent') return void this.put(entry.agent)
    if (entry.kind === 'message') this.firstMessage ??= entry.seq
    if (entry.kind === 'message' || entry.kind === 'scheduled') {
      this.recent.add(entry.message.id)
      if (this.#countsSends && entry.originalAt === undefined && actor !== undefined)
        this.noteSend(actor, Date.parse(entry.at))
    }
    foldTallies(entry, this, (box, slot, by) => this.#add(box, slot, by))
  }

  mark(): Mark {
    return { directory: this, seq: this.seq }
  }

  /** Whether a message with this id was folded in since the mark; undefined if that is not remembered any more. */
  hasSince(mark: Mark, id: string): boolean | undefined {
    const isKnown = mark.directory === this && mark.seq >= this.from && this.seq - mark.seq < idsKept
    return isKnown ? this.recent.has(id) : undefined
  }

  noteSend(sender: string, at: number): void {
    const times = this.sends.get(sender) ?? []
    times.push(at)
    this.sends.set(sender, times)
    // Trim the list now and then even if nobody asks for the count.
    if (times.length % 1_024 === 0) this.sentLately(sender, at)
  }

  /** How many messages an agent has sent in the last minute. */
  sentLately(sender: string, now: number): number {
    const times = this.sends.get(sender) ?? []
    const first = times.findIndex((at) => at > now - rateWindowMs)
    times.splice(0, first < 0 ? times.length : first)
    return times.length
  }

  /** When an agent was last seen, in ms. */
  seenAt(agent: Agent): number {
    return Math.max(Date.parse(agent.lastSeenAt), Date.parse(this.seen.get(agent.name) ?? agent.lastSeenAt))
  }

  #add(box: string, slot: number, by: number): void {
    const tally = this.tallies.get(box) ?? new Array<number>(tallySlots).fill(0)
    tally[slot]! += by
    this.tallies.set(box, tally)
  }

  get agents(): ReadonlyMap<string, Agent> {
    return this.#agents
  }

  /** Agents that are neither frozen nor dead, as far as is known. */
  get here(): ReadonlyMap<string, Agent> {
    return this.#here
  }

  get frozen(): ReadonlyMap<string, Agent> {
    return this.#frozen
  }

  get dead(): ReadonlyMap<string, Agent> {
    return this.#dead
  }

  put(agent: Agent): void {
    const { name, state } = agent
    const before = this.#agents.get(name)
    this.#agents.set(name, agent)
    if (before === undefined) this.#looks?.add(name)
    const own = state === 'dead' ? this.#dead : state === 'frozen' ? this.#frozen : this.#here
    for (const group of [this.#here, this.#frozen, this.#dead]) if (group !== own) group.delete(name)
    own.set(name, agent)
    relist(this.#byRole, name, before?.roles, agent.roles)
    relist(this.#byTag, name, before?.tags.map(boxOfTag), agent.tags.map(boxOfTag))
  }

  /** Another agent, alive or not, whose name looks like this one. */
  lookAlike(name: string): string | undefined {
    this.#looks ??= new Looks(this.#agents.keys())
    return this.#looks.find(name)
  }

  /** Whether an agent that is not dead holds the role. */
  isHeld(role: string): boolean {
    return this.#anyAlive(this.#byRole.get(role))
  }

  /** Whether an agent that is here holds the role, besides this one. */
  hasOtherHolder(role: string, name: string): boolean {
    return this.holdersHere(role).some((holder) => holder !== name)
  }

  /** The agents that are here and hold the role. */
  holdersHere(role: string): string[] {
    return [...(this.#byRole.get(role) ?? [])].filter((name) => this.#here.has(name))
  }

  /** Whether any agent, alive or not, holds the role. */
  knowsRole(role: string): boolean {
    return this.#byRole.has(role)
  }

  /** The roles and the tags that any agent, alive or not, has; tags as addresses. */
  get roles(): readonly string[] {
    return [...this.#byRole.keys()]
  }

  get tags(): readonly string[] {
    return [...this.#byTag.keys()]
  }

  /** Whether an agent that is not dead has the tag, given as an address. */
  isTagged(tag: string): boolean {
    return this.#anyAlive(this.#byTag.get(tag))
  }

  /** The agents whose client calls its session this; those that are not dead, if there are any. */
  ofSession(id: string): readonly Agent[] {
    const found = [...this.#agents.values()].filter(({ session }) => session.id === id)
    const living = found.filter(({ state }) => state !== 'dead')
    return living.length > 0 ? living : found
  }

  #anyAlive(names: ReadonlySet<string> = new Set()): boolean {
    for (const name of names) if (!this.#dead.has(name)) return true
    return false
  }

  /** Unread and open mail in a box, not counting group mail. */
  unhandled(box: string): number {
    const tally = this.tallies.get(box)
    let sum = 0
    if (tally !== undefined) for (let slot = 0; slot < 2 * ranks; slot++) sum += tally[slot]!
    return sum
  }

  /** Whether nothing in a box is unread or open. */
  isEmpty(box: string): boolean {
    return this.tallies.get(box)?.every((n) => n === 0) ?? true
  }

  unread(box: string): Record<Priority, number> {
    const [low = 0, normal = 0, high = 0, urgent = 0] = this.tallies.get(box) ?? []
    return { low, normal, high, urgent }
  }
}

/** A point in what was folded in. */
export interface Mark {
  /** Undefined for whoever had followed nothing. */
  directory: Directory | undefined
  seq: number
}

/** Moves an agent from the lists it was in to those it is in now. */
function relist(
  lists: Map<string, Set<string>>,
  name: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): void {
  for (const one of before) {
    const list = lists.get(one)
    if (after.includes(one) || list === undefined) continue
    list.delete(name)
    if (list.size === 0) lists.delete(one)
  }
  for (const one of after) {
    const list = lists.get(one)
    if (list === undefined) lists.set(one, new Set([name]))
    else list.add(name)
  }
}

/** The agent that an entry shows to be active. What was scheduled goes out by itself. */
export function actorOf(entry: Gist): string | undefined {
  if (entry.kind === 'message' && entry.scheduledAt !== undefined) return undefined
  if (entry.kind === 'message' || entry.kind === 'scheduled') return entry.message.from
  const isStep = entry.kind === 'receipt' || entry.kind === 'agent' || entry.kind === 'unscheduled'
  return isStep ? entry.by : undefined
}

/** When the actor of an entry was last active. What is imported is old: `known` may be later. */
export function seenBy(entry: Gist, known: () => string | undefined): string {
  const origin = originOf(entry)
  // Nobody was active in the future, whatever the clock of another machine said.
  if (origin === undefined || origin > entry.at) return entry.at
  return [origin, known() ?? origin].toSorted().at(-1)!
}

/** Which tally a receipt counts in; closed ones count nowhere. */
function slotOf(state: ReceiptState, rank: number, viaGroup: boolean): number | null {
  const receiptClass = classOf(state)
  if (receiptClass === 'closed') return null
  if (receiptClass === 'unread') return rank
  return (viaGroup ? 2 * ranks : ranks) + rank
}

/** Whether a message was removed with the oldest segments. `firstMessage` is the seq of the oldest one, if any. */
export const isRemoved = (seq: number, firstMessage: number | undefined): boolean =>
  firstMessage === undefined || seq < firstMessage

type Add = (box: string, slot: number, by: number) => void

/**
 * Applies an entry to the counts. A message that was removed or is damaged is not in them, so nothing that
 * happened to it may be subtracted.
 */
export function foldTallies(
  entry: Gist,
  { firstMessage, missing }: { firstMessage: number | undefined; missing: ReadonlySet<number> },
  add: Add,
): void {
  if (entry.kind === 'message') {
    const rank = priorityRank(entry.message.priority)
    for (const box of boxesTo(entry.message.to)) add(box, rank, 1)
  } else if (entry.kind === 'receipt') {
    for (const change of entry.changes) {
      if (isRemoved(change.seq, firstMessage) || missing.has(change.seq)) continue
      const { was, wasBox = change.box, viaGroup = false } = change
      foldChange(change, was && { state: was, box: wasBox, viaGroup }, add)
    }
  }
}

/** Applies a change to the counts. `was` is what they have of the receipt so far. */
export function foldChange(
  { state, box, rank, viaGroup = false }: ReceiptChange,
  was: { state: ReceiptState; box: string; viaGroup: boolean } | undefined,
  add: Add,
): void {
  const before = was === undefined ? null : slotOf(was.state, rank, was.viaGroup)
  const after = slotOf(state, rank, viaGroup)
  if (before !== null) add(was!.box, before, -1)
  if (after !== null) add(box, after, 1)
}
