import { MailboxError } from '../base/errors.ts'
import { escalationType } from '../conversation/escalation.ts'
import { plainThreadId } from '../conversation/fence.ts'
import { keyOf, type Matter, next, opens, stepOf } from '../conversation/matter.ts'
import { matterOf, type TakenStep, typeOf } from '../conversation/registry.ts'
import type { View } from '../conversation/view.ts'
import { isGroupBox } from '../model/address.ts'
import { type Agent, boxesOf, person, systemAgent } from '../model/agent.ts'
import type { MessageDraft } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Context } from './context.ts'
import { notice } from './notice.ts'
import { findAgent } from './roster.ts'

type Traits = Partial<Pick<Message, 'id' | 'type' | 'replyTo' | 'threadId'>>

/**
 * Whether a message can have a part in a conversation. Those that cannot are decided without a look at any
 * other message.
 */
export const isTalk = ({ id, type, replyTo, threadId }: Traits): boolean =>
  replyTo !== undefined ||
  (threadId !== undefined && threadId !== id) ||
  (type !== undefined && (typeOf(type)?.answers ?? typeOf(type)?.opens) !== undefined)

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
  // A second answer to a question is only talk.
  if (step.name === 'answer') return
  const meant = matters.filter(({ kind }) => kind === step.kind)
  // Where several were asked, what became of the others does not matter.
  const named = meant.filter(({ owner }) => owner === message.from)
  const candidates = named.length > 0 ? named : meant
  const matter = candidates.find((one) => canMove(step, one)) ?? candidates[0]
  const answered = typeOf(message.type)?.answers
  if (matter === undefined) {
    // So is what opens a matter and could continue one.
    if (answered === undefined) return
    throw new MailboxError('conflict', `message ${parent.id} is not a ${answered}`, {
      hint: `see what it is: mailbox show ${parent.id}`,
    })
  }
  if (!mayMove(view, message.from, step, matters)) {
    const who = step.by === 'asker' ? matter.asker : matters.map(({ owner }) => owner).join(', ')
    throw new MailboxError('not_permitted', `only ${who} can say this, not ${message.from}`, {
      hint: `message ${parent.id} was not sent to ${message.from}`,
    })
  }
  const { kind, state } = matter
  if (!canMove(step, matter)) {
    const now = state === 'void' ? 'over: it was withdrawn, expired or meant for an earlier run' : state
    throw new MailboxError('conflict', `the ${kind} is ${now}; it cannot be ${step.done ?? step.to}`, {
      hint: `see how it got there: mailbox thread ${parent.id}`,
    })
  }
}

/** Whether a step leads on. In a group that was asked, each member may answer, whoever was first. */
const canMove = (step: TakenStep, { kind, state, owner }: Matter): boolean =>
  (isGroupBox(owner) && step.each === true && state === step.to) || next(step, kind, state) !== undefined

/** Who owes it may settle it, and so may the person. Whoever asked may ask again. */
function mayMove(view: View, from: string, step: TakenStep, matters: readonly Matter[]): boolean {
  if (from === person || from === systemAgent) return true
  if (step.by === 'asker') return matters.some(({ asker }) => asker === from)
  const agent = findAgent(view.directory, from)
  return matters.some(({ owner }) => agent !== undefined && isMeantBy(owner, agent))
}

function isMeantBy(owner: string, agent: Agent): boolean {
  const { roles, groups } = boxesOf(agent)
  return owner === agent.name || roles.includes(owner) || groups.includes(owner)
}

/** Of some matters there is one open at a time. */
function checkOpening(view: View, message: Message): void {
  const kind = opens(message)
  if (kind === undefined || !matterOf(kind)?.isOnly) return
  const [open] = view.openMatters(kind, keyOf(message, kind)!)
  if (open === undefined) return
  throw new MailboxError('conflict', `there is an open ${kind} already: ${open.id}`, {
    hint: `wait for the answer, or withdraw it: mailbox withdraw ${open.id}`,
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
        limit: 'thread',
        hint: 'it is paused and the person was told; it goes on when the person writes into it, or begin a new thread',
      },
    )
  }
  if (length + 1 < limit) return []
  // A thread can have a name that an agent chose; we say nothing in its words.
  const thread = plainThreadId(message)
  const goOn = thread === message.threadId ? `send ... --thread ${thread}` : `reply ${thread}`
  return [
    notice(context, {
      to: [person],
      type: escalationType,
      priority: 'high',
      subject: `A thread was paused after ${limit} messages`,
      body: `Agents have answered one another ${limit} times in thread ${thread}. It is paused.\n\nRead it: mailbox thread ${thread}\nLet it go on: mailbox ${goOn}`,
      payload: { threadId: message.threadId, messages: limit },
    }),
  ]
}
