import type { Letter, View } from '../../conversation/view.ts'
import { systemAgent } from '../../model/agent.ts'
import { type Draft, receiptDrafts } from '../../model/entry.ts'
import type { ReceiptChange, ReceiptState, ReceiptStep } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import type { Context } from '../context.ts'
import { bounces, type Undelivered } from '../notice.ts'

/** How much one decision does. What is left is still due, and the next decision does it. */
export const atOnce = 500

/** Collects what becomes of letters, each of them at most once, and the notices about them. */
export class LetterChanges {
  readonly view: View
  readonly context: Context
  readonly #seen = new Set<string>()
  readonly #changes = new Map<string, { step: ReceiptStep; note: string; changes: ReceiptChange[] }>()
  readonly #undelivered: Undelivered[] = []
  readonly #notices: Draft[] = []

  constructor(view: View, context: Context) {
    this.view = view
    this.context = context
  }

  /** False when the letter was changed already. */
  change(
    letter: Letter,
    step: ReceiptStep,
    state: ReceiptState,
    note: string,
    more: Partial<ReceiptChange> = {},
  ): boolean {
    const key = `${letter.seq} ${letter.owner}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    const kind = `${step} ${note}`
    const group = this.#changes.get(kind) ?? { step, note, changes: [] }
    this.#changes.set(kind, group)
    group.changes.push({ ...unchanged(letter), state, ...more })
    return true
  }

  /** It will reach nobody any more; its sender is told. */
  undeliverable(letter: Letter, step: 'dead' | 'expired', reason: string): void {
    if (this.change(letter, step, step, reason)) this.#undelivered.push({ letter, reason })
  }

  /** A claim is over: the mail is free again for the role, unless it was claimed too often. */
  giveBack(letter: Letter, note: string): void {
    const { owner, box, attempts } = letter
    if (attempts >= this.context.policy.maxAttempts)
      this.undeliverable(letter, 'dead', `${note}, and it was claimed ${attempts} times`)
    else
      this.change(letter, 'released', 'stored', note, {
        box: owner,
        ...(box === owner ? {} : { wasBox: box }),
      })
  }

  notify(draft: Draft): void {
    this.#notices.push(draft)
  }

  /** Notices come first: if this were cut short, senders would be told twice rather than never. */
  drafts(): Draft[] {
    const told = bounces(this.view, this.#undelivered, this.context)
    const done = [...this.#changes.values()].flatMap(({ step, note, changes }) =>
      receiptDrafts(step, systemAgent, changes, note),
    )
    return [...told, ...this.#notices, ...done]
  }
}

/** What the last run of an agent had claimed is free again when the next one begins. */
export function freeClaims(view: View, agent: string, context: Context): Draft[] {
  const letters = new LetterChanges(view, context)
  for (const letter of view.inBox(agent, atOnce)) {
    if (letter.owner !== agent) letters.giveBack(letter, `${agent} started a new run`)
  }
  return letters.drafts()
}

/** A change that changes nothing yet: every field of the receipt that an entry would otherwise reset. */
export const unchanged = (letter: Letter): ReceiptChange => {
  const { id, seq, rank, owner, box, state, attempts, repeats, viaGroup } = letter
  return {
    ...{ id, seq, rank, owner, box, state, was: state },
    ...(attempts > 0 ? { attempts } : {}),
    ...(repeats > 0 ? { repeats } : {}),
    ...(viaGroup ? { viaGroup: true } : {}),
  }
}

/** A note about a letter keeps its claim and the time by which it should be acknowledged. */
export const keepTimes = ({ claimUntil, ackBy }: Letter): Partial<ReceiptChange> => ({
  ...(claimUntil === null ? {} : { claimUntil: isoTime(claimUntil) }),
  ...(ackBy === null ? {} : { ackBy: isoTime(ackBy) }),
})
