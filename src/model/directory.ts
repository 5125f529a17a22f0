import { boxesTo } from './address.ts'
import type { Agent } from './agent.ts'
import type { Gist } from './entry.ts'
import { type Priority, priorities, priorityRank } from './message.ts'
import { classOf, type ReceiptChange, type ReceiptState } from './receipt.ts'

const ranks = priorities.length

/**
 * Who is here and how much waits in each box: the small part of the state that every send is decided on.
 * It is a fold of the journal, held in memory, so that sending needs no database at all; the index keeps
 * a copy so that a new process starts from there and folds only what came since.
 */
export class Directory {
  readonly agents = new Map<string, Agent>()
  /** For each box: unread by rank, then open by rank. */
  readonly tallies = new Map<string, number[]>()
  /** The last entry folded in. */
  seq = 0
  /** The first message there is, once there is one. */
  firstMessage: number | undefined

  fold(entry: Gist): void {
    if (entry.seq <= this.seq) return
    this.seq = entry.seq
    if (entry.kind === 'agent') this.agents.set(entry.agent.name, entry.agent)
    if (entry.kind === 'message') this.firstMessage ??= entry.seq
    foldTallies(entry, this.firstMessage, (box, slot, by) => this.#add(box, slot, by))
  }

  #add(box: string, slot: number, by: number): void {
    const tally = this.tallies.get(box) ?? new Array<number>(2 * ranks).fill(0)
    tally[slot]! += by
    this.tallies.set(box, tally)
  }

  /** Agents that hold the role and are not dead. */
  holders(role: string): Agent[] {
    return [...this.agents.values()].filter((agent) => agent.state !== 'dead' && agent.roles.includes(role))
  }

  /** Whether any agent, alive or not, holds the role. */
  knowsRole(role: string): boolean {
    for (const agent of this.agents.values()) if (agent.roles.includes(role)) return true
    return false
  }

  /** Everybody that carries the tag and is not dead. */
  tagged(tag: string): Agent[] {
    return [...this.agents.values()].filter((agent) => agent.state !== 'dead' && agent.tags.includes(tag))
  }

  /** Mail in a box that is not finished: unread and open. */
  unhandled(box: string): number {
    return this.tallies.get(box)?.reduce((sum, n) => sum + n, 0) ?? 0
  }

  unread(box: string): Record<Priority, number> {
    const tally = this.tallies.get(box)
    return Object.fromEntries(priorities.map((name, rank) => [name, tally?.[rank] ?? 0])) as Record<
      Priority,
      number
    >
  }
}

/** Which tally a receipt counts in; closed ones count nowhere. */
function slotOf(state: ReceiptState, rank: number): number | null {
  const receiptClass = classOf(state)
  return receiptClass === 'closed' ? null : receiptClass === 'unread' ? rank : ranks + rank
}

/**
 * Whether a change is about mail that was removed with the oldest segments: nobody has counted the message,
 * so nobody may take it off. `firstMessage` is the seq of the first one there is, if there is any.
 */
export const isOfRemoved = ({ seq }: ReceiptChange, firstMessage: number | undefined): boolean =>
  firstMessage === undefined || seq < firstMessage

/** The changes of tallies that an entry means; the index and the directory both go by this. */
export function foldTallies(
  entry: Gist,
  firstMessage: number | undefined,
  add: (box: string, slot: number, by: number) => void,
): void {
  if (entry.kind === 'message') {
    const rank = priorityRank(entry.message.priority)
    for (const box of boxesTo(entry.message.to)) add(box, rank, 1)
  } else if (entry.kind === 'receipt') {
    for (const change of entry.changes) {
      if (isOfRemoved(change, firstMessage)) continue
      const before = change.was === undefined ? null : slotOf(change.was, change.rank)
      const after = slotOf(change.state, change.rank)
      if (before !== null) add(change.wasBox ?? change.box, before, -1)
      if (after !== null) add(change.box, after, 1)
    }
  }
}
