import { given } from '../base/objects.ts'
import type { Journal } from '../journal/journal.ts'
import { isGroupBox } from '../model/address.ts'
import { clockOf, systemAgent } from '../model/agent.ts'
import { happenedAt, type ReceiptEntry } from '../model/entry.ts'
import { type LadderStep, type Receipt, type ReceiptView, stateNow } from '../model/receipt.ts'
import type { SignatureState } from '../model/signature-state.ts'
import { isoTime } from '../model/time.ts'
import { type Escalation, escalationsOf } from './escalations.ts'
import { signatureAt } from './keys.ts'
import {
  messageBySeq,
  type PlaceRow,
  receiptsOf,
  requireSeq,
  type Source,
  type StoredMessage,
} from './message.ts'
import { agentByName } from './roster.ts'
import { noteUnreadable } from './unreadable.ts'

export interface ShownMessage {
  message: StoredMessage
  receipts: ReceiptView[]
  /** Who was told that it needs attention, and why. */
  escalations: Escalation[]
  /** Whether it is from its sender, as far as its signature tells. Absent if it cannot be read. */
  signature?: SignatureState
}

/** A message with the ladder of each recipient: every step, when it was reached and by whom. */
export function show(source: Source, id: string, now: number): ShownMessage {
  const seq = requireSeq(source, id)
  const message = messageBySeq(source, seq)
  const trail = trailOf(source, seq)
  const stored: LadderStep = { state: 'stored', at: message.createdAt, by: message.from }
  const receipts = receiptsOf(source, seq)
    // A group's own row only says that the mail is there; its readers' rows say who has seen it.
    .filter(({ owner }, _, all) => !isGroupBox(owner) || all.every((other) => isGroupBox(other.owner)))
    .map((receipt) => {
      const clock = clockOf(agentByName(source, receipt.owner), now)
      return viewOf(receipt, [stored, ...stepsOf(receipt, trail, seq)], clock)
    })
  const signature = signatureAt(source, seq)
  return { message, receipts, escalations: escalationsOf(source, message), ...given({ signature }) }
}

/** The steps of a message's receipts, without those that cannot be read. */
export function trailOf(
  source: Source,
  seq: number,
  journal: Pick<Journal, 'at'> = source.journal,
): ReceiptEntry[] {
  return source.index
    .sql('SELECT segment, offset, bytes, entry FROM trail WHERE message = ? ORDER BY entry')
    .all<[...PlaceRow, number]>([seq])
    .flatMap(([segment, offset, bytes, entry]) => {
      const place = { segment, offset, bytes }
      const found = journal.at(place)
      if (found?.kind === 'receipt') return found
      noteUnreadable(source, entry as number, place)
      return []
    })
}

function stepsOf(receipt: Receipt, trail: ReceiptEntry[], seq: number): LadderStep[] {
  const steps: LadderStep[] = []
  for (const entry of trail) {
    const { by, step, note, changes } = entry
    const at = happenedAt(entry)
    const change = changes.find((one) => one.seq === seq && one.owner === receipt.owner)
    if (change === undefined) continue
    const claims = change.wasBox !== undefined && change.box === by
    if (claims && step !== 'claimed') steps.push({ state: 'claimed', at, by })
    steps.push({ state: step, at, by, ...(note === undefined ? {} : { note }) })
    if (step === 'claimed' && change.state === 'shown') steps.push({ state: 'shown', at, by })
    if (step === 'completed' && change.state === 'archived') steps.push({ state: 'archived', at, by })
    if (step !== 'dead' && change.state === 'dead') steps.push({ state: 'dead', at, by: systemAgent })
  }
  return steps
}

function viewOf(receipt: Receipt, steps: LadderStep[], now: number): ReceiptView {
  const { owner, box, attempts, repeats } = receipt
  const state = stateNow(receipt, now)
  if (state !== receipt.state) steps.push({ state, at: isoTime(receipt.expiresAt!), by: systemAgent })
  return { recipient: owner, state, ...(box === owner ? {} : { claimedBy: box }), attempts, repeats, steps }
}
