import { outlineOf } from '../conversation/outline.ts'
import { systemAgent } from '../model/agent.ts'
import type { Draft, LateDraft, MessageDraft, ReceiptDraft, ScheduledDraft } from '../model/entry.ts'
import { sealMessage, sealNote } from '../model/sealed.ts'
import type { Vault } from './vault.ts'

/**
 * Encrypts the texts of a decision: all of them in an encrypted space, elsewhere the messages that are for their
 * recipients alone, and what is noted on these. What the system says holds names and ids only, and stays readable.
 */
export const sealDrafts = (drafts: readonly (Draft | LateDraft)[], vault: Vault): (Draft | LateDraft)[] =>
  drafts.map((draft) =>
    typeof draft === 'function' ? (placed) => sealDraft(draft(placed), vault) : sealDraft(draft, vault),
  )

function sealDraft(draft: Draft, vault: Vault): Draft {
  if (draft.kind === 'message' || draft.kind === 'scheduled') return sealedMessage(draft, vault)
  return draft.kind === 'receipt' && draft.note !== undefined ? sealedNote(draft, vault) : draft
}

function sealedMessage<D extends MessageDraft | ScheduledDraft>(draft: D, vault: Vault): D {
  const { message } = draft
  // What was imported encrypted, or scheduled, stays as it is.
  const isAsItWas =
    message.sealed !== undefined || ('scheduledAt' in draft && draft.scheduledAt !== undefined)
  if (message.from === systemAgent || isAsItWas) return draft
  const seal = draft.encrypt ? vault.sealFor([message.from, ...message.to]) : vault.current
  if (seal === undefined) return draft
  const sealed = { ...draft, message: sealMessage(message, seal, vault.space, outlineOf(message)) }
  if (sealed.encrypt !== undefined) delete sealed.encrypt
  return sealed
}

function sealedNote(draft: ReceiptDraft, vault: Vault): ReceiptDraft {
  if (draft.by === systemAgent) return draft
  const readers = draft.changes.flatMap(({ seq }) => vault.readersOf(seq) ?? [])
  const seal = readers.length > 0 ? vault.sealFor([draft.by, ...readers]) : vault.current
  return seal === undefined ? draft : sealNote(draft, seal, vault.space)
}
