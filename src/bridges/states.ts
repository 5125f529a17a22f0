import { MailboxError } from '../base/errors.ts'
import type { ReceiptState, ReceiptView } from '../model/receipt.ts'
import type { BridgedMailbox } from '../space/bridged.ts'
import { type CopyState, type Link, rankOf } from './format.ts'
import { readNote } from './memory.ts'
import type { Parts } from './parts.ts'

const ofReceipt: Record<ReceiptState, CopyState> = {
  stored: 'unread',
  notified: 'unread',
  shown: 'read',
  acked: 'acked',
  processing: 'processing',
  failed: 'failed',
  completed: 'done',
  archived: 'archived',
  expired: 'expired',
  dead: 'expired',
  withdrawn: 'withdrawn',
}

function stateOf({ state, steps }: ReceiptView): CopyState {
  const isFiled = state === 'archived' && steps.some((step) => step.state === 'completed')
  return isFiled ? 'filed' : ofReceipt[state]
}

interface Here {
  state: CopyState
  /** When it was reached. */
  at: string
  /** Whoever has taken mail to a role. */
  by?: string | undefined
}

/** How far a copy is here. Group mail has no receipt before somebody has seen it. */
async function stateHere({ space }: Parts, { id, owner }: Link): Promise<Here | undefined> {
  try {
    const { message, receipts } = await space.show(id)
    const receipt = receipts.find(({ recipient }) => recipient === owner)
    if (receipt === undefined) return { state: 'unread', at: message.createdAt }
    const at = receipt.steps.at(-1)?.at ?? message.createdAt
    return { state: stateOf(receipt), at, by: receipt.claimedBy }
  } catch (error) {
    // Removed by the retention of the space.
    if (error instanceof MailboxError && error.code === 'not_found') return undefined
    throw error
  }
}

/** The other side has a copy in this state. Whoever has gone further since they last agreed leads the other on. */
export async function settleTheirs(
  parts: Parts,
  link: Link,
  theirs: CopyState,
  reason = `failed in ${parts.format.name}`,
): Promise<void> {
  const { format, memory, direction } = parts
  if (theirs === link.state) return
  const here = await stateHere(parts, link)
  if (here === undefined) return
  const ours = format.project(here.state)
  const isRetried = theirs === 'unread' && here.state === 'failed'
  if (theirs === ours) memory.setLink({ ...link, state: theirs })
  else if (rankOf(theirs) > rankOf(ours) || isRetried) {
    if (direction !== 'out') await takeOver(parts, link, theirs, reason)
  } else if (direction !== 'in') {
    // A writer that knew less has written an older state over a newer one.
    writeState(parts, { ...link, state: theirs }, ours, here)
  }
}

/** A copy has changed here. */
export async function settleOurs(parts: Parts, link: Link): Promise<void> {
  if (parts.direction === 'in') return
  const here = await stateHere(parts, link)
  if (here === undefined) return
  const ours = parts.format.project(here.state)
  if (ours !== link.state) writeState(parts, link, ours, here)
}

function writeState(parts: Parts, link: Link, to: CopyState, { at, by = link.owner }: Here): void {
  const { format, folder, memory, tally, dry } = parts
  if (dry) return void tally.statesOut++
  const state = format.setState(folder, { ...link, owner: by }, to, at)
  if (format.summarize === undefined) memory.setLink({ ...link, state })
  else {
    // A run that is killed before the summary leaves it to the next.
    memory.together(() => {
      memory.setLink({ ...link, state })
      memory.setNote(readNote(by), at)
    })
    format.summarize(folder, by, memory.unreadOf(link.owner), at)
    memory.forgetNote(readNote(by))
  }
  tally.statesOut++
}

/** Does here, as its owner, what was done there. */
async function takeOver(parts: Parts, link: Link, state: CopyState, reason: string): Promise<void> {
  const { space, memory, tally, dry } = parts
  if (dry) return void tally.statesIn++
  try {
    await step(space.mailboxInside(link.owner), link.id, state, reason)
  } catch (error) {
    // It was withdrawn, has expired, or somebody else has it: what is here stays as it is.
    if (!(error instanceof MailboxError) || !['conflict', 'not_permitted', 'not_found'].includes(error.code))
      throw error
  }
  memory.setLink({ ...link, state })
  tally.statesIn++
}

async function step(mailbox: BridgedMailbox, id: string, state: CopyState, reason: string): Promise<unknown> {
  switch (state) {
    case 'unread':
      return mailbox.retry(id)
    case 'read':
      return mailbox.take(id)
    case 'acked':
      return mailbox.ack(id)
    case 'processing':
      return mailbox.start(id)
    case 'failed':
      return mailbox.fail(id, { reason })
    case 'done':
      return mailbox.done(id, { archive: false })
    case 'filed':
      return mailbox.done(id)
    case 'archived':
      return mailbox.archive(id)
    case 'expired':
    case 'withdrawn':
    case 'dead':
      // Each side has its own clock and its own senders.
      return undefined
  }
}
