import { type NoticeItem, type NoticeKind, noticeOf } from '../conversation/notice.ts'
import { isOpenMatter } from '../conversation/registry.ts'
import type { Letter, View } from '../conversation/view.ts'
import { isAway } from '../model/agent.ts'
import type { ReceiptDraft } from '../model/entry.ts'
import { classOf, isAcked, isDeadLetter } from '../model/receipt.ts'
import { withdrawn } from './notice.ts'

/** The notices that nobody has read and that are no longer true. */
export const mootNotices = (view: View): Letter[] =>
  view.liveNotices().filter((letter) => isMoot(view, letter))

/** Whether a letter is a notice that is no longer true. */
export function isMoot(view: View, { seq }: Letter): boolean {
  const said = noticeOf(view.text(seq))
  return said !== undefined && !said.about.some((item) => isTrue(view, item))
}

/** Withdraws the unread notices that are only about a message, for reasons that a decision has just removed. */
export function withdrawFor(view: View, id: string, kinds: readonly NoticeKind[]): ReceiptDraft[] {
  const moot = view.liveNotices(id).filter(({ seq }) => {
    const said = noticeOf(view.text(seq))
    return said?.about.every((item) => item.id === id && kinds.includes(item.kind)) ?? false
  })
  return withdrawn(moot, 'settled')
}

/** Whether what a notice says of a message is still so. */
function isTrue(view: View, { id, to, kind }: NoticeItem): boolean {
  const message = view.message(id)
  const receipt = message && view.receipts(message.seq).find(({ owner }) => owner === to)
  if (message === undefined || receipt === undefined) return false
  const isUnread = classOf(receipt.state) === 'unread'
  const matters = view.matters(message.seq).filter(({ owner }) => owner === to)
  switch (kind) {
    case 'unread':
      // What expired or lost its recipient is not settled by that.
      return isUnread || isDeadLetter(receipt.state)
    case 'ack':
      return !isAcked(receipt.state) && classOf(receipt.state) !== 'closed'
    case 'answer':
    case 'deadline':
      return matters.some(({ kind: what, state }) => what !== 'ack' && state === 'open')
    case 'ended':
      return isDeadLetter(receipt.state) || classOf(receipt.state) === 'closed'
    case 'undelivered':
      return isDeadLetter(receipt.state)
    case 'waiting': {
      const agent = view.directory.agents.get(to)
      return (
        agent !== undefined && isAway(agent) && (isUnread || matters.some(({ state }) => isOpenMatter(state)))
      )
    }
  }
}
