import { MailboxError } from '../base/errors.ts'
import type { NoticeItem } from '../conversation/notice.ts'
import type { View } from '../conversation/view.ts'
import { type Draft, receiptDrafts } from '../model/entry.ts'
import type { MessageFacts } from '../model/reach.ts'
import { classOf, isAcked, isDeadLetter, type ReceiptChange } from '../model/receipt.ts'
import { maxLifeMs } from '../model/time.ts'
import type { Context } from './context.ts'
import { changesOf, type HandleCommand } from './ladder.ts'
import { withdrawFor } from './moot.ts'
import { notices, type Told } from './notice.ts'
import { requirePresent } from './roster.ts'
import { settledForOthers } from './settle.ts'
import { tellAsker } from './tell-asker.ts'

export const maxNoteLength = 10_000

/**
 * One agent does one thing with one message. Throws when it may not, or when another was first. `isTold`: whoever asked
 * is told by the same decision.
 */
export function decideHandle(view: View, command: HandleCommand, context: Context, isTold = false): Draft[] {
  checkHandle(command)
  const agent = requirePresent(view.directory, command.agent)
  const message = requireMessage(view, command.id)
  const changes = changesOf(view, agent, message, command, context)
  const told = isTold ? [] : tellAsker(view, message, changes, command, context)
  const answers = told.map(({ message: answer }) => answer)
  const others = settledForOthers(view, message, answers, command.step, changes)
  return [
    ...tellOfDeath(view, changes, command, context),
    ...told,
    ...receiptDrafts(command.step, agent.name, changes, command.note),
    ...receiptDrafts('completed', agent.name, others, 'settled'),
    ...withdrawFor(view, message.id, isOverAfter([...changes, ...others])),
  ]
}

/** Which of what a notice says is no longer so after these changes. */
function isOverAfter(changes: readonly ReceiptChange[]): (item: NoticeItem) => boolean {
  const states = new Map(changes.map(({ owner, state }) => [owner, state]))
  return ({ to, kind }) => {
    const state = states.get(to)
    // What has become a dead letter is not settled by that.
    if (state === undefined || isDeadLetter(state)) return false
    if (kind === 'unread') return classOf(state) !== 'unread'
    if (kind === 'ack') return isAcked(state)
    return ['answer', 'deadline', 'waiting'].includes(kind) && classOf(state) === 'closed'
  }
}

/** A failure too many makes it a dead letter, and the sender is told. */
function tellOfDeath(
  view: View,
  changes: readonly ReceiptChange[],
  { agent, step, note }: HandleCommand,
  context: Context,
): Draft[] {
  const told = changes.flatMap((change): Told[] => {
    const receipt = view.receipts(change.seq).find(({ owner }) => owner === change.owner)
    if (change.state !== 'dead' || receipt === undefined) return []
    const why = note === undefined ? '' : ` (${note})`
    const reason = `${step} by ${agent}${why}, and work on it has failed ${change.failures} times`
    const to = view.text(change.seq).from
    return [{ to, kind: 'undelivered', letter: { ...receipt, id: change.id }, reason }]
  })
  return notices(view, told, context)
}

function checkHandle({ note, claimTtlMs: ttlMs }: HandleCommand): void {
  if (note !== undefined && typeof note !== 'string') {
    throw new MailboxError('invalid', 'note must be a string', { hint: 'pass a string' })
  }
  if (note !== undefined && note.length > maxNoteLength) {
    const message = `the note has ${note.length} characters; the limit is ${maxNoteLength}`
    throw new MailboxError('over_limit', message, { hint: 'send a message instead' })
  }
  if (ttlMs !== undefined && !(Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= maxLifeMs)) {
    throw new MailboxError('invalid', `a claim cannot last ${ttlMs} ms`, {
      hint: 'pass a positive duration, such as 15m',
    })
  }
}

export function requireMessage(view: Pick<View, 'message'>, id: string): MessageFacts {
  const message = view.message(id)
  if (message !== undefined) return message
  throw new MailboxError('not_found', `no message ${JSON.stringify(id.slice(0, 60))}`, {
    hint: 'see `mailbox inbox` or `mailbox search`',
  })
}
