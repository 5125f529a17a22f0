import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import type { View } from '../conversation/view.ts'
import { boxesTo, isGroupBox } from '../model/address.ts'
import { person, systemAgent } from '../model/agent.ts'
import type {
  AgentDraft,
  Draft,
  LateDraft,
  MessageDraft,
  ReceiptEntry,
  ScheduledDraft,
  ShareDraft,
} from '../model/entry.ts'
import { Looks } from '../model/look-alike.ts'
import { priorityRank } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { ReceiptChange, ReceiptState } from '../model/receipt.ts'
import { type ExportedChange, toExported } from '../model/transfer.ts'
import { invalid } from './check-send.ts'
import type { LateDecision } from './context.ts'
import type { ImportLine, ReceiptLine } from './import-check.ts'

/** What goes into the journal; settings do not. */
export type EntryLine = Extract<ImportLine, { kind: 'message' | 'scheduled' | 'receipt' | 'agent' | 'share' }>

/** What became of a line: it is in, it was there already, or why it cannot be. */
export type Outcome = 'imported' | 'skipped' | MailboxError

/**
 * One import, which is decided in batches. It may follow one that was cut short, so it adds what is missing: a
 * message that is not there yet, and of a message that was imported the steps behind those that it has. What the
 * space has of its own is left alone.
 */
export class ImportRun {
  /** How many steps of each message this run has met. */
  readonly #met = new Map<string, number>()
  /** Messages whose steps are not taken: they were refused, or have other steps here. */
  readonly #closed = new Set<string>()

  /** The steps of a refused message are passed over. */
  refuse(id: unknown): void {
    if (typeof id === 'string') this.#closed.add(id)
  }

  decide(view: View, lines: readonly EntryLine[]): LateDecision<Outcome[]> {
    const batch = new Batch(view)
    const result = lines.map((line): Outcome => {
      try {
        if (line.kind === 'message') return batch.addMessage(line)
        if (line.kind === 'scheduled') return batch.addScheduled(line)
        if (line.kind === 'share') return batch.addShare(line)
        return line.kind === 'agent' ? batch.addAgent(line) : this.#addStep(batch, line)
      } catch (error) {
        if (error instanceof MailboxError) return error
        throw error
      }
    })
    return { drafts: batch.drafts, result }
  }

  #addStep(batch: Batch, line: ReceiptLine): Outcome {
    const open = line.changes.filter(({ id }) => !this.#closed.has(id))
    // Refused before it counts as met: it is refused in every run.
    for (const change of open) batch.checkRecipient(change)
    const wanted = [...new Set(open.map(({ id }) => id))].filter((id) => this.#isWanted(batch, id, line))
    const changes = open.filter(({ id }) => wanted.includes(id))
    return changes.length === 0 ? 'skipped' : batch.addStep({ ...line, changes })
  }

  /** Whether a step of a message is missing: it comes behind all that it has, and nobody has handled it here. */
  #isWanted(batch: Batch, id: string, line: ReceiptLine): boolean {
    const met = this.#met.get(id) ?? 0
    this.#met.set(id, met + 1)
    if (batch.stepCount(id) === met) return batch.isImported(id)
    const steps = batch.steps(id)
    const imported = steps.filter(({ originalAt }) => originalAt !== undefined)
    const known = imported[met]
    const isOther = known !== undefined && !isSameStep(known, line, id)
    const isHandled = steps.some(({ originalAt, by }) => originalAt === undefined && by !== systemAgent)
    if (isOther || isHandled) this.#closed.add(id)
    return known === undefined && !isHandled && batch.isImported(id)
  }
}

function isSameStep(entry: ReceiptEntry, line: ReceiptLine, id: string): boolean {
  const { originalAt, step, by, note, sealed, changes } = entry
  const own = changes.filter((change) => change.id === id).map(toExported)
  // A note that was encrypted when it was imported is not compared: that would take a key.
  const isHidden = line.note !== undefined && sealed !== undefined
  const said = isHidden ? {} : { note, sealed }
  return isDeepStrictEqual(
    { originalAt, step, by, ...said, changes: own },
    {
      ...{ originalAt: line.originalAt, step: line.step, by: line.by },
      ...(isHidden ? {} : { note: line.note, sealed: line.sealed }),
      changes: line.changes.filter((change) => change.id === id),
    },
  )
}

/** What a change leads on from. */
interface Standing {
  state: ReceiptState
  box: string
  /** The number of the last claim. */
  claim: number
}

const noSeq = 0

/** The drafts of one decision, with the state that they lead to. */
class Batch {
  readonly drafts: (Draft | LateDraft)[] = []
  readonly #view: View
  /** Messages of this batch, and where in the drafts they are. */
  readonly #messages = new Map<string, { draft: MessageDraft; at: number }>()
  readonly #facts = new Map<string, MessageFacts | undefined>()
  readonly #agents = new Set<string>()
  readonly #looks = new Looks([])
  readonly #standings = new Map<string, Standing>()
  readonly #scheduled = new Set<string>()
  readonly #added = new Map<string, number>()

  constructor(view: View) {
    this.#view = view
  }

  /** A message that is in the space, and not only in this batch. */
  #factsOf(id: string): MessageFacts | undefined {
    if (!this.#facts.has(id)) this.#facts.set(id, this.#view.message(id))
    return this.#facts.get(id)
  }

  addAgent(draft: AgentDraft): Outcome {
    const { name } = draft.agent
    if (this.#view.directory.agents.has(name) || this.#agents.has(name)) return 'skipped'
    const other = this.#view.directory.lookAlike(name) ?? this.#looks.find(name)
    if (other !== undefined && name !== person)
      invalid(`the name ${JSON.stringify(name)} looks like ${JSON.stringify(other)}, another agent`, hint)
    this.#agents.add(name)
    this.#looks.add(name)
    this.drafts.push(draft)
    return 'imported'
  }

  addShare(draft: ShareDraft): Outcome {
    const { signature } = draft
    // Without the space that it comes from, which may be this one.
    const own = signature.split('.').slice(0, 2).join('.')
    if (this.#view.hasShare(signature) || this.#view.hasShare(own)) return 'skipped'
    this.drafts.push(draft)
    return 'imported'
  }

  addMessage(draft: MessageDraft): Outcome {
    const { id } = draft.message
    if (this.#messages.has(id) || this.#factsOf(id) !== undefined) return 'skipped'
    this.#messages.set(id, { draft, at: this.drafts.length })
    this.drafts.push(draft)
    return 'imported'
  }

  /** It is sent at its time, unless the space that it comes from has it as sent. */
  addScheduled(draft: ScheduledDraft): Outcome {
    const { id } = draft.message
    const isHere = this.#messages.has(id) || this.#scheduled.has(id) || this.#factsOf(id) !== undefined
    if (isHere || this.#view.scheduled(id) !== undefined) return 'skipped'
    this.#scheduled.add(id)
    this.drafts.push(draft)
    return 'imported'
  }

  isImported = (id: string): boolean => this.#messages.has(id) || this.#factsOf(id)?.imported === true

  /** The steps that a message has in the space and in this batch. */
  stepCount(id: string): number {
    const seq = this.#factsOf(id)?.seq
    return (seq === undefined ? 0 : this.#view.stepCount(seq)) + (this.#added.get(id) ?? 0)
  }

  /** Those in the space. */
  steps(id: string): ReceiptEntry[] {
    const seq = this.#factsOf(id)?.seq
    return seq === undefined ? [] : this.#view.steps(seq)
  }

  /** A copy belongs to one of the addresses, or to a member of an addressed group. */
  checkRecipient({ id, owner }: ExportedChange): void {
    const owners = this.#ownersOf(id)
    const isMember = !owner.includes(':') && owners.some(isGroupBox)
    if (!owners.includes(owner) && !isMember) invalid(`message ${id} was not sent to ${owner}`, hint)
  }

  #ownersOf(id: string): string[] {
    const here = this.#messages.get(id)
    if (here !== undefined) return boxesTo(here.draft.message.to)
    const known = this.#factsOf(id)
    if (known === undefined) return invalid(`there is no message ${id}`, hint)
    return this.#view.receipts(known.seq).map(({ owner }) => owner)
  }

  addStep({ changes, ...line }: ReceiptLine): Outcome {
    const after = new Map<string, Standing>()
    const complete = changes.map((change) => this.#complete(change, after))
    for (const [key, standing] of after) this.#standings.set(key, standing)
    this.drafts.push(this.#placing({ ...line, changes: complete }))
    for (const id of new Set(changes.map((change) => change.id)))
      this.#added.set(id, (this.#added.get(id) ?? 0) + 1)
    return 'imported'
  }

  /** Adds what the export left out: what was before, as it is here. Notes what is after it. */
  #complete({ id, owner, box, state, ...rest }: ExportedChange, after: Map<string, Standing>): ReceiptChange {
    const key = `${id} ${owner}`
    const standing = after.get(key) ?? this.#standings.get(key) ?? this.#standingOf(id, owner)
    const { claim = 0 } = standing ?? {}
    if (rest.claim !== undefined && rest.claim <= claim)
      invalid(
        `claim ${rest.claim} on message ${id} follows claim ${claim}`,
        'the numbers of claims must rise',
      )
    after.set(key, { state, box, claim: rest.claim ?? claim })
    const wasBox = standing === undefined || standing.box === box ? undefined : standing.box
    return {
      ...{ id, seq: this.#factsOf(id)?.seq ?? noSeq, rank: this.#rankOf(id), owner, box },
      ...given({ wasBox }),
      state,
      ...given({ was: standing?.state }),
      ...rest,
    }
  }

  #rankOf(id: string): number {
    const here = this.#messages.get(id)
    return here === undefined ? this.#factsOf(id)!.rank : priorityRank(here.draft.message.priority)
  }

  #standingOf(id: string, owner: string): Standing | undefined {
    const here = this.#messages.get(id)
    if (here !== undefined)
      return boxesTo(here.draft.message.to).includes(owner)
        ? { state: 'stored', box: owner, claim: 0 }
        : undefined
    const { seq } = this.#factsOf(id)!
    const receipt = this.#view.receipts(seq).find((one) => one.owner === owner)
    const claim = this.#view.claims(seq).findLast((one) => one.owner === owner)?.number ?? 0
    return receipt && { state: receipt.state, box: receipt.box, claim }
  }

  /** A message of this batch has its seq only when it is placed. */
  #placing(draft: Extract<Draft, { kind: 'receipt' }>): Draft | LateDraft {
    if (draft.changes.every(({ seq }) => seq !== noSeq)) return draft
    return (placed) => {
      const seqOf = ({ id, seq }: ReceiptChange) =>
        seq === noSeq ? placed[this.#messages.get(id)!.at]!.seq : seq
      return { ...draft, changes: draft.changes.map((change) => ({ ...change, seq: seqOf(change) })) }
    }
  }
}

const hint = 'import expects the output of export, in its order'
