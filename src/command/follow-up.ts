import { movedBy, reportOf } from '../conversation/matter.ts'
import type { View } from '../conversation/view.ts'
import type { Draft } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Context } from './context.ts'
import { checkTalk, guardLoop, isTalk } from './conversation-check.ts'
import { settleByReport } from './report.ts'
import { settleByReply } from './settle.ts'

/** What a message does besides being there: what it reports or answers is settled. It must have a part in its conversation. */
export function followUp(
  view: View,
  message: Message,
  context: Context,
): { drafts: Draft[]; isAwaited: boolean } {
  const report = reportOf(message)
  const reported = report === undefined ? [] : settleByReport(view, message, report, context)
  const drafts = [...reported]
  let isAwaited = reported.length > 0
  if (isTalk(message)) {
    checkTalk(view, message)
    drafts.push(...guardLoop(view, message, context))
    const parent = message.replyTo === undefined ? undefined : view.message(message.replyTo)
    if (parent !== undefined) {
      // A report on the very message that it replies to has settled it.
      if (!changes(reported, parent.seq)) drafts.push(...settleByReply(view, message, parent, context))
      isAwaited ||= movedBy(message, view.matters(parent.seq)).length > 0
    }
  }
  return { drafts, isAwaited }
}

/** Whether drafts change a receipt of a message. */
export const changes = (drafts: readonly Draft[], seq: number): boolean =>
  drafts.some((draft) => draft.kind === 'receipt' && draft.changes.some((change) => change.seq === seq))
