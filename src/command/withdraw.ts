import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import { type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import { classOf } from '../model/receipt.ts'
import { requireMessage } from './handle.ts'
import { withdrawFor } from './moot.ts'

/** Withdraws a message. This works until someone has seen it, and for work that has failed. */
export function decideWithdraw(view: View, sender: string, id: string): ReceiptDraft[] {
  const message = requireMessage(view, id)
  if (message.sender !== sender) {
    throw new MailboxError('not_permitted', `message ${id} was not sent by ${sender}`, {
      hint: `it was sent by ${message.sender}`,
    })
  }
  const receipts = view.receipts(message.seq)
  if (receipts.every(({ state }) => state === 'withdrawn')) return []
  const seen = receipts.find(
    ({ seen: wasSeen, state }) => state !== 'failed' && (wasSeen || classOf(state) === 'open'),
  )
  if (seen !== undefined) {
    throw new MailboxError('conflict', `message ${id} has already been seen by ${seen.box}`, {
      hint: `send a correction: mailbox reply ${id}`,
    })
  }
  const changes = receipts.map(({ seq, rank, owner, box, state }) => ({
    ...{ id: message.id, seq, rank, owner, box },
    state: 'withdrawn' as const,
    was: state,
  }))
  const notices = withdrawFor(view, message.id, ({ kind }) => kind !== 'ended')
  return [...receiptDrafts('withdrawn', sender, changes), ...notices]
}

/** Withdraws the message that another one replaces. If it has been seen, both remain. */
export function decideSupersede(
  view: View,
  sender: string,
  replacement: Pick<Message, 'id' | 'threadId'>,
  supersede: string | true,
  /** Whether the same decision settles a message. */
  isSettled: (seq: number) => boolean = () => false,
): { drafts: ReceiptDraft[]; warnings: string[] } {
  const id = supersede === true ? view.lastOf(sender, replacement.threadId) : supersede
  if (id === undefined)
    return { drafts: [], warnings: ['you have no earlier message in this thread to replace'] }
  const message = requireMessage(view, id)
  if (view.text(message.seq).threadId !== replacement.threadId) {
    throw new MailboxError('conflict', `message ${id} is in another thread`, {
      hint: `send to its thread: --thread ${view.text(message.seq).threadId}`,
    })
  }
  if (isSettled(message.seq))
    return { drafts: [], warnings: [`message ${id} is settled by this one; it was not replaced`] }
  try {
    const drafts = decideWithdraw(view, sender, id)
    return {
      drafts: drafts.map((draft) => ({ ...draft, note: `superseded by ${replacement.id}` })),
      warnings: [],
    }
  } catch (error) {
    if (!(error instanceof MailboxError) || error.code !== 'conflict') throw error
    return { drafts: [], warnings: [`${error.message}; it was not replaced, and this one was sent as well`] }
  }
}
