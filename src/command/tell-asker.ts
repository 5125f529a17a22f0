import { given } from '../base/objects.ts'
import { fieldsOf } from '../conversation/field.ts'
import type { Matter } from '../conversation/matter.ts'
import { isOpenMatter, isWork, matterOf } from '../conversation/registry.ts'
import { closed, statusUpdate } from '../conversation/status.ts'
import type { View } from '../conversation/view.ts'
import { isGroupBox } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import type { MessageDraft } from '../model/entry.ts'
import type { MessageFacts } from '../model/reach.ts'
import type { ReceiptChange } from '../model/receipt.ts'
import type { Context } from './context.ts'
import type { HandleCommand } from './ladder.ts'
import { notice } from './notice.ts'

/**
 * Whoever asked is told once what became of it: an answer or a verdict says it by itself; otherwise whoever is done
 * with the message, or has failed, says so with its note. A reply to work may say anything, also that it has only
 * begun, so the end of work is always told. Nobody is told of what it did itself.
 */
export function tellAsker(
  view: View,
  message: MessageFacts,
  changes: readonly ReceiptChange[],
  command: HandleCommand,
  context: Context,
): MessageDraft[] {
  const { agent, step, note } = command
  const outcome = outcomes[step as keyof typeof outcomes]
  const ended = changes.filter(({ state }) => state !== 'dead')
  if (outcome === undefined || ended.length === 0) return []
  const matter = view.matters(message.seq).find((one) => isSettled(one, ended, command))
  if (matter === undefined || matter.asker === agent || matter.asker === systemAgent) return []
  const about = view.text(message.seq)
  const isTask = isWork(matter.kind)
  const mayBeSaid = step === 'completed' && note === undefined && !isTask
  if (mayBeSaid && hasReplied(view, agent, about, matter.asker)) return []
  const status = isTask ? outcome.work : closed
  const subject = about.subject || '(no subject)'
  if (isAnswered(matter, command))
    return [
      notice(context, {
        ...{ from: agent, to: [matter.asker], type: 'response', about, body: note ?? '' },
        subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
      }),
    ]
  const { taskId } = fieldsOf(about.payload)
  return [
    notice(context, {
      ...{ from: agent, to: [matter.asker], type: statusUpdate, about, body: note ?? '' },
      subject: `${outcome.says(isTask)}: ${subject}`,
      priority: status === 'failed' ? 'high' : 'normal',
      payload: {
        status,
        ...given({ taskId: typeof taskId === 'string' ? taskId : undefined }),
        about: about.id,
      },
    }),
  ]
}

/** What each step comes to for work, and what the subject says. */
const outcomes = {
  completed: { work: 'completed', says: (isTask: boolean) => (isTask ? 'Done' : 'Closed without an answer') },
  failed: { work: 'failed', says: () => 'Failed' },
  archived: { work: 'failed', says: (isTask: boolean) => (isTask ? 'Not done' : 'Closed without an answer') },
} as const

/** Whether a note is the answer that was asked for. */
const isAnswered = ({ kind }: Matter, { step, note }: HandleCommand): boolean =>
  step === 'completed' && note !== undefined && matterOf(kind)?.byReply !== undefined

/**
 * Whether a step of one recipient says something of a matter. Of what a group was asked it does if the step is an
 * answer, or the work was done or has failed; that one member puts it away is not worth a word.
 */
function isSettled(matter: Matter, changes: readonly ReceiptChange[], command: HandleCommand): boolean {
  const { kind, owner, state } = matter
  if (kind === 'ack' || !isOpenMatter(state)) return false
  const isGroups =
    isGroupBox(owner) && (isAnswered(matter, command) || (isWork(kind) && command.step !== 'archived'))
  return changes.some((change) => change.owner === owner || (isGroups && change.viaGroup === true))
}

/** Whether an agent has written to the asker in the thread since it was asked. */
function hasReplied(
  view: View,
  agent: string,
  about: { id: string; threadId: string },
  asker: string,
): boolean {
  const last = view.lastOf(agent, about.threadId)
  const asked = view.message(about.id)
  const said = last === undefined ? undefined : view.message(last)
  return (
    said !== undefined &&
    asked !== undefined &&
    said.seq > asked.seq &&
    view.text(said.seq).to.includes(asker)
  )
}
