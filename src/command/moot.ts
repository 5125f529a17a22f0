import { type NoticeItem, noticeOf } from '../conversation/notice.ts'
import type { Letter, View } from '../conversation/view.ts'
import type { ReceiptDraft } from '../model/entry.ts'
import { withdrawn } from './notice.ts'
import { isTrue } from './notice-truth.ts'

/** The notices that nobody has read and that are no longer true. */
export const mootNotices = (view: View): Letter[] =>
  view.liveNotices().filter((letter) => isMoot(view, letter))

/** Whether a letter is a notice that is no longer true. */
export function isMoot(view: View, { seq }: Letter): boolean {
  const said = noticeOf(view.text(seq))
  return said !== undefined && !said.about.some((item) => isTrue(view, item))
}

/** Withdraws the unread notices that are only about a message, and say nothing that is still so after a decision. */
export function withdrawFor(view: View, id: string, isOver: (item: NoticeItem) => boolean): ReceiptDraft[] {
  const moot = view.liveNotices(id).filter(({ seq }) => {
    const said = noticeOf(view.text(seq))
    return said?.about.every((item) => item.id === id && isOver(item)) ?? false
  })
  return withdrawn(moot, 'settled')
}
