import type { NoticeKind } from '../../conversation/notice.ts'
import { isOpenMatter } from '../../conversation/registry.ts'
import type { Letter, View } from '../../conversation/view.ts'
import { type Agent, implicitPerson, person, systemAgent } from '../../model/agent.ts'
import { type Draft, receiptDrafts } from '../../model/entry.ts'
import { isWithinHours } from '../../model/hours.ts'
import { classOf, type ReceiptChange, type ReceiptState, type ReceiptStep } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import type { Context } from '../context.ts'
import { mootNotices } from '../moot.ts'
import { notices, type Told } from '../notice.ts'

/** How much one decision does. What is left is still due, and the next decision does it. */
export const atOnce = 500

const keyOf = ({ seq, owner }: Pick<Letter, 'seq' | 'owner'>): string => `${seq} ${owner}`

/** Collects what becomes of letters, each of them at most once, and the notices about them. */
export class LetterChanges {
  readonly view: View
  readonly context: Context
  readonly #seen = new Set<string>()
  readonly #changes = new Map<string, { step: ReceiptStep; note: string; changes: ReceiptChange[] }>()
  readonly #told: Told[] = []

  readonly #reader: Agent | undefined

  constructor(view: View, context: Context, reader?: string) {
    this.view = view
    this.context = context
    const known = reader === undefined ? undefined : view.directory.agents.get(reader)
    this.#reader = known ?? (reader === person ? implicitPerson() : undefined)
  }

  /** Whether a letter is about to be read by its recipient, who has come for it. */
  isBeingRead({ box }: Letter): boolean {
    const reader = this.#reader
    return (
      reader !== undefined && (box === reader.name || reader.roles.some((role) => box === `role:${role}`))
    )
  }

  /** False when the letter was changed already. */
  change(
    letter: Letter,
    step: ReceiptStep,
    state: ReceiptState,
    note: string,
    more: Partial<ReceiptChange> = {},
  ): boolean {
    if (this.#seen.has(keyOf(letter))) return false
    this.#seen.add(keyOf(letter))
    const kind = `${step} ${note}`
    const group = this.#changes.get(kind) ?? { step, note, changes: [] }
    this.#changes.set(kind, group)
    group.changes.push({ ...unchanged(letter), state, ...more })
    return true
  }

  /**
   * It will reach nobody any more, or whoever has read it does not settle it any more; its sender is told. If that is
   * the person, both wait for its hours; it is over all the same, so nothing else is done about it.
   */
  undeliverable(letter: Letter, step: 'dead' | 'expired', reason: string): void {
    const to = this.senderOf(letter)
    // What was shown again for want of an ack was read before.
    const wasRead = classOf(letter.state) !== 'unread' || letter.repeats > 0
    const kind = wasRead ? 'ended' : 'undelivered'
    if (!this.mayTell(to, kind)) this.#seen.add(keyOf(letter))
    else if (this.change(letter, step, step, reason)) this.tell(to, kind, letter, reason)
  }

  /**
   * Whether somebody may be told now. Outside of its hours the person is told of nothing but unread urgent mail, and of
   * that once, even if it was taken back meanwhile.
   */
  mayTell(to: string | undefined, kind: NoticeKind, about?: Letter): boolean {
    const { now, policy } = this.context
    if (to !== person || isWithinHours(policy.hours, now)) return true
    const isKnown = about !== undefined && this.view.noticesAbout(about.id).some((one) => one.to === person)
    return kind === 'unread' && !isKnown
  }

  /**
   * A claim is over: the mail is free again for the role. What was read and asked for nothing was finished with
   * that, and what has failed is for whoever asked. Work that somebody died over has failed, and after too many
   * failures it is given to nobody else.
   */
  giveBack(letter: Letter, note: string, hasDied = false): void {
    const { owner, box, state, claimUntil } = letter
    if (state === 'failed' || (claimUntil === null && state !== 'processing')) return
    const failures = letter.failures + (hasDied && state === 'processing' ? 1 : 0)
    const counted = failures > 0 ? { failures } : {}
    if (failures >= this.context.policy.maxAttempts) {
      const reason = `${note}, and work on it has failed ${failures} times`
      if (this.change(letter, 'dead', 'dead', reason, counted))
        this.tell(this.senderOf(letter), 'undelivered', letter, reason)
    } else
      this.change(letter, 'released', 'stored', note, {
        box: owner,
        ...(box === owner ? {} : { wasBox: box }),
        ...counted,
      })
  }

  senderOf(letter: Letter): string {
    return this.view.text(letter.seq).from
  }

  /** Somebody is told of a letter; once, whatever the reasons. */
  tell(to: string, kind: Told['kind'], letter: Letter, reason: string): void {
    const isSame = (one: Told) =>
      one.letter.id === letter.id && (kind !== 'undelivered' || one.letter.owner === letter.owner)
    const isTold = this.#told.some((one) => one.to === to && isSame(one))
    if (!isTold) this.#told.push({ to, kind, letter, reason })
  }

  /** Notices come first: if this were cut short, senders would be told twice rather than never. */
  drafts(): Draft[] {
    const told = notices(this.view, this.#told, this.context, (letter) => this.#seen.has(keyOf(letter)))
    for (const draft of told)
      if (draft.kind === 'receipt') for (const change of draft.changes) this.#seen.add(keyOf(change))
    for (const letter of mootNotices(this.view)) this.change(letter, 'withdrawn', 'withdrawn', 'settled')
    const done = [...this.#changes.values()].flatMap(({ step, note, changes }) =>
      receiptDrafts(step, systemAgent, changes, note),
    )
    return [...told, ...done]
  }
}

/** What a run of an agent had claimed is free again: it has ended, or the next one begins. */
export function freeClaims(
  view: View,
  agent: string,
  context: Context,
  note: string,
  hasDied: boolean,
): Draft[] {
  const letters = new LetterChanges(view, context)
  for (const letter of view.inBox(agent, atOnce)) {
    if (letter.owner !== agent) letters.giveBack(letter, note, hasDied)
  }
  return letters.drafts()
}

/** A change that changes nothing yet: every field of the receipt that an entry would otherwise reset. */
export const unchanged = (letter: Letter): ReceiptChange => {
  const { id, seq, rank, owner, box, state, attempts, failures, repeats, viaGroup } = letter
  return {
    ...{ id, seq, rank, owner, box, state, was: state },
    ...(attempts > 0 ? { attempts } : {}),
    ...(failures > 0 ? { failures } : {}),
    ...(repeats > 0 ? { repeats } : {}),
    ...(viaGroup ? { viaGroup: true } : {}),
  }
}

/** A note about a letter keeps its claim and the time by which it should be acknowledged. */
export const keepTimes = ({ claimUntil, ackBy }: Letter): Partial<ReceiptChange> => ({
  ...(claimUntil === null ? {} : { claimUntil: isoTime(claimUntil) }),
  ...(ackBy === null ? {} : { ackBy: isoTime(ackBy) }),
})

/** Whether somebody waits for this recipient to do more than read it. */
export const isWaitedFor = (view: View, { seq, owner }: Letter): boolean =>
  view.matters(seq).some((matter) => matter.owner === owner && isOpenMatter(matter.state))
