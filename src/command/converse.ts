import { MailboxError } from '../base/errors.ts'
import { keyOf, type Matter, next, opens, type StepName, stepOf } from '../conversation/matter.ts'
import type { View } from '../conversation/view.ts'
import { isGroupBox } from '../model/address.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { MessageDraft } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Context } from './context.ts'
import { notice } from './notice.ts'
import { findAgent } from './roster.ts'

/** Types that answer one other type. */
const answers: Partial<Record<string, string>> = {
  plan_approval: 'plan_submission',
  shutdown_response: 'shutdown_request',
  status_response: 'status_request',
}

interface Traits {
  id?: string | undefined
  type?: string | undefined
  replyTo?: string | undefined
  threadId?: string | undefined
}

/**
 * Whether a message can have a part in a conversation. Those that cannot are decided without a look at any
 * other message.
 */
export const isTalk = ({ id, type, replyTo, threadId }: Traits): boolean =>
  replyTo !== undefined ||
  (threadId !== undefined && threadId !== id) ||
  (type !== undefined && (type in answers || opens({ type, awaitingResponse: false }) !== undefined))

/** Holds a message to the conversation it belongs to: every step from a state that has no such step is refused. */
export function checkTalk(view: View, message: Message): void {
  checkAnswer(view, message)
  checkOpening(view, message)
}

function checkAnswer(view: View, message: Message): void {
  const step = stepOf(message)
  if (step === undefined) return
  const parent = message.replyTo === undefined ? undefined : view.message(message.replyTo)
  // Whatever its type, what answers nothing is only talk.
  if (parent === undefined) return
  const matters = view.matters(parent.seq)
  const kind = matters.find((matter) => matter.kind !== 'ack')?.kind
  // A second answer to a question is talk; the same with what was said to a plan.
  if (step === 'answer' || (step === 'revise' && kind !== 'plan')) return
  const meant = matters.filter(({ kind: of }) => of === stepKind[step])
  const matter = meant.find(({ owner }) => owner === message.from) ?? meant[0]
  if (matter === undefined) {
    throw new MailboxError(
      'conflict',
      `message ${parent.id} is no ${answers[message.type] ?? 'plan_submission'}`,
      {
        hint: `see what it is: mailbox show ${parent.id}`,
      },
    )
  }
  if (!mayMove(view, message.from, step, matters)) {
    const who = step === 'revise' ? matter.asker : matters.map(({ owner }) => owner).join(', ')
    throw new MailboxError('not_permitted', `this is for ${who} to say, not for ${message.from}`, {
      hint: `message ${parent.id} was not sent to ${message.from}`,
    })
  }
  // What a group was asked each of its members may say, whoever was first.
  if (isGroupBox(matter.owner) && step === 'respond' && matter.state === 'answered') return
  if (next(step, matter.kind, matter.state) === undefined) {
    throw new MailboxError(
      'conflict',
      `the ${matter.kind} is ${words[matter.state] ?? matter.state}; it cannot be ${done[step]}`,
      {
        hint: `see how it got there: mailbox thread ${parent.id}`,
      },
    )
  }
}

const stepKind = {
  respond: 'status',
  approve: 'plan',
  reject: 'plan',
  revise: 'plan',
  accept: 'shutdown',
  defer: 'shutdown',
} as Record<StepName, Matter['kind']>
const done: Record<StepName, string> = {
  ...{ answer: 'answered', respond: 'answered', approve: 'approved', reject: 'rejected', revise: 'revised' },
  ...{ accept: 'accepted', defer: 'deferred', finish: 'finished', fail: 'failed' },
}
const words: Partial<Record<Matter['state'], string>> = {
  void: 'over: it was withdrawn, expired or meant for an earlier run',
}

/** Who owes it may settle it, and so may the person. Whoever asked may ask again. */
function mayMove(view: View, from: string, step: StepName, matters: readonly Matter[]): boolean {
  if (from === person || from === systemAgent) return true
  if (step === 'revise') return matters.some(({ asker }) => asker === from)
  const agent = findAgent(view.directory, from)
  return matters.some(({ owner }) => agent !== undefined && isMeantBy(owner, agent))
}

const isMeantBy = (owner: string, { name, roles, tags }: Agent): boolean =>
  owner === name ||
  owner === 'all' ||
  roles.some((role) => owner === `role:${role}`) ||
  (isGroupBox(owner) && tags.includes(owner))

/** An agent has one open plan for a task at a time. */
function checkOpening(view: View, message: Message): void {
  if (opens(message) !== 'plan') return
  const open = view.openMatter('plan', keyOf(message, 'plan')!)
  if (open === undefined) return
  throw new MailboxError('conflict', `there is an open plan already: ${open.id}`, {
    hint: `wait for the answer, or take it back: mailbox withdraw ${open.id}`,
  })
}

/**
 * Agents that answer one another without end are stopped: from the limit on nothing but a word of the person
 * goes on. The last message that goes through brings the person a notice.
 */
export function guardLoop(view: View, message: Message, context: Context): MessageDraft[] {
  const limit = context.policy['limits.threadMessages']
  const isThread = message.threadId !== message.id
  if (limit === 0 || !isThread || message.from === person || message.from === systemAgent) return []
  const length = view.threadLength(message.threadId, limit)
  if (length >= limit) {
    throw new MailboxError(
      'over_limit',
      `the thread has ${length} messages without a word of the person (limits.threadMessages)`,
      {
        hint: 'it is paused and the person was told; it goes on when the person writes into it, or begin a new thread',
      },
    )
  }
  if (length + 1 < limit) return []
  return [
    notice(context, {
      to: [person],
      type: 'escalation',
      priority: 'high',
      subject: `Paused after ${limit} messages: ${message.subject || '(no subject)'}`,
      body: `Agents have answered one another ${limit} times in thread ${message.threadId}. It is paused.\n\nRead it: mailbox thread ${message.threadId}\nLet it go on: mailbox send ... --thread ${message.threadId}`,
      payload: { threadId: message.threadId, messages: limit },
    }),
  ]
}
