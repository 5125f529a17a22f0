import { MailboxError } from '../base/errors.ts'
import type { Report } from '../conversation/conversation.ts'
import type { View } from '../conversation/view.ts'
import type { Draft } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Context } from './context.ts'
import { decideHandle } from './handle.ts'

/** A report that work is done, or has failed, is as good as doing that with the message that asked for it. */
export function settleByReport(view: View, message: Message, report: Report, context: Context): Draft[] {
  const { from, to, body } = message
  const step = report.step === 'finish' ? 'completed' : 'failed'
  const askers = new Map(view.openMatters(report.kind, report.key).map(({ id, asker }) => [id, asker]))
  return [...askers].flatMap(([id, asker]) => {
    const command = {
      agent: from,
      step,
      id,
      ...(body === '' ? {} : { note: body.slice(0, noteAtMost) }),
    } as const
    try {
      return decideHandle(view, command, context, to.includes(asker))
    } catch (error) {
      // It is about the task of somebody else.
      if (error instanceof MailboxError) return []
      throw error
    }
  })
}

const noteAtMost = 1_000
