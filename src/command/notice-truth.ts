import type { NoticeItem } from '../conversation/notice.ts'
import { isOpenMatter } from '../conversation/registry.ts'
import type { View } from '../conversation/view.ts'
import { isAway } from '../model/agent.ts'
import { classOf, isAcked, isDeadLetter } from '../model/receipt.ts'

/** Whether what a notice says of a message is still so. */
export function isTrue(view: View, { id, to, kind }: NoticeItem): boolean {
  const message = view.message(id)
  const receipt = message && view.receipts(message.seq).find(({ owner }) => owner === to)
  if (message === undefined || receipt === undefined) return false
  const isUnread = classOf(receipt.state) === 'unread'
  const owed = view.matters(message.seq).filter(({ owner }) => owner === to)
  switch (kind) {
    case 'unread':
      // What expired or lost its recipient is not settled by that.
      return isUnread || isDeadLetter(receipt.state)
    case 'ack':
      return !isAcked(receipt.state) && classOf(receipt.state) !== 'closed'
    case 'answer':
      return owed.some(({ kind: what, state }) => what !== 'ack' && state === 'open')
    case 'deadline':
      return owed.some(({ state }) => state === 'open')
    case 'ended':
      // Closed without an answer, because the run that was asked is over.
      return isDeadLetter(receipt.state) || owed.some(({ state }) => state === 'closed')
    case 'undelivered':
      return isDeadLetter(receipt.state)
    case 'waiting': {
      const agent = view.directory.agents.get(to)
      return (
        agent !== undefined && isAway(agent) && (isUnread || owed.some(({ state }) => isOpenMatter(state)))
      )
    }
  }
}
