import { isAnswer, movedBy } from '../conversation/matter.ts'
import type { NoticeItem } from '../conversation/notice.ts'
import { isOpenMatter, isWork } from '../conversation/registry.ts'
import type { View } from '../conversation/view.ts'
import { isGroupBox } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import { type Draft, receiptDrafts } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { MessageFacts } from '../model/reach.ts'
import { classOf, type ReceiptChange } from '../model/receipt.ts'
import type { Context } from './context.ts'
import { changesFor, type HandleStep } from './ladder.ts'
import { withdrawFor } from './moot.ts'
import { findAgent } from './roster.ts'

/**
 * What a reply settles besides the matter itself, in the same decision: the sender's copy of what it answers counts
 * as read, acknowledged or finished; and where the reply settles the matter for everybody who was asked, nobody else
 * is shown it as new. docs/settling.md has the table.
 */
export function settleByReply(view: View, reply: Message, parent: MessageFacts, context: Context): Draft[] {
  // To add to one's own message is no answer to it.
  if (reply.from === parent.sender) return []
  const matters = view.matters(parent.seq).filter(({ kind }) => kind !== 'ack')
  const moved = movedBy(reply, matters)
  const ends = new Set(
    moved.filter(({ to }) => !isOpenMatter(to)).map(({ owner, kind }) => `${owner} ${kind}`),
  )
  const isOpenFor = (owner: string) =>
    matters.some((one) => one.owner === owner && isOpenMatter(one.state) && !ends.has(`${owner} ${one.kind}`))
  const step = stepOf(reply, parent.sender)
  const own = ownChanges(view, reply.from, parent, step, isOpenFor, context)
  const changed = new Set(own.flatMap(({ changes }) => changes.map(({ owner }) => owner)))
  const settled = moved.filter(isForAll).flatMap(({ owner }) => (isOpenFor(owner) ? [] : owner))
  const others = endFor(view, parent, new Set(settled), changed)
  const drafts = [
    ...own.flatMap(({ step: taken, changes }) => receiptDrafts(taken, reply.from, changes, 'replied')),
    ...receiptDrafts('completed', reply.from, others, 'answered'),
  ]
  if (drafts.length === 0) return []
  const ended = new Set(others.map(({ owner }) => owner))
  const isOver = ({ to, kind }: NoticeItem): boolean => {
    const isRead = changed.has(to) || ended.has(to)
    if (kind === 'unread') return isRead
    if (kind === 'ack') return isRead && step !== 'shown'
    return ['answer', 'deadline', 'waiting'].includes(kind) && isRead && step !== 'shown' && !isOpenFor(to)
  }
  return [...drafts, ...withdrawFor(view, parent.id, isOver)]
}

/** Whether nobody else has to do anything once a matter has moved. */
const isForAll = ({ owner, to, each }: ReturnType<typeof movedBy>[number]): boolean =>
  !isOpenMatter(to) && !(each && isGroupBox(owner))

/** What becomes of everybody else's copies when one recipient answers with its note, or does the work of a group. */
export function settledForOthers(
  view: View,
  parent: MessageFacts,
  answers: readonly Message[],
  step: HandleStep,
  changes: readonly ReceiptChange[],
): ReceiptChange[] {
  const matters = view.matters(parent.seq).filter(({ kind }) => kind !== 'ack')
  const isDone = step === 'completed' && changes.some(({ viaGroup }) => viaGroup)
  const done = matters.filter(
    ({ owner, kind, state }) => isDone && isGroupBox(owner) && isWork(kind) && isOpenMatter(state),
  )
  const answered = answers.flatMap((answer) => movedBy(answer, matters)).filter(isForAll)
  const owners = new Set([...done, ...answered].map(({ owner }) => owner))
  return endFor(view, parent, owners, new Set(changes.map(({ owner }) => owner)))
}

/** How far a reply takes the mail that it answers. */
function stepOf(reply: Message, sender: string): HandleStep {
  if (reply.type === 'ack') return 'acked'
  return isAnswer(reply, sender) ? 'completed' : 'shown'
}

/** What the one who replies has of the message: finished, or only acknowledged while something is still open. */
function ownChanges(
  view: View,
  name: string,
  parent: MessageFacts,
  step: HandleStep,
  isOpenFor: (owner: string) => boolean,
  context: Context,
): { step: HandleStep; changes: ReceiptChange[] }[] {
  const agent = name === systemAgent ? undefined : findAgent(view.directory, name)
  if (agent === undefined) return []
  const command = (taken: HandleStep) => ({ agent: name, step: taken, id: parent.id })
  const ended = changesFor(view, agent, parent, command(step), context)
  if (step !== 'completed') return [{ step, changes: ended }]
  const asksNothing = view.matters(parent.seq).every(({ kind }) => kind === 'ack')
  const isOpen = ({ owner, viaGroup, was }: ReceiptChange) =>
    // Whoever has started on it says itself when it is done.
    (asksNothing && was === 'processing') ||
    isOpenFor(owner) ||
    (viaGroup === true && view.receipts(parent.seq).some((one) => isOpenFor(one.owner)))
  const open = new Set(ended.filter(isOpen).map(({ owner }) => owner))
  if (open.size === 0) return [{ step, changes: ended }]
  const acked = changesFor(view, agent, parent, command('acked'), context)
  return [
    { step, changes: ended.filter(({ owner }) => !open.has(owner)) },
    { step: 'acked', changes: acked.filter(({ owner }) => open.has(owner)) },
  ]
}

/**
 * Ends the copies of everybody else for whom nothing is left to do: those of these addresses, and where one of them is
 * a group, those of its members who are not at work on it.
 */
function endFor(
  view: View,
  { id, seq, rank }: MessageFacts,
  owners: ReadonlySet<string>,
  changed: ReadonlySet<string>,
): ReceiptChange[] {
  const isForGroup = [...owners].some(isGroupBox)
  return view.receipts(seq).flatMap((receipt) => {
    const { owner, box, state, attempts, failures, viaGroup } = receipt
    const isMembers = isForGroup && viaGroup && ['stored', 'notified', 'shown', 'acked'].includes(state)
    if (!(owners.has(owner) || isMembers) || changed.has(owner) || classOf(state) === 'closed') return []
    return {
      ...{ id, seq, rank, owner, box, state: 'archived' as const, was: state },
      ...(attempts > 0 ? { attempts } : {}),
      ...(failures > 0 ? { failures } : {}),
      ...(viaGroup ? { viaGroup } : {}),
    }
  })
}
